// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names that info functions answer, as pi.h lists them.
#pragma once

#include <pi/pi.h>

#include <cstdint>
#include <span>
#include <string>

namespace pi::suite {

/// The type of an info, from its enumerator's comment.
struct InfoType {
    /// `outputs`: an array of pointers of the caller, at which the query writes.
    enum Shape { value, array, string, outputs } shape;
    uint64_t size; // of the value or an element, bytes
};
template <typename T>
constexpr InfoType value_of{InfoType::value, sizeof(T)};
template <typename T>
constexpr InfoType array_of{InfoType::array, sizeof(T)};
constexpr InfoType string_info{InfoType::string, 1};

struct InfoName {
    uint32_t name;
    const char *text;
    InfoType type;
    bool required = false; // every object can answer it
    uint32_t since = 0;    // the minor version that added it
};

/// The names of each info function.
std::span<const InfoName> plugin_info_names();
std::span<const InfoName> platform_info_names();
std::span<const InfoName> device_info_names();
std::span<const InfoName> context_info_names();
std::span<const InfoName> queue_info_names();
std::span<const InfoName> mem_info_names();
std::span<const InfoName> program_info_names();
std::span<const InfoName> program_build_info_names();
std::span<const InfoName> kernel_info_names();
std::span<const InfoName> kernel_group_info_names();
std::span<const InfoName> kernel_sub_group_info_names();
std::span<const InfoName> sampler_info_names();
std::span<const InfoName> event_info_names();
std::span<const InfoName> profiling_info_names();

/// A function of any type, only to be compared with others.
using AnyFunction = void (*)();

/// "PI_DEVICE_INFO_NAME" for piDeviceGetInfo and 2; the number if no table has it.
std::string info_text(AnyFunction function, uint32_t name);

} // namespace pi::suite
