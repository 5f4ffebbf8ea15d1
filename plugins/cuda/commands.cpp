// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads, writes, copies and fills of buffers.
#include "commands.hpp"
#include "entries.hpp"
#include "memory.hpp"
#include "pageable.hpp"
#include "submission.hpp"

#include <cstring>
#include <optional>

namespace pi::cuda {

using namespace sdk;

End end_of(Mem &mem) {
    return {mem.address(), mem.in_host() ? nullptr : &mem.primary(), mem.host_pointer(),
            mem.array(), mem.granted_apart()};
}

namespace {

/// A copy in a stream: between device memory and pinned memory only.
class CopyCommand final : public PlainCommand {
public:
    CopyCommand(const Target &target, Mem &src, Mem &dst, Regions &&regions)
        : PlainCommand(target.queue), src_(target, src), dst_(target, dst),
          regions_(std::move(regions)) {}

private:
    void issue(Submission &submission) override {
        copy_regions(submission, end_of(*src_), end_of(*dst_), regions_);
    }
    const CommandRef<Mem> src_, dst_;
    const Regions regions_;
};

/// A read or write of pinned memory.
class PinnedCommand final : public PlainCommand {
public:
    PinnedCommand(const Target &target, Direction direction, Mem &mem, std::byte *host,
                  Regions &&regions)
        : PlainCommand(target.queue), direction_(direction), mem_(target, mem), host_(host),
          regions_(std::move(regions)) {}

private:
    void issue(Submission &submission) override {
        const End there = end_of(*mem_);
        const End here{reinterpret_cast<CUdeviceptr>(host_), nullptr, host_};
        if (direction_ == Direction::TO_DEVICE)
            copy_regions(submission, here, there, regions_);
        else
            copy_regions(submission, there, here, regions_);
    }
    const Direction direction_;
    const CommandRef<Mem> mem_;
    std::byte *const host_;
    const Regions regions_;
};

/// A small blocking read or write, through the plugin's own pinned memory.
class StagedCommand final : public StreamCommand {
public:
    static constexpr uint64_t most = uint64_t{64} << 10;
    /// Copying this many bytes costs less than asking the driver whether they are pinned.
    static constexpr uint64_t unasked = uint64_t{4} << 10;

    StagedCommand(const Target &target, Direction direction, Mem &mem, std::byte *host,
                  const pi_region &region)
        : StreamCommand(target.queue), to_device_(direction == Direction::TO_DEVICE),
          mem_(target, mem), host_(host + (to_device_ ? region.src_offset : region.dst_offset)),
          address_(mem.address() + (to_device_ ? region.dst_offset : region.src_offset)),
          size_(region.extent[0]), staging_(target.queue.primary(), size_) {
        if (to_device_)
            std::memcpy(staging_.begin(), host_, size_);
    }

private:
    void issue(Submission &submission) override {
        const auto staging = reinterpret_cast<CUdeviceptr>(staging_.begin());
        submission.add(submission.api().cuMemcpyAsync(to_device_ ? address_ : staging,
                                                      to_device_ ? staging : address_, size_,
                                                      submission.stream()),
                       "cuMemcpyAsync", size_, " bytes");
    }
    void completed() override {
        if (!to_device_)
            std::memcpy(host_, staging_.begin(), size_);
    }
    const bool to_device_;
    const CommandRef<Mem> mem_;
    std::byte *const host_;
    const CUdeviceptr address_;
    const uint64_t size_;
    const Staging staging_;
};

/// Uses the driver's fills. Each row holds a whole number of the pattern's periods.
class FillCommand final : public PlainCommand {
public:
    FillCommand(const Target &target, Mem &mem, std::vector<std::byte> pattern, uint64_t offset,
                uint64_t size)
        : PlainCommand(target.queue), mem_(target, mem), pattern_(std::move(pattern)),
          offset_(offset), size_(size) {}

private:
    void issue(Submission &submission) override {
        const LogicalRange range = mem_->range();
        for (const pi_region &part :
             physical_regions(range_regions(offset_, offset_, size_), range, range))
            fill(submission, mem_->address(), destination(part), pattern_);
    }
    const CommandRef<Mem> mem_;
    const std::vector<std::byte> pattern_;
    const uint64_t offset_, size_;
};

/// Copies from pinned memory that is filled with the pattern: for fills whose pattern may straddle
/// two rows.
class StripCommand final : public StreamCommand {
public:
    StripCommand(const Target &target, Mem &mem, const std::vector<std::byte> &pattern,
                 uint64_t offset, uint64_t size)
        : StreamCommand(target.queue), mem_(target, mem), offset_(offset), size_(size),
          strip_(target.queue.primary(), std::min(size, most)) {
        fill_bytes(strip_.begin(), std::min(size, most), pattern);
    }

private:
    static constexpr uint64_t most = uint64_t{64} << 10; ///< a multiple of every pattern's size

