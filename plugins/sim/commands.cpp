// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on buffers: they move real bytes, and take the machine's time for that.
#include "entries.hpp"
#include "memory.hpp"
#include "migration.hpp"
#include "plugin.hpp"
#include "queue.hpp"

#include <algorithm>

namespace pi::sim {

using sdk::fail;
using sdk::Ref;

namespace {

uint64_t bytes_of(std::span<const pi_region> regions) {
    uint64_t bytes = 0;
    for (const pi_region &region : regions)
        bytes += sdk::source(region).bytes();
    return bytes;
}

/// Copies the bytes that a link does not lose.
void copy_and_lose_pages(const LogicalBytes &src, uint64_t from, const LogicalBytes &dst,
                         uint64_t to, uint64_t size) {
    while (size) {
        const uint64_t step = std::min(size, lost_page_size - to % lost_page_size);
        if (!is_in_lost_page(to))
            sdk::copy_bytes(src, from, dst, to, step);
        from += step;
        to += step;
        size -= step;
    }
}

/// Copies the first `bytes` of the regions.
void copy_part(std::span<const pi_region> regions, const LogicalBytes &src, const LogicalBytes &dst,
               uint64_t bytes, bool loses_pages) {
    for (const pi_region &region : regions)
        sdk::for_each_piece(region, [&](uint64_t from, uint64_t to, uint64_t size) {
            const uint64_t step = std::min(size, bytes);
            (loses_pages ? copy_and_lose_pages : sdk::copy_bytes)(src, from, dst, to, step);
            bytes -= step;
        });
}

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueMemBufferRead(pi_queue queue, const pi_buffer_read_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_BUFFER_READ_DESC);
        Mem &mem = checked_mem(self.place(), known.mem);
        sdk::require(known.host_ptr, "host_ptr");
        auto regions =
            sdk::read_regions(known.region_count, known.regions, mem.size(), std::nullopt);
        Transfer transfer = self.links().transfer(mem.site(), host_site, bytes_of(regions));
        self.enqueue(
            {known.flags, known.type, wait_count, wait_list, out_event}, std::move(transfer),
            {mem.site()},
            [src = Ref<Mem>(mem), dst = known.host_ptr, regions = std::move(regions),
             loses_pages = self.links().copy_loses_pages(mem.site(), self.device().site(),
                                                         host_site)](uint64_t bytes, sdk::Event &) {
                copy_part(regions, src->bytes(), dst, bytes, loses_pages);
            });
    });
}

pi_result PI_CALL piEnqueueMemBufferWrite(pi_queue queue, const pi_buffer_write_desc *desc,
                                          uint32_t wait_count, const pi_event *wait_list,
                                          pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_BUFFER_WRITE_DESC);
        Mem &mem = checked_mem(self.place(), known.mem);
        sdk::require(known.host_ptr, "host_ptr");
        auto regions =
            sdk::read_regions(known.region_count, known.regions, std::nullopt, mem.size());
        Transfer transfer = self.links().transfer(host_site, mem.site(), bytes_of(regions));
        self.enqueue(
            {known.flags, known.type, wait_count, wait_list, out_event}, std::move(transfer),
            {mem.site()},
            writing(self, {&mem},
                    [src = known.host_ptr, dst = Ref<Mem>(mem), regions = std::move(regions),
                     loses_pages = self.links().copy_loses_pages(host_site, self.device().site(),
                                                                 mem.site())](uint64_t bytes,
                                                                              sdk::Event &) {
                        copy_part(regions, src, dst->bytes(), bytes, loses_pages);
                    }));
    });
}

pi_result PI_CALL piEnqueueMemBufferCopy(pi_queue queue, const pi_buffer_copy_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_BUFFER_COPY_DESC);
        Mem &src = sdk::checked<Mem>(self.host(), known.src, "src");
        Mem &dst = sdk::checked<Mem>(self.host(), known.dst, "dst");
        check_copy(self.place(), src, dst);
        auto regions = sdk::read_regions(known.region_count, known.regions, src.size(), dst.size());
        sdk::check_overlap(regions, src.bytes().identity(), dst.bytes().identity());
        Transfer transfer = self.links().transfer(src.site(), dst.site(), bytes_of(regions));
        self.enqueue(
            {known.flags, known.type, wait_count, wait_list, out_event}, std::move(transfer),
            {src.site(), dst.site()},
            writing(self, {&dst},
                    [from = Ref<Mem>(src), to = Ref<Mem>(dst), regions = std::move(regions),
                     loses_pages = self.links().copy_loses_pages(src.site(), self.device().site(),
                                                                 dst.site())](uint64_t bytes,
                                                                              sdk::Event &) {
                        copy_part(regions, from->bytes(), to->bytes(), bytes, loses_pages);
                    }));
    });
}

