// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "layers/layers.hpp"

#include "error.hpp"

namespace pi::loader {

std::span<const Layer *const> shipped_layers() noexcept {
    static constexpr const Layer *layers[] = {&validate_layer, &leak_origin_layer, &race_layer,
                                              &trace_layer,    &record_layer,      &fault_layer};
    return layers;
}

std::size_t find_function(std::string_view name) noexcept {
    std::size_t i = 0;
    while (i < function_rows.size() && function_rows[i].name != name)
        ++i;
    return i;
}

bool is_root_device(pi_device device) noexcept {
    const ErrorScope scope;
    pi_device parent = nullptr;
    queries_of(device).piDeviceGetInfo(device, PI_DEVICE_INFO_PARENT, sizeof parent, &parent,
                                       nullptr);
    return parent == nullptr;
}

} // namespace pi::loader