    void issue(Submission &submission) override {
        const End strip{reinterpret_cast<CUdeviceptr>(strip_.begin()), nullptr, strip_.begin()};
        for (uint64_t done = 0; done < size_; done += most)
            copy_regions(
                submission, strip, end_of(*mem_),
                physical_regions(range_regions(0, offset_ + done, std::min(size_ - done, most)), {},
                                 mem_->range()));
    }
    const CommandRef<Mem> mem_;
    const uint64_t offset_, size_;
    const Staging strip_;
};

} // namespace

namespace {

/// A copy by the host, between host memory of which at least one end is not pinned. The ends may be
/// views of the same bytes.
void enqueue_host_copy(Queue &queue, const EnqueueArguments &arguments, const std::byte *src,
                       std::byte *dst, Regions &&regions, Ref<Mem> keep,
                       std::optional<Ref<Mem>> also = {}) {
    enqueue_on_thread(
        queue, arguments,
        [src, dst, regions = std::move(regions), keep = std::move(keep), also = std::move(also)] {
            sdk::copy_regions({regions.data(), regions.size()}, LogicalBytes(src),
                              LogicalBytes(dst));
        });
}

DeviceEnd device_end(Mem &mem) {
    return mem.array() ? DeviceEnd(*mem.array()) : DeviceEnd(mem.address());
}

/// A copy with one pageable end: the driver's own would block the calling thread.
void enqueue_pageable_copy(Queue &queue, const EnqueueArguments &arguments, Mem &src, Mem &dst,
                           Regions &&regions) {
    if (src.in_host() && dst.in_host())
        return enqueue_host_copy(queue, arguments, src.host_pointer(), dst.host_pointer(),
                                 std::move(regions), Ref<Mem>(src), Ref<Mem>(dst));
    const Direction direction = src.pageable() ? Direction::TO_DEVICE : Direction::TO_HOST;
    Mem &device = src.pageable() ? dst : src, &host = src.pageable() ? src : dst;
    const auto keep = std::make_shared<std::pair<Ref<Mem>, Ref<Mem>>>(src, dst);
    enqueue_pageable(queue, arguments, device.primary(), direction, device_end(device),
                     host.host_pointer(), std::move(regions), keep);
}

} // namespace

void enqueue_transfer(Queue &queue, const EnqueueArguments &arguments, Direction direction,
                      Mem &mem, std::byte *host, Regions &&logical) {
    Regions regions = direction == Direction::TO_DEVICE
                          ? physical_regions(std::move(logical), {}, mem.range())
                          : physical_regions(std::move(logical), mem.range(), {});
    if (mem.pageable()) {
        const bool up = direction == Direction::TO_DEVICE;
        return enqueue_host_copy(queue, arguments, up ? host : mem.host_pointer(),
                                 up ? mem.host_pointer() : host, std::move(regions), Ref<Mem>(mem));
    }
    const pi_region &first = *regions.begin();
    const bool few = regions.size() == 1 && !mem.array() && is_row(first) &&
                     first.extent[0] <= StagedCommand::most && runs_within_call(queue, arguments);
    const bool pinned = !(few && first.extent[0] <= StagedCommand::unasked) &&
                        is_pinned(queue.api(), host, host_extent(direction, regions));
    if (few && !pinned)
        if (const TurnWithinCall turn(queue); turn) {
            queue.primary().require_alive();
            if (direction == Direction::TO_DEVICE)
                queue.wait_for_stream(); // earlier commands may still write there
            StagedCommand command(Target{queue, true}, direction, mem, host, first);
            return enqueue_within_call(queue, arguments, command);
        }
    if (pinned)
        return enqueue_stream<PinnedCommand>(queue, arguments, direction, mem, host,
                                             std::move(regions));
    enqueue_pageable(queue, arguments, queue.primary(), direction, device_end(mem), host,
                     std::move(regions), std::make_shared<Ref<Mem>>(mem));
}

void enqueue_copy(Queue &queue, const EnqueueArguments &arguments, Mem &src, Mem &dst,
                  Regions &&regions) {
    // The driver splits a row of an image only between pixels, and rows of several slices are not
    // one box.
    const Mem &pitched = src.layout().flat() ? dst : src, &other = src.layout().flat() ? src : dst;
    const Image *const image = other.image();
    if (image && pitched.layout().row() % image->shape.format.bytes())
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the n-D allocation has rows of ",
             pitched.layout().row(), " bytes, which split the image's pixels of ",
             image->shape.format.bytes(), " bytes: copy through a buffer without a layout");
    Regions physical =
        physical_regions(std::move(regions), src.range(), dst.range(), image != nullptr);
    if (src.pageable() || dst.pageable())
        return enqueue_pageable_copy(queue, arguments, src, dst, std::move(physical));
    enqueue_stream<CopyCommand>(queue, arguments, src, dst, std::move(physical));
}

