// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands on buffers. They all work on the roots: views only add their offset.
#include "commands.hpp"
#include "entries.hpp"
#include "migrate.hpp"
#include "submission.hpp"

#include <pi/sdk/region.hpp>

namespace pi::opencl {

using namespace sdk;

namespace {

using Triple = std::array<size_t, 3>;

/// One end of a rectangle in the vendor's terms.
struct VendorEnd {
    Triple origin{};
    size_t row_pitch = 0, slice_pitch = 0;
};

VendorEnd vendor_end(const Rectangle &r) {
    if (r.slices == 1)
        return {
            {r.offset % r.row_pitch, r.offset / r.row_pitch, 0}, r.row_pitch, r.row_pitch * r.rows};
    const uint64_t in_slice = r.offset % r.slice_pitch;
    return {{in_slice % r.row_pitch, in_slice / r.row_pitch, r.offset / r.slice_pitch},
            r.row_pitch,
            r.slice_pitch};
}

/// A host end: the pointer takes the offset.
VendorEnd host_end(Rectangle r) {
    r.offset = 0;
    return vendor_end(r);
}

/// Splits a region into what the vendor has calls for: linear(src, dst, bytes) and rect(src, dst). Both ends are moved
/// by where they begin in the vendor's memory.
template <class Linear, class Rect>
void split(const pi_region &region, uint64_t src_begin, uint64_t dst_begin, Linear &&linear,
           Rect &&rect) {
    if (is_row(region))
        return linear(src_begin + region.src_offset, dst_begin + region.dst_offset,
                      region.extent[0]);
    Rectangle from = source(region), to = destination(region);
    from.offset += src_begin;
    to.offset += dst_begin;
    if (from.dense() && to.dense())
        return linear(from.offset, to.offset, from.bytes());
    if (from.rows == 1) { // slices of one row each are rows
        for (Rectangle *end : {&from, &to}) {
            end->rows = std::exchange(end->slices, 1);
            end->row_pitch = end->slice_pitch;
        }
    }
    if (from.slices == 1 ||
        (from.slice_pitch % from.row_pitch == 0 && to.slice_pitch % to.row_pitch == 0))
        return rect(from, to);
    // The vendor only knows slices of whole rows.
    for (uint64_t slices = from.slices; slices; --slices) {
        from.slices = to.slices = 1;
        rect(from, to);
        from.offset += from.slice_pitch;
        to.offset += to.slice_pitch;
    }
}

// ----- read and write -----------------------------------------------------------------------------

class ReadCommand final : public VendorCommand {
public:
    ReadCommand(const Target &target, Mem &mem, void *host, Regions &&regions)
        : VendorCommand(target.queue), mem_(target, mem), host_(static_cast<std::byte *>(host)),
          regions_(std::move(regions)) {}

private:
    void issue(Submission &submission) override {
        const Api &cl = queue().api();
        const cl_mem buffer = mem_->root().id();
        for (const pi_region &region : regions_) {
            split(
                region, mem_->offset(), 0,
                [&](size_t from, size_t to, size_t bytes) {
                    submission.add("clEnqueueReadBuffer", cl.clEnqueueReadBuffer, buffer, CL_FALSE,
                                   from, bytes, host_ + to);
                },
                [&](const Rectangle &from, const Rectangle &to) {
                    const VendorEnd src = vendor_end(from), dst = host_end(to);
                    const Triple extent{from.row, from.rows, from.slices};
                    submission.add("clEnqueueReadBufferRect", cl.clEnqueueReadBufferRect, buffer,
                                   CL_FALSE, src.origin.data(), dst.origin.data(), extent.data(),
                                   src.row_pitch, src.slice_pitch, dst.row_pitch, dst.slice_pitch,
                                   host_ + to.offset);
                });
        }
    }

    const Held<Mem> mem_;
    std::byte *const host_;
    const Regions regions_;
};

class WriteCommand final : public VendorCommand {
public:
    WriteCommand(const Target &target, Mem &mem, const void *host, Regions &&regions)
        : VendorCommand(target.queue), mem_(target, mem),
          host_(static_cast<const std::byte *>(host)), regions_(std::move(regions)) {}

private:
    void issue(Submission &submission) override {
        const Api &cl = queue().api();
        const cl_mem buffer = mem_->root().id();
        for (const pi_region &region : regions_) {
            split(
                region, 0, mem_->offset(),
                [&](size_t from, size_t to, size_t bytes) {
                    submission.add("clEnqueueWriteBuffer", cl.clEnqueueWriteBuffer, buffer,
                                   CL_FALSE, to, bytes, host_ + from);
                },
                [&](const Rectangle &from, const Rectangle &to) {
                    const VendorEnd src = host_end(from), dst = vendor_end(to);
                    const Triple extent{from.row, from.rows, from.slices};
                    submission.add("clEnqueueWriteBufferRect", cl.clEnqueueWriteBufferRect, buffer,
                                   CL_FALSE, dst.origin.data(), src.origin.data(), extent.data(),
                                   dst.row_pitch, dst.slice_pitch, src.row_pitch, src.slice_pitch,
                                   host_ + from.offset);
                });
        }
    }

