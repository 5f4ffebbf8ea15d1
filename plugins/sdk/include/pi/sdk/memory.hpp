// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The PI_MEM_ flags and host_ptr, which descriptors of buffers, images, views and imports share,
// and the info queries and maintenance that all memory objects share.
#pragma once

#include <pi/sdk/region.hpp>

#include <cstdint>

namespace pi::sdk {

inline constexpr uint64_t mem_access_flags = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY;
inline constexpr uint64_t mem_host_ptr_flags = PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;
inline constexpr uint64_t mem_requirement_flags = PI_MEM_REQUIRE_CONTIGUOUS | PI_MEM_REQUIRE_PINNED;
/// All flags that piMemBufferCreate and piMemImageCreate accept.
inline constexpr uint64_t mem_create_flags =
    mem_access_flags | mem_host_ptr_flags | mem_requirement_flags;

/// PI_ERROR_INVALID_VALUE if `flags` has both read-only and write-only.
inline void check_mem_access(uint64_t flags) {
    if ((flags & mem_access_flags) == mem_access_flags)
        fail(PI_ERROR_INVALID_VALUE,
             "flags has both PI_MEM_READ_ONLY and PI_MEM_WRITE_ONLY; neither means both ways");
}

/// PI_ERROR_INVALID_VALUE or PI_ERROR_INVALID_NULL_POINTER unless host_ptr and its flags agree.
inline void check_mem_host_ptr(uint64_t flags, const void *host_ptr) {
    const uint64_t use = flags & mem_host_ptr_flags;
    if (use == mem_host_ptr_flags)
        fail(PI_ERROR_INVALID_VALUE, "flags has both PI_MEM_COPY_HOST_PTR and PI_MEM_USE_HOST_PTR; "
                                     "at most one is possible");
    if (use && !host_ptr)
        fail(PI_ERROR_INVALID_NULL_POINTER, "host_ptr is NULL, but flags has ",
             use == PI_MEM_COPY_HOST_PTR ? "PI_MEM_COPY_HOST_PTR" : "PI_MEM_USE_HOST_PTR");
    if (!use && host_ptr)
        fail(PI_ERROR_INVALID_VALUE, "host_ptr is ", host_ptr,
             ", but flags says neither PI_MEM_COPY_HOST_PTR nor PI_MEM_USE_HOST_PTR");
}

/// Checks a view's flags: only access flags, and only access that its parent has.
inline void check_view_access(uint64_t flags, uint64_t inherited) {
    check_flags(flags, mem_access_flags, "flags");
    check_mem_access(flags);
    inherited &= mem_access_flags;
    if (inherited && flags && flags != inherited)
        fail(PI_ERROR_INVALID_VALUE, "flags is 0x", std::hex, flags,
             ", but the parent allows access 0x", inherited, " only");
}

/// A checked view's flags: its parent's, where it sets none of its own.
constexpr uint64_t view_flags(uint64_t given, uint64_t inherited) {
    return (inherited & ~mem_access_flags) | (given ? given : inherited & mem_access_flags);
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
