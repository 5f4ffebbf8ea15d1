// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.hpp"
#include "entries.hpp"

#include <pi/sdk/enqueue.hpp>

#include <algorithm>

namespace pi::opencl {

using namespace sdk;

namespace {

ContextOwner create_vendor_context(const Platform &platform, const std::vector<Device *> &devices) {
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform.id()), 0};
    const std::vector<cl_device_id> ids = ids_of(devices);
    cl_int code = CL_SUCCESS;
    const cl_context context = platform.api().clCreateContext(
        properties, static_cast<cl_uint>(ids.size()), ids.data(), nullptr, nullptr, &code);
    check(code, "clCreateContext", ids.size(), " devices of ", platform.name());
    return {platform.api(), context};
}

} // namespace

Context::Context(Platform &platform, std::vector<Device *> devices, ContextOwner vendor)
    : Object(platform.host()), platform_(platform), devices_(std::move(devices)),
      vendor_(vendor ? std::move(vendor) : create_vendor_context(platform, devices_)),
      private_queues_(devices_.size()) {
    for (Device *device : devices_)
        device_refs_.emplace_back(*device);
    instance().start_threads();
}

Device &Context::checked_device(pi_device device, const sdk::ArgumentName &name) const {
    Device &self = checked<Device>(host(), device, name);
    for (Device *own : devices_)
        if (own->id() == self.id())
            return *own;
    fail(PI_ERROR_INVALID_DEVICE, name, " (", self.name(), ") is not of ", description());
}

std::string Context::description() const {
    std::string words = text("context ", this, " (");
    for (const Device *device : devices_)
        words += (device == devices_.front() ? "" : ", ") + device->name();
    return words + " of " + platform_.name() + ")";
}

cl_command_queue Context::private_queue(const Device &device, Purpose purpose) {
    const auto index = static_cast<size_t>(std::find(devices_.begin(), devices_.end(), &device) -
                                           devices_.begin());
    std::lock_guard lock(mutex_);
    QueueOwner &queue = private_queues_.at(index).queues[static_cast<size_t>(purpose)];
    if (!queue)
        // With profiling: the application's maps go here, and its own queue may have profiling.
        queue = create_vendor_queue(
            device, id(), device.quirk(QUIRK_NO_PROFILING) ? 0 : CL_QUEUE_PROFILING_ENABLE);
    return queue.get();
}

void *Context::unused_usm() {
    std::lock_guard lock(mutex_);
    if (!unused_usm_)
        unused_usm_.emplace(id(), *devices_.front(), PI_USM_DEVICE, 1, 1);
    return unused_usm_->data();
}

namespace entries {

pi_result PI_CALL piContextCreate(pi_platform platform, const pi_context_desc *desc,
                                  pi_context *out_context) {
    return call<Platform>(platform, [&](Platform &self) {
        const pi_context_desc known = read_desc(desc, PI_TYPE_CONTEXT_DESC);
        require(out_context, "out_context");
        enforce<checks::check_context>(known);
        std::vector<Device *> devices = read_handles<Device>(
            self.host(), known.device_count, known.devices, "desc->devices",
            [&](Device &device, const ArgumentName &name) {
                // Some ICDs crash on a context over two platforms instead of refusing it.
                if (&device.platform() != &self)
                    fail(PI_ERROR_INVALID_DEVICE, name, " is of platform ",
                         device.platform().name(), ", the context is for ", self.name());
            });
        *out_context = make<Context>(self, std::move(devices)).give();
    });
}

} // namespace entries
} // namespace pi::opencl
