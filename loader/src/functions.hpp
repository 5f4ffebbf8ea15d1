// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pi_functions.def as data, and properties of each kind of handle.
#pragma once

#include <pi/pi_plugin.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pi::loader {

/// One slot of the dispatch table.
struct FunctionRow {
    const char *name;
    const char *group;
    uint64_t capability; ///< the group's bit; 0 for required and optional functions
    bool required;
    uint16_t since;
    std::size_t offset; ///< of the slot in pi_dispatch
};

namespace detail {

// The two groups of pi_functions.def without a capability bit.
inline constexpr uint64_t PI_CAPABILITY_REQUIRED = 0;
inline constexpr uint64_t PI_CAPABILITY_OPTIONAL = 0;

constexpr bool is_required(const char *group) {
    return group[0] == 'R' && group[1] == 'E' && group[2] == 'Q';
}

inline constexpr FunctionRow rows[] = {
#define PI_FUNCTION(name, group, needs, since)                                                     \
    {#name,                                                                                        \
     #group,                                                                                       \
     static_cast<uint64_t>(PI_CAPABILITY_##group),                                                 \
     is_required(#group),                                                                          \
     since,                                                                                        \
     offsetof(pi_dispatch, name)},
#include <pi/pi_functions.def>
};

} // namespace detail

inline constexpr auto function_rows = std::to_array(detail::rows);

// Slots are read and cleared by offset, so they must be adjacent pointers.
static_assert(sizeof(pi_dispatch) ==
              detail::rows[0].offset + function_rows.size() * sizeof(void *));

/// For each handle type: its kind, the error for a wrong handle, and its name in messages.
template <typename Handle>
struct HandleTraits;
#define PI_LOADER_HANDLE(type, word, upper)                                                        \
    template <>                                                                                    \
    struct HandleTraits<type> {                                                                    \
        static constexpr pi_kind kind = PI_KIND_##word;                                            \
        static constexpr pi_result error = upper;                                                  \
    };
PI_LOADER_HANDLE(pi_loader, LOADER, PI_ERROR_INVALID_LOADER)
PI_LOADER_HANDLE(pi_plugin, PLUGIN, PI_ERROR_INVALID_PLUGIN)
PI_LOADER_HANDLE(pi_platform, PLATFORM, PI_ERROR_INVALID_PLATFORM)
PI_LOADER_HANDLE(pi_device, DEVICE, PI_ERROR_INVALID_DEVICE)
PI_LOADER_HANDLE(pi_context, CONTEXT, PI_ERROR_INVALID_CONTEXT)
PI_LOADER_HANDLE(pi_queue, QUEUE, PI_ERROR_INVALID_QUEUE)
PI_LOADER_HANDLE(pi_mem, MEM, PI_ERROR_INVALID_MEM_OBJECT)
PI_LOADER_HANDLE(pi_event, EVENT, PI_ERROR_INVALID_EVENT)
PI_LOADER_HANDLE(pi_program, PROGRAM, PI_ERROR_INVALID_PROGRAM)
PI_LOADER_HANDLE(pi_kernel, KERNEL, PI_ERROR_INVALID_KERNEL)
PI_LOADER_HANDLE(pi_sampler, SAMPLER, PI_ERROR_INVALID_SAMPLER)
PI_LOADER_HANDLE(pi_usm_pool, USM_POOL, PI_ERROR_INVALID_USM_POOL)
#undef PI_LOADER_HANDLE

/// "queue" for PI_KIND_QUEUE; "object" for an unknown kind.
const char *kind_name(pi_kind kind) noexcept;

template <typename Handle>
const pi_object_header *header_of(Handle handle) noexcept {
    static_assert(HandleTraits<Handle>::kind != 0);
    return reinterpret_cast<const pi_object_header *>(handle);
}

/// The table in a handle that is not NULL.
template <typename Handle>
const pi_dispatch *dispatch_of(Handle handle) noexcept {
    return header_of(handle)->dispatch;
}

/// Whether it is an object of the kind that its type says, created by the plugin instance whose
/// outermost table this is.
template <typename Handle>
bool belongs_to(Handle handle, const pi_dispatch *dispatch) noexcept {
    return handle != nullptr && dispatch_of(handle) == dispatch &&
           header_of(handle)->kind == HandleTraits<Handle>::kind;
}

} // namespace pi::loader
