// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common parts of the test plugins. They use only the api, like any third-party plugin.
#pragma once

#include <pi/pi_plugin.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include <dlfcn.h>

namespace test_plugin {

/// A function of the slot's type that refuses without a text.
template <typename Function>
struct Refusal;
template <typename... Arguments>
struct Refusal<pi_result (*)(Arguments...)> {
    static pi_result PI_CALL call(Arguments...) { return PI_ERROR_UNSUPPORTED_FEATURE; }
};

/// Fills the required slots that are still empty, so that the table is complete.
inline void fill_required(pi_dispatch &table) {
    table.struct_size = sizeof table;
    table.version_major = PI_VERSION_MAJOR;
    table.version_minor = PI_VERSION_MINOR;
#define PI_FUNCTION(name, group, needs, since)                                                     \
    if (std::string_view(#group) == "REQUIRED" && table.name == nullptr)                           \
        table.name = &Refusal<decltype(table.name)>::call;
#include <pi/pi_functions.def>
}

/// The info convention of pi.h.
inline pi_result give(const void *data, uint64_t needed, uint64_t size, void *value,
                      uint64_t *out_size) {
    if (value != nullptr && size < needed)
        return PI_ERROR_INVALID_SIZE;
    if (value != nullptr)
        std::memcpy(value, data, needed);
    if (out_size != nullptr)
        *out_size = needed;
    return PI_SUCCESS;
}

/// The list convention of pi.h for one handle.
template <typename Handle>
pi_result give_one(Handle handle, uint32_t capacity, Handle *out, uint32_t *out_count) {
    if (out != nullptr && capacity > 0)
        out[0] = handle;
    if (out_count != nullptr)
        *out_count = 1;
    return PI_SUCCESS;
}

/// Blocks until the test writes a file with the plugin's file name and ".go". Not forever, so that
/// a failed test ends.
inline void wait_for_test() {
    Dl_info info = {};
    static const char anchor = 0;
    if (::dladdr(&anchor, &info) == 0)
        return;
    const std::string file = std::string(info.dli_fname) + ".go";
    for (int i = 0; i < 60000 && !std::ifstream(file).good(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

} // namespace test_plugin
