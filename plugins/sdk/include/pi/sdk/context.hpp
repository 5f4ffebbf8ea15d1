// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The info queries of all plugins' contexts, and their creation in plugins with one platform.
//
// A Context has `platform()`, `devices()` (pointers, in its descriptor's order) and a reference
// count.
#pragma once

#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/object.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace pi::sdk {

/// The device of an argument; PI_ERROR_INVALID_DEVICE unless it is one of the context's. Devices
/// have a description() for messages.
template <class Context>
auto &checked_member(const Context &context, pi_device handle, const ArgumentName &name) {
    const auto &devices = context.devices();
    using Device = std::remove_pointer_t<std::remove_cvref_t<decltype(devices.front())>>;
    Device &device = checked<Device>(context.host(), handle, name);
    if (std::find(devices.begin(), devices.end(), &device) == devices.end())
        fail(PI_ERROR_INVALID_DEVICE, name, " (", device.description(), ") is not one of the ",
             devices.size(), " devices of the context");
    return device;
}

/// The entries that all plugins share.
template <class Context>
struct context_entries {
    static constexpr InfoRow<Context> rows[] = {
        {PI_CONTEXT_INFO_DEVICES,
         [](Context &context, const InfoWriter &write) {
             std::vector<pi_device> handles;
             for (auto *device : context.devices())
                 handles.push_back(device->handle());
             write(handles);
         }},
        {PI_CONTEXT_INFO_PLATFORM,
         [](Context &context, const InfoWriter &write) { write(context.platform().handle()); }},
        {PI_CONTEXT_INFO_REFERENCE_COUNT,
         [](Context &context, const InfoWriter &write) { write(context.reference_count()); }},
    };
    static pi_result PI_CALL get_info(pi_context context, pi_context_info name, uint64_t size,
                                      void *value, uint64_t *out_size) {
        return call<Context>(
            context, [&](Context &self) { answer_info(self, rows, name, size, value, out_size); });
    }

    /// Fills the slots of a plugin's table except piContextCreate.
    static constexpr void fill(pi_dispatch &table) {
        table.piContextRetain = retain_entry<Context>;
        table.piContextRelease = release_entry<Context>;
        table.piContextGetInfo = get_info;
    }
};

/// piContextCreate of a plugin with one platform, whose devices can all be in one context.
template <class Context, class Platform>
pi_result PI_CALL context_create(pi_platform platform, const pi_context_desc *desc,
                                 pi_context *out_context) {
    using Devices = std::remove_cvref_t<decltype(std::declval<Context &>().devices())>;
    using Device = std::remove_pointer_t<typename Devices::value_type>;
    return call<Platform>(platform, [&](Platform &self) {
        const pi_context_desc known = read_desc(desc, PI_TYPE_CONTEXT_DESC);
        require(out_context, "out_context");
        enforce<checks::check_context>(known);
        std::vector<Device *> devices =
            read_handles<Device>(self.host(), known.device_count, known.devices, "desc->devices");
        *out_context = make<Context>(self, std::move(devices)).give();
    });
}

} // namespace pi::sdk
