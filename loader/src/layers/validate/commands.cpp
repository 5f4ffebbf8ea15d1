// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptors of commands on buffers and USM, and of those that use no memory.

#include "addresses.hpp"
#include "maps.hpp"
#include "regions.hpp"

#include <pi/describe/checks/descriptor.hpp>

namespace pi::loader::validate {
namespace {

using Memory = std::shared_ptr<const MemoryFacts>;

constexpr uint64_t not_known = UINT64_MAX;

/// The memory of an argument; PI_ERROR_INVALID_MEM_OBJECT if it is an image. nullptr: unknown.
Memory buffer(Check &check, pi_mem mem, const Name &name) noexcept {
    Memory facts = check.validator().facts(mem);
    if (facts != nullptr && facts->image.type != nullptr)
        check.refuse(PI_ERROR_INVALID_MEM_OBJECT, name, "is an image ({}); a buffer is needed",
                     facts->image.type->name);
    return facts;
}

StorageEnd end_in(const Memory &memory, const checks::End &names) noexcept {
    return memory != nullptr
               ? StorageEnd{{names, nullptr, memory->size}, memory->root, memory->offset}
               : StorageEnd{{names}};
}
StorageEnd end_at(const void *host_ptr, const checks::End &names) noexcept {
    return {{names, host_ptr}};
}

// Refuses regions that are mapped.
void check_mapped(Check &check, const Place &place, const Memory &memory, uint32_t count,
                  const pi_region *regions, bool dst, const char *argument) noexcept {
    Maps &maps = check.validator().maps();
    for (uint32_t i = 0; maps.any() && memory != nullptr && i < count && !check.failed(); ++i) {
        const pi_region &region = regions[i];
        maps.check_use(check, place, *memory,
                       dst ? checks::destination_of(region) : checks::source_of(region), dst,
                       {argument});
    }
}

} // namespace

void check_members(Check &check, const Place &place, const pi_buffer_read_desc &desc) {
    static constexpr checks::End src = checks::src_end("desc->mem");
    static constexpr checks::End dst = checks::dst_end("desc->host_ptr");
    const Memory mem = buffer(check, desc.mem, {"desc->mem"});
    check.not_null(desc.host_ptr, {"desc->host_ptr"});
    check_regions(check, desc.region_count, desc.regions, end_in(mem, src),
                  end_at(desc.host_ptr, dst));
    check_mapped(check, place, mem, desc.region_count, desc.regions, false, "desc->mem");
}

void check_members(Check &check, const Place &place, const pi_buffer_write_desc &desc) {
    static constexpr checks::End src = checks::src_end("desc->host_ptr");
    static constexpr checks::End dst = checks::dst_end("desc->mem");
    const Memory mem = buffer(check, desc.mem, {"desc->mem"});
    check.not_null(desc.host_ptr, {"desc->host_ptr"});
    check_regions(check, desc.region_count, desc.regions, end_at(desc.host_ptr, src),
                  end_in(mem, dst));
    check_mapped(check, place, mem, desc.region_count, desc.regions, true, "desc->mem");
}

void check_members(Check &check, const Place &place, const pi_buffer_copy_desc &desc) {
    static constexpr checks::End src = checks::src_end("desc->src");
    static constexpr checks::End dst = checks::dst_end("desc->dst");
    const Memory from = buffer(check, desc.src, {"desc->src"});
    const Memory to = buffer(check, desc.dst, {"desc->dst"});
    check_regions(check, desc.region_count, desc.regions, end_in(from, src), end_in(to, dst));
    check_mapped(check, place, from, desc.region_count, desc.regions, false, "desc->src");
    check_mapped(check, place, to, desc.region_count, desc.regions, true, "desc->dst");
}

void check_members(Check &check, const Place &place, const pi_buffer_fill_desc &desc) {
    const Memory mem = buffer(check, desc.mem, {"desc->mem"});
    check_pattern(check, desc.pattern, desc.pattern_size, desc.offset, desc.size);
    check.range(desc.offset, desc.size, mem != nullptr ? mem->size : not_known, {"desc->offset"},
                {"desc->size"}, "desc->mem");
    if (mem != nullptr && !check.failed())
        check.validator().maps().check_use(check, place, *mem, range_of(desc.offset, desc.size),
                                           true, {"desc->mem"});
}

void check_members(Check &check, const Place &place, const pi_buffer_map_desc &desc) {
    const Memory mem = buffer(check, desc.mem, {"desc->mem"});
    check_map_modes(check, desc.flags);
    check.range(desc.offset, desc.size, mem != nullptr ? mem->size : not_known, {"desc->offset"},
                {"desc->size"}, "desc->mem");
    check.not_null(desc.out_pointer, {"desc->out_pointer"});
    if (mem != nullptr && !check.failed())
        check.validator().maps().check_use(check, place, *mem, range_of(desc.offset, desc.size),
                                           map_writes(desc.flags), {"desc->mem"});
}

void check_members(Check &check, const Place &, const pi_unmap_desc &desc) {
    const Memory mem = buffer(check, desc.mem, {"desc->mem"});
    if (check.not_null(desc.pointer, {"desc->pointer"}) && mem != nullptr)
        check.validator().maps().check_unmap(check, desc);
}

void check_members(Check &check, const Place &, const pi_usm_copy_desc &desc) {
    static constexpr checks::End src = checks::src_end("desc->src");
    static constexpr checks::End dst = checks::dst_end("desc->dst");
    check.not_null(desc.src, {"desc->src"});
    check.not_null(desc.dst, {"desc->dst"});
    if (check.failed())
        return;
    const auto end = [&](const void *pointer, const checks::End &names) {
        const Allocation found = check.validator().addresses().find(pointer);
        return StorageEnd{{names, pointer, found.size != 0 ? found.left(pointer) : not_known},
                          address_space,
                          reinterpret_cast<uintptr_t>(pointer)};
    };
    check_regions(check, desc.region_count, desc.regions, end(desc.src, src), end(desc.dst, dst));
}

namespace {

void check_usm_range(Check &check, const void *pointer, uint64_t size) noexcept {
    check.some_bytes(size, {"desc->size"});
    if (!check.not_null(pointer, {"desc->pointer"}))
        return;
    const Allocation found = check.validator().addresses().find(pointer);
    if (found.size != 0 && size > found.left(pointer))
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->size"},
                     "is {}; from pointer {} on, the allocation of {} bytes at {} has {} left",
                     size, pointer, found.size, reinterpret_cast<void *>(found.begin),
                     found.left(pointer));
    else
        check.address_range(pointer, size, {"desc->size"}, "pointer");
}

} // namespace