    const Held<Mem> mem_;
    const std::byte *const host_;
    const Regions regions_;
};

// ----- copy ---------------------------------------------------------------------------------------

class CopyCommand final : public VendorCommand {
public:
    CopyCommand(const Target &target, Mem &src, Mem &dst, Regions &&regions)
        : VendorCommand(target.queue), src_(target, src), dst_(target, dst),
          regions_(std::move(regions)) {}

private:
    void issue(Submission &submission) override {
        for (const pi_region &region : regions_) {
            // Inside one buffer the vendor's rectangles know only equal pitches and an overlap check that is coarser
            // than ours.
            if (&src_->root() == &dst_->root())
                for_each_piece(region, [&](size_t from, size_t to, size_t bytes) {
                    linear(submission, src_->offset() + from, dst_->offset() + to, bytes);
                });
            else
                split(
                    region, src_->offset(), dst_->offset(),
                    [&](size_t from, size_t to, size_t bytes) {
                        linear(submission, from, to, bytes);
                    },
                    [&](const Rectangle &from, const Rectangle &to) {
                        rect(submission, from, to);
                    });
        }
    }
    void linear(Submission &submission, size_t from, size_t to, size_t bytes) {
        submission.add("clEnqueueCopyBuffer", queue().api().clEnqueueCopyBuffer, src_->root().id(),
                       dst_->root().id(), from, to, bytes);
    }
    void rect(Submission &submission, const Rectangle &from, const Rectangle &to) {
        const VendorEnd src = vendor_end(from), dst = vendor_end(to);
        const Triple extent{from.row, from.rows, from.slices};
        submission.add("clEnqueueCopyBufferRect", queue().api().clEnqueueCopyBufferRect,
                       src_->root().id(), dst_->root().id(), src.origin.data(), dst.origin.data(),
                       extent.data(), src.row_pitch, src.slice_pitch, dst.row_pitch,
                       dst.slice_pitch);
    }

    const Held<Mem> src_, dst_;
    const Regions regions_;
};

// ----- fill ---------------------------------------------------------------------------------------

class FillCommand final : public VendorCommand {
public:
    FillCommand(Queue &queue, Mem &mem, std::vector<std::byte> pattern, Rectangle bytes)
        : VendorCommand(queue), mem_(mem), pattern_(std::move(pattern)), bytes_(bytes) {
        bytes_.offset += mem.offset();
        if (bytes_.dense())
            bytes_ = {bytes_.offset, bytes_.bytes(), 1, 1, bytes_.bytes(), bytes_.bytes()};
        if (bytes_.offset % pattern_.size())
            expand();
    }

private:
    /// A view may begin where the vendor's fill cannot: the bytes are written then.
    void expand() {
        const uint64_t most = std::max<uint64_t>(pattern_.size(), 1 << 20);
        std::vector<std::byte> block(std::min(bytes_.row, most));
        fill_bytes(block.data(), block.size(), pattern_);
        block_ = std::move(block);
    }

    void issue(Submission &submission) override {
        for (uint64_t row = 0; row < bytes_.rows * bytes_.slices; ++row)
            fill(submission, bytes_.row_offset(row));
    }
    void fill(Submission &submission, uint64_t offset) {
        const Api &cl = queue().api();
        const cl_mem buffer = mem_->root().id();
        if (block_.empty())
            return submission.add("clEnqueueFillBuffer", cl.clEnqueueFillBuffer, buffer,
                                  pattern_.data(), pattern_.size(), offset, bytes_.row);
        for (uint64_t done = 0; done < bytes_.row; done += block_.size())
            submission.add("clEnqueueWriteBuffer", cl.clEnqueueWriteBuffer, buffer, CL_FALSE,
                           offset + done, std::min<uint64_t>(bytes_.row - done, block_.size()),
                           block_.data());
    }

