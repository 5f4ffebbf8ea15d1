// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.hpp"

#include "entries.hpp"

#include <pi/sdk/descriptor.hpp>

#include <algorithm>

namespace pi::sim {

using sdk::InfoWriter;

Device &Context::device(pi_device handle, const sdk::ArgumentName &name) const {
    Device &device = sdk::checked<Device>(host(), handle, name);
    if (std::find(devices_.begin(), devices_.end(), &device) == devices_.end())
        sdk::fail(PI_ERROR_INVALID_DEVICE, name, " (", device.spec().name, ") is none of the ",
                  devices_.size(), " devices of the context");
    return device;
}

namespace entries {

pi_result PI_CALL context_create(pi_platform platform, const pi_context_desc *desc,
                                 pi_context *out_context) {
    return sdk::call<Platform>(platform, [&](Platform &self) {
        const pi_context_desc known = sdk::read_desc(desc, PI_TYPE_CONTEXT_DESC);
        sdk::require(out_context, "out_context");
        sdk::check_flags(known.flags, 0, "flags");
        if (!known.device_count)
            sdk::fail(PI_ERROR_INVALID_SIZE, "device_count is 0; at least 1 is needed");
        std::vector<Device *> devices =
            sdk::read_handles<Device>(self.host(), known.device_count, known.devices, "devices");
        *out_context = sdk::make<Context>(self, std::move(devices)).give();
    });
}

pi_result PI_CALL context_get_info(pi_context context, pi_context_info name, uint64_t size,
                                   void *value, uint64_t *out_size) {
    static constexpr sdk::InfoRow<Context> rows[] = {
        {PI_CONTEXT_INFO_DEVICES,
         [](Context &c, const InfoWriter &write) {
             std::vector<pi_device> handles;
             for (Device *device : c.devices())
                 handles.push_back(device->handle());
             write(handles);
         }},
        {PI_CONTEXT_INFO_PLATFORM,
         [](Context &c, const InfoWriter &write) { write(c.platform().handle()); }},
        {PI_CONTEXT_INFO_REFERENCE_COUNT,
         [](Context &c, const InfoWriter &write) { write(c.reference_count()); }},
    };
    return sdk::call<Context>(
        context, [&](Context &self) { sdk::answer_info(self, rows, name, size, value, out_size); });
}

} // namespace entries

} // namespace pi::sim
