// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptors of buffers, views, layouts and imports.
#pragma once

#include <pi/describe/checks/check.hpp>

namespace pi::checks {

inline constexpr uint64_t access_flags = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY;
inline constexpr uint64_t host_ptr_flags = PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;
inline constexpr uint64_t requirement_flags = PI_MEM_REQUIRE_CONTIGUOUS | PI_MEM_REQUIRE_PINNED;
/// All flags that piMemBufferCreate and piMemImageCreate accept.
inline constexpr uint64_t mem_create_flags = access_flags | host_ptr_flags | requirement_flags;

/// PI_ERROR_INVALID_VALUE for both read-only and write-only.
inline void check_access(Check &check, uint64_t flags) noexcept {
    if ((flags & access_flags) == access_flags)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->flags"},
                     "is {}, with PI_MEM_READ_ONLY and PI_MEM_WRITE_ONLY; set at most one, or "
                     "neither to read and write",
                     Hex{flags});
}

/// PI_ERROR_INVALID_VALUE or PI_ERROR_INVALID_NULL_POINTER unless host_ptr and its flags agree.
inline void check_host_ptr(Check &check, uint64_t flags, const void *host_ptr) noexcept {
    constexpr Name name = {"desc->host_ptr"};
    const uint64_t use = flags & host_ptr_flags;
    if (use == host_ptr_flags)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->flags"},
                     "is {}, with PI_MEM_COPY_HOST_PTR and PI_MEM_USE_HOST_PTR; set at most one",
                     Hex{flags});
    if (use != 0)
        check.not_null(host_ptr, name);
    else if (host_ptr != nullptr)
        check.refuse(PI_ERROR_INVALID_VALUE, name,
                     "is {}; without PI_MEM_COPY_HOST_PTR or PI_MEM_USE_HOST_PTR in flags it must "
                     "be NULL",
                     host_ptr);
}

inline void check_buffer(Check &check, const pi_mem_buffer_desc &desc) noexcept {
    check.flags(desc.flags, mem_create_flags, {"desc->flags"});
    check_access(check, desc.flags);
    check_host_ptr(check, desc.flags, desc.host_ptr);
    check.some_bytes(desc.size, {"desc->size"});
    check.alignment(desc.alignment, {"desc->alignment"});
    if (desc.host_ptr != nullptr)
        check.address_range(desc.host_ptr, desc.size, {"desc->size"}, "host_ptr");
    if ((desc.flags & PI_MEM_USE_HOST_PTR) != 0 &&
        alignment_of(desc.host_ptr, desc.alignment) < desc.alignment)
        check.refuse(PI_ERROR_MISALIGNED_POINTER, {"desc->host_ptr"},
                     "is {}, aligned to {} bytes; a multiple of alignment, {}, is needed",
                     desc.host_ptr, alignment_of(desc.host_ptr, desc.alignment), desc.alignment);
}

inline constexpr uint32_t max_layout_rank = 8;