    const Ref<Mem> mem_;
    const std::vector<std::byte> pattern_;
    std::vector<std::byte> block_;
    Rectangle bytes_;
};

/// PI_ERROR_MEM_COPY_OVERLAP if a region's ends share a byte of one storage.
void check_overlap(Mem &src, Mem &dst, std::span<const pi_region> regions) {
    if (!src.may_share_storage(dst))
        return;
    for (const pi_region &region : regions) {
        Rectangle from = source(region), to = destination(region);
        from.offset += src.storage_begin() + src.offset();
        to.offset += dst.storage_begin() + dst.offset();
        if (overlap(from, to))
            fail(PI_ERROR_MEM_COPY_OVERLAP, "a region's source (bytes ", region.src_offset,
                 " on) overlaps its destination (bytes ", region.dst_offset,
                 " on): src and dst share their storage");
    }
}

} // namespace

// ----- also for views as images ------------------------------------------------------------------------

void enqueue_read(Queue &queue, const EnqueueArguments &arguments, Mem &mem, void *host,
                  Regions &&regions) {
    enqueue_vendor<ReadCommand>(queue, arguments, mem, host, std::move(regions));
}
void enqueue_write(Queue &queue, const EnqueueArguments &arguments, Mem &mem, const void *host,
                   Regions &&regions) {
    enqueue_vendor<WriteCommand>(queue, arguments, mem, host, std::move(regions));
}
void enqueue_copy(Queue &queue, const EnqueueArguments &arguments, Mem &src, Mem &dst,
                  Regions &&regions) {
    enqueue_vendor<CopyCommand>(queue, arguments, src, dst, std::move(regions));
}
void enqueue_fill(Queue &queue, const EnqueueArguments &arguments, Mem &mem,
                  std::vector<std::byte> pattern, const Rectangle &bytes) {
    enqueue_vendor<FillCommand>(queue, arguments, mem, std::move(pattern), bytes);
}

// ----- entry points -------------------------------------------------------------------------------

namespace entries {

pi_result PI_CALL piEnqueueMemBufferRead(pi_queue queue, const pi_buffer_read_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_READ_DESC);
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        Mem &mem = checked_buffer(self.context(), known.mem, "mem");
        require(known.host_ptr, "host_ptr");
        auto regions = read_regions(known.region_count, known.regions, mem.size(), std::nullopt);
        enqueue_read(self, {known.flags, known.type, wait_count, wait_list, out_event}, mem,
                     known.host_ptr, std::move(regions));
    });
}

pi_result PI_CALL piEnqueueMemBufferWrite(pi_queue queue, const pi_buffer_write_desc *desc,
                                          uint32_t wait_count, const pi_event *wait_list,
                                          pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_WRITE_DESC);
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        Mem &mem = checked_buffer(self.context(), known.mem, "mem");
        require(known.host_ptr, "host_ptr");
        auto regions = read_regions(known.region_count, known.regions, std::nullopt, mem.size());
        enqueue_write(self, {known.flags, known.type, wait_count, wait_list, out_event}, mem,
                      known.host_ptr, std::move(regions));
    });
}

pi_result PI_CALL piEnqueueMemBufferCopy(pi_queue queue, const pi_buffer_copy_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_COPY_DESC);
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        Mem &src = checked<Mem>(self.host(), known.src, "src");
        Mem &dst = checked<Mem>(self.host(), known.dst, "dst");
        require_buffer(src, "src");
        require_buffer(dst, "dst");
        const bool migrates = &src.context() != &dst.context();
        if (migrates) {
            check_migration(self, src, dst);
        } else {
            checked_buffer(self.context(), known.src, "src");
        }
        auto regions = read_regions(known.region_count, known.regions, src.size(), dst.size());
        check_overlap(src, dst, regions);
        const EnqueueArguments arguments{known.flags, known.type, wait_count, wait_list, out_event};
        if (migrates)
            enqueue_own(self, arguments, make_migration(src, dst, std::move(regions)));
        else
            enqueue_copy(self, arguments, src, dst, std::move(regions));
    });
}

pi_result PI_CALL piEnqueueMemBufferFill(pi_queue queue, const pi_buffer_fill_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_FILL_DESC);
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        Mem &mem = checked_buffer(self.context(), known.mem, "mem");
        auto pattern = read_pattern(known.pattern, known.pattern_size, known.offset, known.size);
        check_range(known.offset, known.size, mem.size(), "mem");
        enqueue_fill(self, {known.flags, known.type, wait_count, wait_list, out_event}, mem,
                     std::move(pattern), {known.offset, known.size, 1, 1, known.size, known.size});
    });
}

} // namespace entries
} // namespace pi::opencl
