// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "error.hpp"
#include "functions.hpp"
#include "layers/fault/fault.hpp"
#include "layers/layers.hpp"
#include "loader.hpp"
#include "text.hpp"

namespace pi::loader {
namespace {

constexpr const char *counts_name = "piLoaderGetCallCounts";

pi_result get_call_counts(pi_loader loader, pi_plugin plugin, uint32_t capacity,
                          pi_call_count *out_counts, uint32_t *out_count) {
    if (const pi_result result = check_loader(counts_name, loader))
        return result;
    const PluginInstance *found = nullptr;
    for (const auto &instance : loader->instances)
        found = instance->handle() == plugin ? instance.get() : found;
    if (plugin == nullptr || found == nullptr)
        return fail(PI_ERROR_INVALID_PLUGIN, "{}: plugin {} is not a plugin of this loader",
                    counts_name, static_cast<const void *>(plugin));
    const auto *faults = static_cast<const fault::Faults *>(found->chain().data(fault_layer));
    if (faults == nullptr)
        return fail(
            PI_ERROR_INVALID_OPERATION,
            "{}: the layer \"fault\", which counts calls, is not enabled; enable it in PI_LAYERS",
            counts_name);
    std::vector<pi_call_count> counts;
    for (std::size_t i = 0; i < function_rows.size(); ++i)
        counts.push_back({function_rows[i].name, faults->count(i)});
    return write_list(counts_name, counts, capacity, out_counts, out_count);
}

} // namespace
} // namespace pi::loader

pi_result piLoaderGetCallCounts(pi_loader loader, pi_plugin plugin, uint32_t capacity,
                                pi_call_count *out_counts, uint32_t *out_count) {
    return pi::loader::guarded(pi::loader::counts_name, [&] {
        return pi::loader::get_call_counts(loader, plugin, capacity, out_counts, out_count);
    });
}
