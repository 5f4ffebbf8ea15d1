// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports of leaked objects, in one format for all layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pi::loader {

class PluginInstance;

/// An object that the application created and did not release.
struct Leak {
    const void *handle;
    const char *what;        ///< its kind's name
    std::size_t creator;     ///< the row of the function that created it
    uint64_t call;           ///< the number of that function's call; 0: a query returned it
    uint64_t serial;         ///< the order of the list
    uint32_t references = 0; ///< 0: it has no reference count, but is freed
};

/// "created by piMemBufferCreate, call 17".
std::string made_by(std::size_t creator, uint64_t call);

/// Logs a warning for each of the first fifty, and the number of the others. If the layer
/// leak-origin is enabled, each warning ends with where the object was created.
void report_leaks(const PluginInstance &instance, std::vector<Leak> leaks);

} // namespace pi::loader
