// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.hpp"
#include "entries.hpp"

#include <algorithm>

namespace pi::cuda {

using namespace sdk;

Context::Context(Platform &platform, std::vector<Device *> devices)
    : Object(platform.host()), platform_(platform), devices_(std::move(devices)) {
    for (Device *device : devices_)
        primaries_.push_back(device->primary());
}

Primary &Context::primary(const Device &device) const {
    const auto found = std::find(devices_.begin(), devices_.end(), &device);
    return *primaries_[static_cast<size_t>(found - devices_.begin())];
}

namespace entries {

pi_result PI_CALL piContextCreate(pi_platform platform, const pi_context_desc *desc,
                                  pi_context *out_context) {
    return context_create<Context, Platform>(platform, desc, out_context);
}

} // namespace entries
} // namespace pi::cuda