pi_result PI_CALL piEnqueueMemBufferFill(pi_queue queue, const pi_buffer_fill_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_BUFFER_FILL_DESC);
        Mem &mem = checked_mem(self.place(), known.mem);
        auto pattern =
            sdk::read_pattern(known.pattern, known.pattern_size, known.offset, known.size);
        sdk::check_range(known.offset, known.size, mem.size(), "mem");
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event},
                     self.links().transfer(mem.site(), mem.site(), known.size), {mem.site()},
                     writing(self, {&mem},
                             [dst = Ref<Mem>(mem), offset = known.offset,
                              pattern = std::move(pattern)](uint64_t bytes, sdk::Event &) {
                                 const uint64_t whole = bytes / pattern.size() * pattern.size();
                                 if (whole)
                                     sdk::fill_bytes(dst->bytes(), offset, whole, pattern);
                             }));
    });
}

namespace {

/// Whether a map returns the host's view of the memory itself.
bool maps_in_place(const Mem &mem) {
    return mem.storage().host_data() && mem.layout().flat();
}

/// The transfer of a map or unmap: in place none, or cache maintenance; else the bytes over the
/// link.
Transfer map_transfer(const Queue &queue, const Mem &mem, uint64_t size, bool moves, bool to_host) {
    if (!moves || (maps_in_place(mem) && mem.storage().coherent()))
        return {};
    const bool in_place = maps_in_place(mem) && !mem.storage().copied();
    Transfer transfer = in_place  ? queue.links().transfer(host_site, host_site, size)
                        : to_host ? queue.links().transfer(mem.site(), host_site, size)
                                  : queue.links().transfer(host_site, mem.site(), size);
    if (in_place)
        transfer.task.duration = mem.maintenance_time(size);
    transfer.whole = true;
    return transfer;
}

} // namespace

pi_result PI_CALL piEnqueueMemBufferMap(pi_queue queue, const pi_buffer_map_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_BUFFER_MAP_DESC);
        sdk::check_map_flags(known.flags);
        Mem &mem = checked_mem(self.place(), known.mem);
        sdk::require(known.out_pointer, "out_pointer");
        sdk::check_range(known.offset, known.size, mem.size(), "mem");
        const bool in_place = maps_in_place(mem);
        sdk::MapPromise promise(mem, mem.maps(), in_place ? mem.host_bytes() : mem.bytes(), known,
                                in_place);
        self.enqueue(
            {known.flags, known.type, wait_count, wait_list, out_event},
            map_transfer(self, mem, known.size, sdk::map_reads(known.flags), true), {mem.site()},
            shared([promise = std::move(promise), known, in_place](uint64_t, sdk::Event &) mutable {
                if (in_place && sdk::map_reads(known.flags))
                    promise.mem().refresh(known.offset, known.size);
                else if (in_place)
                    promise.mem().spoil(known.offset, known.size);
                *known.out_pointer = promise.fulfil();
            }));
    });
}

pi_result PI_CALL piEnqueueMemUnmap(pi_queue queue, const pi_unmap_desc *desc, uint32_t wait_count,
                                    const pi_event *wait_list, pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_UNMAP_DESC);
        Mem &mem = checked_mem(self.place(), known.mem);
        sdk::require(known.pointer, "pointer");
        sdk::UnmapPromise unmap(mem, mem.maps(), known.pointer);
        const sdk::MapTable::Range range = unmap.range();
        const bool writes = sdk::map_writes(range.flags);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event},
                     map_transfer(self, mem, range.size, writes, false), {mem.site()},
                     writing(self, writes ? std::vector{&mem} : std::vector<Mem *>(),
                             shared([unmap = std::move(unmap), range,
                                     writes](uint64_t, sdk::Event &) mutable {
                                 Mem &mapped = unmap.mem();
                                 unmap.run(mapped.bytes());
                                 if (writes && maps_in_place(mapped))
                                     mapped.publish(range.offset, range.size);
                             })));
    });
}

} // namespace entries

} // namespace pi::sim
