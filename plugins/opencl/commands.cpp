// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands on buffers. They work on the roots: a view adds its offset.
#include "commands.hpp"
#include "entries.hpp"
#include "migrate.hpp"
#include "rectangle_copy.hpp"

namespace pi::opencl {

using namespace sdk;

namespace {

// ----- read and write ----------------------------------------------------------------------------

class ReadCommand final : public VendorCommand {
public:
    ReadCommand(const Target &target, Mem &mem, void *host, Regions &&regions)
        : VendorCommand(target.queue), mem_(target, mem), host_(static_cast<std::byte *>(host)),
          regions_(std::move(regions)) {}

private:
    void issue(Submission &submission) override {
        for (const pi_region &region : regions_) {
            const auto [from, to] = rectangles(region, mem_->offset(), 0);
            read(submission, {mem_->root().id(), from}, {host_, to}, regions_.size() == 1);
        }
    }

    const CommandRef<Mem> mem_;
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
        for (const pi_region &region : regions_) {
            const auto [from, to] = rectangles(region, 0, mem_->offset());
            write(submission, {host_, from}, {mem_->root().id(), to}, regions_.size() == 1);
        }
    }

    const CommandRef<Mem> mem_;
    const std::byte *const host_;
    const Regions regions_;
};

// ----- copy --------------------------------------------------------------------------------------

class CopyCommand final : public VendorCommand {
public:
    CopyCommand(const Target &target, Mem &src, Mem &dst, Regions &&regions)
        : VendorCommand(target.queue), src_(target, src), dst_(target, dst),
          regions_(std::move(regions)) {}

private:
    void issue(Submission &submission) override {
        for (const pi_region &region : regions_) {
            const auto [from, to] = rectangles(region, src_->offset(), dst_->offset());
            copies_.copy(submission, {src_->root().id(), from}, {dst_->root().id(), to});
        }
    }

    const CommandRef<Mem> src_, dst_;
    const Regions regions_;
    BufferCopies copies_;
};

// ----- fill --------------------------------------------------------------------------------------

/// The vendor fills ranges that begin at a multiple of the pattern. Other ranges are copied from a
/// buffer full of the pattern.
class FillCommand final : public VendorCommand {
public:
    FillCommand(Queue &queue, Mem &mem, std::vector<std::byte> pattern, Rectangle bytes)
        : VendorCommand(queue), mem_(mem), pattern_(std::move(pattern)), bytes_(bytes) {
        bytes_.offset += mem.offset();
    }

private:
    void issue(Submission &submission) override {
        const cl_mem buffer = mem_->root().id();
        if (bytes_.dense() && bytes_.offset % pattern_.size() == 0)
            return fill(submission, buffer, bytes_.offset, bytes_.bytes());
        const BufferCopies::Staging strip = copies_.staging(queue(), bytes_.bytes());
        fill(submission, strip.mem, 0, strip.size);
        submission.order();
        for_each_part(bytes_, bytes_, {strip.size, strip.size, true, true},
                      [&](const Rectangle &part, const Rectangle &) {
                          copies_.copy(submission, {strip.mem, packed(part)}, {buffer, part});
                      });
    }
    void fill(Submission &submission, cl_mem buffer, uint64_t offset, uint64_t size) {
        submission.add("clEnqueueFillBuffer", queue().api().clEnqueueFillBuffer, buffer,
                       pattern_.data(), pattern_.size(), offset, size);
    }

    const Ref<Mem> mem_;
    const std::vector<std::byte> pattern_;
    Rectangle bytes_;
    BufferCopies copies_;
};

} // namespace

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

// ----- also for views as images ------------------------------------------------------------------

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

// ----- entry points ------------------------------------------------------------------------------

namespace entries {

pi_result PI_CALL piEnqueueMemBufferRead(pi_queue queue, const pi_buffer_read_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_READ_DESC);
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
        Mem &mem = checked_buffer(self.context(), known.mem, "mem");
        auto pattern = read_pattern(known.pattern, known.pattern_size, known.offset, known.size);
        check_range(known.offset, known.size, mem.size(), "mem");
        enqueue_fill(self, {known.flags, known.type, wait_count, wait_list, out_event}, mem,
                     std::move(pattern), {known.offset, known.size, 1, 1, known.size, known.size});
    });
}

} // namespace entries
} // namespace pi::opencl
