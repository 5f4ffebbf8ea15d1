// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.hpp"
#include "entries.hpp"
#include "registration.hpp"

#include <algorithm>

namespace pi::cuda {

using namespace sdk;

Context::Context(Platform &platform, std::vector<Device *> devices)
    : Object(platform.host()), platform_(platform), devices_(std::move(devices)) {
    for (Device *device : devices_)
        primaries_.push_back(device->primary());
}

Context::~Context() {
    instance().usm().drop(this);
}

void Context::add_pin(std::byte *begin, uint64_t size) {
    std::shared_ptr<void> pin =
        instance().registrations().pin_pages(pinning(*primaries_.front()), begin, size);
    std::lock_guard lock(pins_mutex_);
    pins_.emplace(begin, std::move(pin));
}

void Context::remove_pin(const void *begin) {
    decltype(pins_)::node_type gone; // destroyed after the lock is released
    std::lock_guard lock(pins_mutex_);
    const auto [first, end] = pins_.equal_range(begin);
    if (first == end)
        fail(PI_ERROR_INVALID_VALUE, "pointer is ", begin,
             "; a pointer that piUsmHostRegister registered with this context is needed");
    gone = pins_.extract(std::prev(end));
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
