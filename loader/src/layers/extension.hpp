// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An extension table that a layer adds to the plugin's (piPluginGetExtension).
#pragma once

#include "error.hpp"

#include <pi/pi_plugin.h>

#include <cstring>

namespace pi::loader {

/// piPluginGetExtension of a layer: returns the layer's own table, else calls the next one.
template <typename Table>
pi_result get_extension(const pi_dispatch &next, const Table &own, const char *own_name,
                        pi_plugin plugin, const char *name, uint64_t min_size,
                        const void **out_table) {
    if (name == nullptr || std::strcmp(name, own_name) != 0)
        return next.piPluginGetExtension(plugin, name, min_size, out_table);
    if (out_table == nullptr)
        return fail(PI_ERROR_INVALID_NULL_POINTER, "piPluginGetExtension: out_table is NULL");
    if (min_size > own.size)
        return fail(PI_ERROR_UNSUPPORTED_FEATURE,
                    "piPluginGetExtension: min_size is {}; this table has {} bytes", min_size,
                    own.size);
    *out_table = &own;
    return PI_SUCCESS;
}

} // namespace pi::loader
