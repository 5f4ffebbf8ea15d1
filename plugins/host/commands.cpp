// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on buffers. All memory of an instance is host memory, so every command accepts
// memory of any context and device of the instance.
#include "commands.hpp"

#include "entries.hpp"
#include "memory.hpp"

#include <cstring>

namespace pi::host {

using sdk::fail;
using sdk::Ref;

Cost cost_of(std::span<const pi_region> regions) {
    constexpr uint64_t piece = 64;
    uint64_t cost = 0;
    for (const pi_region &region : regions) {
        const sdk::Rectangle from = sdk::source(region);
        // For checked regions neither factor's product with 64 can overflow.
        cost += from.bytes() + piece * from.rows * from.slices;
        if (cost > static_cast<uint64_t>(Cost::SMALL) || from.rows > 1024 || from.slices > 1024)
            return Cost::UNKNOWN;
    }
    return static_cast<Cost>(cost);
}

Cost cost_of(uint64_t bytes) {
    return bytes <= static_cast<uint64_t>(Cost::SMALL) ? static_cast<Cost>(bytes) : Cost::UNKNOWN;
}

namespace entries {

pi_result PI_CALL piEnqueueMemBufferRead(pi_queue queue, const pi_buffer_read_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_BUFFER_READ_DESC);
        Mem &mem = checked_buffer(self.host(), known.mem, "mem");
        sdk::require(known.host_ptr, "host_ptr");
        auto regions =
            sdk::read_regions(known.region_count, known.regions, mem.size(), std::nullopt);
        const Cost cost = cost_of(regions);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, cost,
                     [src = Ref<Mem>(mem), dst = known.host_ptr, regions = std::move(regions)] {
                         sdk::copy_regions(regions, src->bytes(), dst);
                     });
    });
}

pi_result PI_CALL piEnqueueMemBufferWrite(pi_queue queue, const pi_buffer_write_desc *desc,
                                          uint32_t wait_count, const pi_event *wait_list,
                                          pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_BUFFER_WRITE_DESC);
        Mem &mem = checked_buffer(self.host(), known.mem, "mem");
        sdk::require(known.host_ptr, "host_ptr");
        auto regions =
            sdk::read_regions(known.region_count, known.regions, std::nullopt, mem.size());
        const Cost cost = cost_of(regions);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, cost,
                     [src = known.host_ptr, dst = Ref<Mem>(mem), regions = std::move(regions)] {
                         sdk::copy_regions(regions, src, dst->bytes());
                     });
    });
}

pi_result PI_CALL piEnqueueMemBufferCopy(pi_queue queue, const pi_buffer_copy_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_BUFFER_COPY_DESC);
        Mem &src = checked_buffer(self.host(), known.src, "src");
        Mem &dst = checked_buffer(self.host(), known.dst, "dst");
        auto regions = sdk::read_regions(known.region_count, known.regions, src.size(), dst.size());
        sdk::check_overlap(regions, src.bytes().identity(), dst.bytes().identity());
        const Cost cost = cost_of(regions);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, cost,
                     [from = Ref<Mem>(src), to = Ref<Mem>(dst), regions = std::move(regions)] {
                         sdk::copy_regions(regions, from->bytes(), to->bytes());
                     });
    });
}

pi_result PI_CALL piEnqueueMemBufferFill(pi_queue queue, const pi_buffer_fill_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_BUFFER_FILL_DESC);
        Mem &mem = checked_buffer(self.host(), known.mem, "mem");
        auto pattern =
            sdk::read_pattern(known.pattern, known.pattern_size, known.offset, known.size);
        sdk::check_range(known.offset, known.size, mem.size(), "mem");
        const Cost cost = cost_of(known.size);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, cost,
                     [dst = Ref<Mem>(mem), offset = known.offset, size = known.size,
                      pattern = std::move(pattern)] {
                         sdk::fill_bytes(dst->bytes(), offset, size, pattern);
                     });
    });
}

pi_result PI_CALL piEnqueueMemBufferMap(pi_queue queue, const pi_buffer_map_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_BUFFER_MAP_DESC);
        sdk::check_map_flags(known.flags);
        Mem &mem = checked_buffer(self.host(), known.mem, "mem");
        sdk::require(known.out_pointer, "out_pointer");
        sdk::check_range(known.offset, known.size, mem.size(), "mem");
        const Cost cost = mem.layout().flat() ? Cost::NONE : cost_of(known.size);
        sdk::MapPromise promise(mem, mem.maps(), mem.bytes(), known);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, cost,
                     [promise = std::move(promise), out_pointer = known.out_pointer]() mutable {
                         *out_pointer = promise.fulfil();
                     });
    });
}

pi_result PI_CALL piEnqueueMemUnmap(pi_queue queue, const pi_unmap_desc *desc, uint32_t wait_count,
                                    const pi_event *wait_list, pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_UNMAP_DESC);
        Mem &mem = checked_buffer(self.host(), known.mem, "mem");
        sdk::require(known.pointer, "pointer");
        sdk::UnmapPromise unmap(mem, mem.maps(), known.pointer);
        const Cost cost = mem.layout().flat() ? Cost::NONE : Cost::UNKNOWN;
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, cost,
                     [unmap = std::move(unmap)]() mutable { unmap.run(unmap.mem().bytes()); });
    });
}

} // namespace entries

} // namespace pi::host
