// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handles that a call returns: new objects, lists, and infos.
#pragma once

#include "layers/layers.hpp"
#include "layers/validate/arguments.hpp"

#include <tuple>

namespace pi::loader::validate {

/// An info that is a handle, or several; kind 0: the reference count.
struct HandleInfo {
    std::size_t function;
    uint32_t name;
    pi_kind kind;
};
#define PI_VALIDATE_INFO(function, name, kind)                                                     \
    { slot_index(offsetof(pi_dispatch, function)), name, kind }
inline constexpr HandleInfo handle_infos[] = {
    PI_VALIDATE_INFO(piPlatformGetInfo, PI_PLATFORM_INFO_PLUGIN, PI_KIND_PLUGIN),
    PI_VALIDATE_INFO(piDeviceGetInfo, PI_DEVICE_INFO_PLATFORM, PI_KIND_PLATFORM),
    PI_VALIDATE_INFO(piDeviceGetInfo, PI_DEVICE_INFO_PARENT, PI_KIND_DEVICE),
    PI_VALIDATE_INFO(piDeviceGetInfo, PI_DEVICE_INFO_REFERENCE_COUNT, 0),
    PI_VALIDATE_INFO(piContextGetInfo, PI_CONTEXT_INFO_DEVICES, PI_KIND_DEVICE),
    PI_VALIDATE_INFO(piContextGetInfo, PI_CONTEXT_INFO_PLATFORM, PI_KIND_PLATFORM),
    PI_VALIDATE_INFO(piContextGetInfo, PI_CONTEXT_INFO_REFERENCE_COUNT, 0),
    PI_VALIDATE_INFO(piQueueGetInfo, PI_QUEUE_INFO_CONTEXT, PI_KIND_CONTEXT),
    PI_VALIDATE_INFO(piQueueGetInfo, PI_QUEUE_INFO_DEVICE, PI_KIND_DEVICE),
    PI_VALIDATE_INFO(piQueueGetInfo, PI_QUEUE_INFO_REFERENCE_COUNT, 0),
    PI_VALIDATE_INFO(piMemGetInfo, PI_MEM_INFO_CONTEXT, PI_KIND_CONTEXT),
    PI_VALIDATE_INFO(piMemGetInfo, PI_MEM_INFO_DEVICE, PI_KIND_DEVICE),
    PI_VALIDATE_INFO(piMemGetInfo, PI_MEM_INFO_PARENT, PI_KIND_MEM),
    PI_VALIDATE_INFO(piMemGetInfo, PI_MEM_INFO_REFERENCE_COUNT, 0),
    PI_VALIDATE_INFO(piUsmGetInfo, PI_USM_INFO_DEVICE, PI_KIND_DEVICE),
    PI_VALIDATE_INFO(piUsmGetInfo, PI_USM_INFO_POOL, PI_KIND_USM_POOL),
    PI_VALIDATE_INFO(piUsmPoolGetInfo, PI_USM_POOL_INFO_CONTEXT, PI_KIND_CONTEXT),
    PI_VALIDATE_INFO(piUsmPoolGetInfo, PI_USM_POOL_INFO_REFERENCE_COUNT, 0),
    PI_VALIDATE_INFO(piProgramGetInfo, PI_PROGRAM_INFO_CONTEXT, PI_KIND_CONTEXT),
    PI_VALIDATE_INFO(piProgramGetInfo, PI_PROGRAM_INFO_DEVICES, PI_KIND_DEVICE),
    PI_VALIDATE_INFO(piProgramGetInfo, PI_PROGRAM_INFO_REFERENCE_COUNT, 0),
    PI_VALIDATE_INFO(piKernelGetInfo, PI_KERNEL_INFO_PROGRAM, PI_KIND_PROGRAM),
    PI_VALIDATE_INFO(piKernelGetInfo, PI_KERNEL_INFO_CONTEXT, PI_KIND_CONTEXT),
    PI_VALIDATE_INFO(piKernelGetInfo, PI_KERNEL_INFO_REFERENCE_COUNT, 0),
    PI_VALIDATE_INFO(piSamplerGetInfo, PI_SAMPLER_INFO_CONTEXT, PI_KIND_CONTEXT),
    PI_VALIDATE_INFO(piSamplerGetInfo, PI_SAMPLER_INFO_REFERENCE_COUNT, 0),
    PI_VALIDATE_INFO(piEventGetInfo, PI_EVENT_INFO_CONTEXT, PI_KIND_CONTEXT),
    PI_VALIDATE_INFO(piEventGetInfo, PI_EVENT_INFO_QUEUE, PI_KIND_QUEUE),
    PI_VALIDATE_INFO(piEventGetInfo, PI_EVENT_INFO_REFERENCE_COUNT, 0)};
#undef PI_VALIDATE_INFO

constexpr bool has_handle_infos(std::size_t function) {
    for (const HandleInfo &row : handle_infos) {
        if (row.function == function)
            return true;
    }
    return false;
}

/// Reads the value of an info that `owner` returned; `size` bytes of it are valid.
void see_info(Validator &validator, std::size_t function, void *owner, uint32_t name, uint64_t size,
              void *value);

/// (capacity, out_handles, out_count) at the end.
template <typename... Parameters>
inline constexpr bool makes_list = false;
template <typename A, typename B, typename... Rest>
inline constexpr bool makes_list<A, B, Rest...> =
    sizeof...(Rest) == 1 ? std::is_same_v<A, uint32_t> &&is_out_handle<B> : makes_list<B, Rest...>;

} // namespace pi::loader::validate
