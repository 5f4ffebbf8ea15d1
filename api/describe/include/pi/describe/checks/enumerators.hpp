// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumerators of pi.h by name, for messages. C++17.
#pragma once

#include <pi/pi.h>

#include <cstddef>

namespace pi::checks {

/// In messages "PI_USM_SHARED (3)", a value without a name "7".
struct Enumerator {
    const char *name; ///< nullptr: pi.h has no such value
    uint32_t value;
};

#define PI_ENUMERATOR(name)                                                                        \
    pi::checks::Enumerator {                                                                       \
#name, name                                                                                \
    }

namespace detail {
template <std::size_t Count>
constexpr Enumerator find_enumerator(const Enumerator (&table)[Count], uint32_t value) noexcept {
    for (const Enumerator &row : table) {
        if (row.value == value)
            return row;
    }
    return {nullptr, value};
}
} // namespace detail

inline Enumerator name_struct_type(pi_struct_type type) noexcept {
    static constexpr Enumerator table[] = {
        PI_ENUMERATOR(PI_TYPE_NONE),
        PI_ENUMERATOR(PI_TYPE_LOADER_DESC),
        PI_ENUMERATOR(PI_TYPE_CONTEXT_DESC),
        PI_ENUMERATOR(PI_TYPE_QUEUE_DESC),
        PI_ENUMERATOR(PI_TYPE_MEM_BUFFER_DESC),
        PI_ENUMERATOR(PI_TYPE_MEM_IMAGE_DESC),
        PI_ENUMERATOR(PI_TYPE_MEM_PARTITION_DESC),
        PI_ENUMERATOR(PI_TYPE_MEM_LAYOUT_DESC),
        PI_ENUMERATOR(PI_TYPE_MEM_IMPORT_DESC),
        PI_ENUMERATOR(PI_TYPE_MEM_EXPORT_DESC),
        PI_ENUMERATOR(PI_TYPE_MEMORY_CONNECTION_QUERY),
        PI_ENUMERATOR(PI_TYPE_MEMORY_CONNECTION_INFO),
        PI_ENUMERATOR(PI_TYPE_USM_DESC),
        PI_ENUMERATOR(PI_TYPE_USM_POOL_DESC),
        PI_ENUMERATOR(PI_TYPE_PROGRAM_DESC),
        PI_ENUMERATOR(PI_TYPE_PROGRAM_BUILD_DESC),
        PI_ENUMERATOR(PI_TYPE_PROGRAM_LINK_DESC),
        PI_ENUMERATOR(PI_TYPE_SAMPLER_DESC),
        PI_ENUMERATOR(PI_TYPE_DEVICE_PARTITION_DESC),
        PI_ENUMERATOR(PI_TYPE_NATIVE_DESC),
        PI_ENUMERATOR(PI_TYPE_BUFFER_READ_DESC),
        PI_ENUMERATOR(PI_TYPE_BUFFER_WRITE_DESC),
        PI_ENUMERATOR(PI_TYPE_BUFFER_COPY_DESC),
        PI_ENUMERATOR(PI_TYPE_BUFFER_FILL_DESC),
        PI_ENUMERATOR(PI_TYPE_BUFFER_MAP_DESC),
        PI_ENUMERATOR(PI_TYPE_UNMAP_DESC),
        PI_ENUMERATOR(PI_TYPE_IMAGE_READ_DESC),
        PI_ENUMERATOR(PI_TYPE_IMAGE_WRITE_DESC),
        PI_ENUMERATOR(PI_TYPE_IMAGE_COPY_DESC),
        PI_ENUMERATOR(PI_TYPE_IMAGE_FILL_DESC),
        PI_ENUMERATOR(PI_TYPE_USM_COPY_DESC),
        PI_ENUMERATOR(PI_TYPE_USM_FILL_DESC),
        PI_ENUMERATOR(PI_TYPE_USM_PREFETCH_DESC),
        PI_ENUMERATOR(PI_TYPE_USM_ADVISE_DESC),
        PI_ENUMERATOR(PI_TYPE_USM_ALLOC_DESC),
        PI_ENUMERATOR(PI_TYPE_USM_FREE_DESC),
        PI_ENUMERATOR(PI_TYPE_KERNEL_LAUNCH_DESC),
        PI_ENUMERATOR(PI_TYPE_HOST_FUNCTION_DESC),
        PI_ENUMERATOR(PI_TYPE_EVENTS_WAIT_DESC),
        PI_ENUMERATOR(PI_TYPE_BARRIER_DESC),
        PI_ENUMERATOR(PI_TYPE_TIMESTAMP_DESC),
        PI_ENUMERATOR(PI_TYPE_DEVICE_GLOBAL_READ_DESC),
        PI_ENUMERATOR(PI_TYPE_DEVICE_GLOBAL_WRITE_DESC),
        PI_ENUMERATOR(PI_TYPE_KERNEL_DESC),
        PI_ENUMERATOR(PI_TYPE_HOST_EVENT_DESC),
        PI_ENUMERATOR(PI_TYPE_MEMORY_VERIFICATION_DESC),
    };
    return detail::find_enumerator(table, type);
}

inline Enumerator name_memory_kind(pi_memory_kind kind) noexcept {
    static constexpr Enumerator table[] = {
        PI_ENUMERATOR(PI_MEMORY_KIND_BUFFER),     PI_ENUMERATOR(PI_MEMORY_KIND_IMAGE),
        PI_ENUMERATOR(PI_MEMORY_KIND_USM_HOST),   PI_ENUMERATOR(PI_MEMORY_KIND_USM_DEVICE),
        PI_ENUMERATOR(PI_MEMORY_KIND_USM_SHARED), PI_ENUMERATOR(PI_MEMORY_KIND_IMPORTED),
    };
    return detail::find_enumerator(table, kind);
}

inline Enumerator name_usm_kind(pi_usm_kind kind) noexcept {
    static constexpr Enumerator table[] = {
        PI_ENUMERATOR(PI_USM_HOST),
        PI_ENUMERATOR(PI_USM_DEVICE),
        PI_ENUMERATOR(PI_USM_SHARED),
    };
    return detail::find_enumerator(table, kind);
}

inline Enumerator name_argument_kind(pi_argument_kind kind) noexcept {
    static constexpr Enumerator table[] = {
        PI_ENUMERATOR(PI_ARGUMENT_VALUE),   PI_ENUMERATOR(PI_ARGUMENT_BUFFER),
        PI_ENUMERATOR(PI_ARGUMENT_IMAGE),   PI_ENUMERATOR(PI_ARGUMENT_SAMPLER),
        PI_ENUMERATOR(PI_ARGUMENT_POINTER), PI_ENUMERATOR(PI_ARGUMENT_LOCAL),
    };
    return detail::find_enumerator(table, kind);
}

inline Enumerator name_addressing(pi_addressing_mode mode) noexcept {
    static constexpr Enumerator table[] = {
        PI_ENUMERATOR(PI_ADDRESSING_NONE),
        PI_ENUMERATOR(PI_ADDRESSING_CLAMP_TO_EDGE),
        PI_ENUMERATOR(PI_ADDRESSING_CLAMP),
        PI_ENUMERATOR(PI_ADDRESSING_REPEAT),
        PI_ENUMERATOR(PI_ADDRESSING_MIRRORED_REPEAT),
    };
    return detail::find_enumerator(table, mode);
}

inline Enumerator name_channel_order(pi_channel_order order) noexcept {
    static constexpr Enumerator table[] = {
        PI_ENUMERATOR(PI_CHANNEL_ORDER_R),
        PI_ENUMERATOR(PI_CHANNEL_ORDER_RG),
        PI_ENUMERATOR(PI_CHANNEL_ORDER_RGBA),
        PI_ENUMERATOR(PI_CHANNEL_ORDER_BGRA),
    };
    return detail::find_enumerator(table, order);
}

inline Enumerator name_channel_type(pi_channel_type type) noexcept {
    static constexpr Enumerator table[] = {
        PI_ENUMERATOR(PI_CHANNEL_UNORM8), PI_ENUMERATOR(PI_CHANNEL_UNORM16),
        PI_ENUMERATOR(PI_CHANNEL_SNORM8), PI_ENUMERATOR(PI_CHANNEL_SNORM16),
        PI_ENUMERATOR(PI_CHANNEL_UINT8),  PI_ENUMERATOR(PI_CHANNEL_UINT16),
        PI_ENUMERATOR(PI_CHANNEL_UINT32), PI_ENUMERATOR(PI_CHANNEL_SINT8),
        PI_ENUMERATOR(PI_CHANNEL_SINT16), PI_ENUMERATOR(PI_CHANNEL_SINT32),
        PI_ENUMERATOR(PI_CHANNEL_HALF),   PI_ENUMERATOR(PI_CHANNEL_FLOAT),
    };
    return detail::find_enumerator(table, type);
}

} // namespace pi::checks