/// `size`: the buffer's, in bytes.
inline void check_layout(Check &check, const pi_mem_layout_desc &layout, uint64_t size) noexcept {
    check.reserved(layout.reserved, {"desc->next->reserved"});
    if (layout.rank < 1 || layout.rank > max_layout_rank)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->next->rank"}, "is {}; 1 to {} are possible",
                     layout.rank, max_layout_rank);
    if (layout.element_size == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->next->element_size"},
                     "is 0; at least 1 is needed");
    if (layout.axis_separator_count >= layout.rank)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->next->axis_separator_count"},
                     "is {}; between {} axes there are at most {}", layout.axis_separator_count,
                     layout.rank, layout.rank - 1);
    if (check.failed() || !check.array(layout.rank, layout.extents, {"desc->next->extents"}) ||
        !check.array(layout.axis_separator_count, layout.axis_separators,
                     {"desc->next->axis_separators"}))
        return;
    uint64_t bytes = layout.element_size;
    for (uint32_t axis = 0; axis < layout.rank; ++axis) {
        const Name extent = {"desc->next->extents", axis};
        if (layout.extents[axis] == 0)
            check.refuse(PI_ERROR_INVALID_SIZE, extent, "is 0; at least 1 is needed");
        if (__builtin_mul_overflow(bytes, layout.extents[axis], &bytes))
            check.refuse(PI_ERROR_INVALID_SIZE, extent,
                         "is {}, which makes more bytes than 64 bits count", layout.extents[axis]);
    }
    if (bytes != size)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->size"},
                     "is {}; the extents of the layout hold {} bytes", size, bytes);
    uint32_t least = 1;
    for (uint32_t i = 0; i < layout.axis_separator_count; ++i) {
        const uint32_t separator = layout.axis_separators[i];
        if (separator < least || separator >= layout.rank)
            check.refuse(PI_ERROR_INVALID_VALUE, {"desc->next->axis_separators", i},
                         "is {}; separators increase, and {} to {} are possible here", separator,
                         least, layout.rank - 1);
        least = separator + 1;
    }
}

/// A view's flags: only access flags, and only access that its parent, of flags `inherited`, has.
inline void check_view_access(Check &check, uint64_t flags, uint64_t inherited) noexcept {
    check.flags(flags, access_flags, {"desc->flags"});
    check_access(check, flags);
    inherited &= access_flags;
    if (inherited != 0 && flags != 0 && flags != inherited)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->flags"},
                     "is {}; the parent's {}, or 0, is needed", Hex{flags}, Hex{inherited});
}

/// A checked view's flags: its parent's, where it sets none of its own.
constexpr uint64_t view_flags(uint64_t given, uint64_t inherited) noexcept {
    return (inherited & ~access_flags) | (given != 0 ? given : inherited & access_flags);
}

/// `size` and `inherited`: the parent's size in bytes, and its flags.
inline void check_partition(Check &check, const pi_mem_partition_desc &desc, uint64_t size,
                            uint64_t inherited) noexcept {
    check_view_access(check, desc.flags, inherited);
    check.range(desc.offset, desc.size, size, {"desc->offset"}, {"desc->size"}, "mem");
}

inline void check_external_type(Check &check, pi_external_type type, const Name &name) noexcept {
    check.enumeration(type, PI_ENUMERATOR(PI_EXTERNAL_HOST_POINTER),
                      PI_ENUMERATOR(PI_EXTERNAL_ZE_IPC), name);
}

inline void check_import(Check &check, const pi_mem_import_desc &desc) noexcept {
    check.flags(desc.flags, access_flags, {"desc->flags"});
    check_access(check, desc.flags);
    check_external_type(check, desc.handle.type, {"desc->handle.type"});
    check.some_bytes(desc.size, {"desc->size"});
    if (desc.own > (desc.handle.type == PI_EXTERNAL_NATIVE ? 1u : 0u))
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->own"},
                     "is {}; 0, or 1 with PI_EXTERNAL_NATIVE (4), is needed", desc.own);
    check.flags(desc.handle.flags, 0, {"desc->handle.flags"});
    for (const uint64_t word : desc.handle.reserved)
        check.reserved(word, {"desc->handle.reserved"});
    uint64_t end = 0;
    if (__builtin_add_overflow(desc.offset, desc.size, &end) ||
        __builtin_add_overflow(end, desc.handle.offset, &end))
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->offset"},
                     "is {}; with handle.offset {} and size {} it exceeds 64 bits", desc.offset,
                     desc.handle.offset, desc.size);
    if (desc.handle.type == PI_EXTERNAL_HOST_POINTER &&
        check.not_null(desc.handle.pointer, {"desc->handle.pointer"}))
        check.address_range(desc.handle.pointer, end, {"desc->size"}, "handle.pointer");
}

} // namespace pi::checks