void enqueue_fill(Queue &queue, const EnqueueArguments &arguments, Mem &mem,
                  std::vector<std::byte> pattern, uint64_t offset, uint64_t size) {
    if (mem.pageable())
        return enqueue_on_thread(queue, arguments,
                                 [mem = Ref<Mem>(mem), pattern = std::move(pattern), offset, size] {
                                     fill_bytes(mem->host_pointer() + offset, size, pattern);
                                 });
    // Rows begin at the root's, so a pattern may straddle two of them.
    if (!mem.layout().flat() &&
        (mem.layout().row() % period(pattern) || mem.offset() % period(pattern)))
        return enqueue_stream<StripCommand>(queue, arguments, mem, pattern, offset, size);
    enqueue_stream<FillCommand>(queue, arguments, mem, std::move(pattern), offset, size);
}

void check_overlap(const Regions &regions, const Mem &src, const Mem &dst) {
    if (&src != &dst && (src.array() || dst.array()))
        return;
    // Comparing addresses suffices: no two devices share a range, nor do a device and the host.
    const auto begin = [](const Mem &mem) {
        return reinterpret_cast<const void *>(mem.identity());
    };
    sdk::check_overlap({regions.data(), regions.size()}, begin(src), begin(dst));
}

void check_copy(Queue &queue, const Mem &src, const Mem &dst) {
    Primary &user = queue.primary();
    if (&src.primary() == &user || &dst.primary() == &user)
        return;
    require_usable(user, src, "src");
    require_usable(user, dst, "dst");
}

namespace entries {

pi_result PI_CALL piEnqueueMemBufferRead(pi_queue queue, const pi_buffer_read_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_READ_DESC);
        Mem &mem = checked_buffer(self.primary(), self.host(), known.mem, "mem");
        require(known.host_ptr, "host_ptr");
        enqueue_transfer(self, {known.flags, known.type, wait_count, wait_list, out_event},
                         Direction::TO_HOST, mem, static_cast<std::byte *>(known.host_ptr),
                         read_regions(known.region_count, known.regions, mem.size(), std::nullopt));
    });
}

pi_result PI_CALL piEnqueueMemBufferWrite(pi_queue queue, const pi_buffer_write_desc *desc,
                                          uint32_t wait_count, const pi_event *wait_list,
                                          pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_WRITE_DESC);
        Mem &mem = checked_buffer(self.primary(), self.host(), known.mem, "mem");
        require(known.host_ptr, "host_ptr");
        enqueue_transfer(self, {known.flags, known.type, wait_count, wait_list, out_event},
                         Direction::TO_DEVICE, mem,
                         static_cast<std::byte *>(const_cast<void *>(known.host_ptr)),
                         read_regions(known.region_count, known.regions, std::nullopt, mem.size()));
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
        check_copy(self, src, dst);
        auto regions = read_regions(known.region_count, known.regions, src.size(), dst.size());
        check_overlap(regions, src, dst);
        enqueue_copy(self, {known.flags, known.type, wait_count, wait_list, out_event}, src, dst,
                     std::move(regions));
    });
}

pi_result PI_CALL piEnqueueMemBufferFill(pi_queue queue, const pi_buffer_fill_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_FILL_DESC);
        Mem &mem = checked_buffer(self.primary(), self.host(), known.mem, "mem");
        auto pattern = read_pattern(known.pattern, known.pattern_size, known.offset, known.size);
        check_range(known.offset, known.size, mem.size(), "mem");
        enqueue_fill(self, {known.flags, known.type, wait_count, wait_list, out_event}, mem,
                     std::move(pattern), known.offset, known.size);
    });
}

} // namespace entries
} // namespace pi::cuda
