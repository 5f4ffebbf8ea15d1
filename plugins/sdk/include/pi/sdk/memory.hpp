// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The PI_MEM_ flags and host_ptr, which descriptors of buffers, images, views and imports share,
// and the info queries and maintenance that all memory objects share.
#pragma once

#include <pi/describe/checks/memory.hpp>
#include <pi/sdk/region.hpp>

#include <cstdint>

namespace pi::sdk {

using checks::mem_create_flags;
using checks::view_flags;
inline constexpr uint64_t mem_access_flags = checks::access_flags;
inline constexpr uint64_t mem_host_ptr_flags = checks::host_ptr_flags;
inline constexpr uint64_t mem_requirement_flags = checks::requirement_flags;

/// The descriptor of a buffer: flags, size, alignment, host_ptr. The plugin checks what depends on
/// its devices.
inline void check_buffer(const pi_mem_buffer_desc &desc) {
    enforce<checks::check_buffer>(desc);
}

/// The descriptor of a view of a buffer of `size` bytes and these flags.
inline void check_partition(const pi_mem_partition_desc &desc, uint64_t size, uint64_t inherited) {
    enforce<checks::check_partition>(desc, size, inherited);
}

/// The rows of piMemGetInfo that call a member of the same name of a plugin's Mem. `parent()` is
/// the root's handle, or NULL.
template <class Mem>
inline constexpr InfoRow<Mem> mem_rows[] = {
    {PI_MEM_INFO_SIZE, [](Mem &mem, const InfoWriter &write) { write(mem.size()); }},
    {PI_MEM_INFO_CONTEXT, [](Mem &mem, const InfoWriter &write) { write(mem.context().handle()); }},
    {PI_MEM_INFO_DEVICE, [](Mem &mem, const InfoWriter &write) { write(mem.device().handle()); }},
    {PI_MEM_INFO_FLAGS, [](Mem &mem, const InfoWriter &write) { write(mem.flags()); }},
    {PI_MEM_INFO_SCOPE, [](Mem &mem, const InfoWriter &write) { write(uint32_t{mem.scope()}); }},
    {PI_MEM_INFO_ALIGNMENT, [](Mem &mem, const InfoWriter &write) { write(mem.alignment()); }},
    {PI_MEM_INFO_PARENT, [](Mem &mem, const InfoWriter &write) { write(mem.parent()); }},
    {PI_MEM_INFO_OFFSET, [](Mem &mem, const InfoWriter &write) { write(mem.offset()); }},
    {PI_MEM_INFO_KIND, [](Mem &mem, const InfoWriter &write) { write(mem.memory_kind()); }},
    {PI_MEM_INFO_REFERENCE_COUNT,
     [](Mem &mem, const InfoWriter &write) { write(mem.reference_count()); }},
};

/// piMemFlush and piMemInvalidate of a backend whose memory is either coherent in the host once
/// events order its use, or accessible by map and unmap only. Mem has `uint64_t size()` and `bool
/// in_host()`.
namespace mem_maintenance {

template <class Mem>
pi_result check(pi_mem mem, uint64_t offset, uint64_t size, const char *what) {
    return call<Mem>(mem, [&](Mem &self) {
        check_range(offset, size, self.size(), "mem");
        if (!self.in_host())
            fail(PI_ERROR_UNSUPPORTED_FEATURE, what,
                 ": the coherence of mem is PI_COHERENCE_MAP_UNMAP; the host touches it between "
                 "map and unmap");
    });
}

template <class Mem>
pi_result PI_CALL flush(pi_mem mem, uint64_t offset, uint64_t size) {
    return check<Mem>(mem, offset, size, "piMemFlush");
}

template <class Mem>
pi_result PI_CALL invalidate(pi_mem mem, uint64_t offset, uint64_t size) {
    return check<Mem>(mem, offset, size, "piMemInvalidate");
}

template <class Mem>
constexpr void fill(pi_dispatch &table) {
    table.piMemFlush = flush<Mem>;
    table.piMemInvalidate = invalidate<Mem>;
}

} // namespace mem_maintenance
} // namespace pi::sdk
