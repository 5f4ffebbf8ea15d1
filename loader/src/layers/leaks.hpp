// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How layers tell of what an application has left behind: one list, whichever layer knows of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pi::loader {

class PluginInstance;

/// Something that the application has made and not given back.
struct Leak {
    const void *handle;
    const char *what;        ///< its kind's name
    std::size_t creator;     ///< the row of the function that made it
    uint64_t call;           ///< the number of that function's call; 0: it was found, not made
    uint64_t serial;         ///< the order of the list
    uint32_t references = 0; ///< 0: it is not counted, but freed
};

/// "made by piMemBufferCreate, call 17".
std::string made_by(std::size_t creator, uint64_t call);

/// A warning for each, the first fifty of them, and how many more there are. Where the layer leak-origin is
/// enabled, each has behind it where it was made.
void report_leaks(const PluginInstance &instance, std::vector<Leak> leaks);

} // namespace pi::loader
