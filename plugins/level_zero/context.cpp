// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.hpp"
#include "entries.hpp"
#include "registration.hpp"

namespace pi::level_zero {

using namespace sdk;

Context::Context(Platform &platform, std::vector<Device *> devices)
    : Object(platform.host()), platform_(platform), devices_(std::move(devices)),
      driver_(std::make_shared<DriverContext>(platform, devices_)) {}

Context::Context(Platform &platform, std::vector<Device *> devices, ze_context_handle_t native,
                 std::shared_ptr<const bool> own)
    : Object(platform.host()), platform_(platform), devices_(std::move(devices)),
      driver_(std::make_shared<DriverContext>(platform, devices_, native, std::move(own))) {}

Context::~Context() {
    instance().usm().drop(this);
    pins_.clear();
    driver_->retire();
}

Device &Context::checked_device(pi_device handle, const ArgumentName &name) const {
    Device &device = checked<Device>(host(), handle, name);
    for (Device *own : devices_)
        if (own->id() == device.id())
            return *own;
    fail(PI_ERROR_INVALID_DEVICE, name, " (", device.description(), ") is not one of the ",
         devices_.size(), " devices of the context");
}

void Context::add_pin(std::byte *begin, uint64_t size) {
    std::shared_ptr<void> pin = pin_pages(platform_, begin, size);
    std::lock_guard lock(pins_mutex_);
    pins_.emplace(begin, std::move(pin));
}

void Context::remove_pin(const void *begin) {
    require_pinning(platform_);
    decltype(pins_)::node_type gone; // destroyed after the lock is released
    std::lock_guard lock(pins_mutex_);
    const auto [first, end] = pins_.equal_range(begin);
    if (first == end)
        fail(PI_ERROR_INVALID_VALUE, "pointer is ", begin,
             "; a pointer that piUsmHostRegister registered with this context is needed");
    gone = pins_.extract(std::prev(end));
}

namespace entries {

pi_result PI_CALL piContextCreate(pi_platform platform, const pi_context_desc *desc,
                                  pi_context *out_context) {
    return call<Platform>(platform, [&](Platform &self) {
        const pi_context_desc known = read_desc(desc, PI_TYPE_CONTEXT_DESC);
        require(out_context, "out_context");
        enforce<checks::check_context>(known);
        std::vector<Device *> devices =
            read_handles<Device>(self.host(), known.device_count, known.devices, "desc->devices",
                                 [&](const Device &device, const ArgumentName &name) {
                                     if (&device.platform() != &self)
                                         fail(PI_ERROR_INVALID_DEVICE, name, " (", device.name(),
                                              ") belongs to another driver than platform");
                                 });
        *out_context = make<Context>(self, std::move(devices)).give();
    });
}

} // namespace entries
} // namespace pi::level_zero