void check_members(Check &check, const Place &, const pi_usm_fill_desc &desc) {
    check_pattern(check, desc.pattern, desc.pattern_size, 0, desc.size);
    check_usm_range(check, desc.pointer, desc.size);
    check_usm_pattern(check, desc);
}

void check_members(Check &check, const Place &, const pi_usm_prefetch_desc &desc) {
    check_usm_range(check, desc.pointer, desc.size);
}

void check_members(Check &check, const Place &, const pi_usm_advise_desc &desc) {
    check_usm_range(check, desc.pointer, desc.size);
    check_advice(check, desc.advice);
}

void check_members(Check &check, const Place &place, const pi_usm_alloc_desc &desc) {
    check.not_null(desc.out_pointer, {"desc->out_pointer"});
    check_allocation(check, desc.size, desc.alignment);
    if (desc.pool == nullptr || check.failed() || place.context == nullptr)
        return;
    const auto pool = check.validator().facts(desc.pool);
    if (pool != nullptr && pool->context != nullptr && pool->context != place.context)
        check.refuse(PI_ERROR_INVALID_USM_POOL, {"desc->pool"},
                     "is of context {}; it must be of the queue's, {}",
                     static_cast<void *>(pool->context), static_cast<void *>(place.context));
}

void check_members(Check &check, const Place &place, const pi_usm_free_desc &desc) {
    check_freed(check, place.context, desc.pointer, {"desc->pointer"});
}

void check_members(Check &check, const Place &, const pi_host_function_desc &desc) {
    check.not_null(reinterpret_cast<const void *>(desc.function), {"desc->function"});
}

void check_members(Check &, const Place &, const pi_events_wait_desc &) {}
void check_members(Check &, const Place &, const pi_barrier_desc &) {}
void check_members(Check &, const Place &, const pi_timestamp_desc &) {}

namespace {

// Only the plugin knows the variables of a program.
void check_global(Check &check, const char *name, const void *host_ptr, uint64_t offset,
                  uint64_t size) noexcept {
    check.not_null(name, {"desc->name"});
    check.not_null(host_ptr, {"desc->host_ptr"});
    check.some_bytes(size, {"desc->size"});
    uint64_t end = 0;
    if (__builtin_add_overflow(offset, size, &end))
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->offset"},
                     "is {}; with size {} it exceeds 64 bits", offset, size);
    check.address_range(host_ptr, size, {"desc->size"}, "host_ptr");
}

} // namespace

void check_members(Check &check, const Place &, const pi_device_global_read_desc &desc) {
    check_global(check, desc.name, desc.host_ptr, desc.offset, desc.size);
}

void check_members(Check &check, const Place &, const pi_device_global_write_desc &desc) {
    check_global(check, desc.name, desc.host_ptr, desc.offset, desc.size);
}

} // namespace pi::loader::validate
