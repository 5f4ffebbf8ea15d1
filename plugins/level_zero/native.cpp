// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native handles: the driver's handles of PI's objects, and PI's objects around the application's
// handles. Handles have no reference counts: one that is not owned must outlive the object.
#include "entries.hpp"
#include "kernel.hpp"
#include "memory.hpp"
#include "sampler.hpp"
#include "submission.hpp"

#include <pi/sdk/native_handle.hpp>

#include <algorithm>

namespace pi::level_zero {

using namespace sdk;

namespace {

// ----- from PI to the driver ---------------------------------------------------------------------

pi_native_handle handle_of(const void *pointer) {
    return native_handle(PI_NATIVE_LEVEL_ZERO, reinterpret_cast<uintptr_t>(pointer));
}

/// get(object) returns the handle, or throws.
template <class T, class Get>
pi_result give_handle(typename T::Handle object, pi_native_handle *out_handle, Get get) {
    return call<T>(object, [&](T &self) {
        require(out_handle, "out_handle");
        *out_handle = get(self);
    });
}

pi_native_handle give_memory(Mem &mem, pi_device device) {
    const Device &user = mem.context().checked_device(device);
    if (!usable(mem.context().place(user), mem))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "mem is memory of ", mem.device().name(), ", which ",
             user.name(), " cannot use: the connection is not UNIFIED");
    if (mem.image())
        return handle_of(mem.image()->id());
    return native_handle(PI_NATIVE_LEVEL_ZERO_POINTER, reinterpret_cast<uintptr_t>(mem.address()));
}

ze_event_handle_t give_event(Event &event) {
    if (!event.payload())
        fail(PI_ERROR_INVALID_OPERATION, "event has no ze_event_handle_t: it is ",
             event.is_host() ? "a host event" : "of a command that the plugin carries out itself");
    const ze_event_handle_t native = static_cast<ListEvent &>(*event.payload()).native(event);
    if (!native)
        fail(PI_ERROR_INVALID_OPERATION, "event has no ze_event_handle_t: its command ",
             event.is_complete() ? "has failed, which Level Zero's events do not"
                                 : "is held by the plugin, and in no list yet");
    return native;
}

// ----- from the driver to PI ---------------------------------------------------------------------

pi_native_desc read_native(const pi_native_desc *desc) {
    const auto known = read_desc(desc, PI_TYPE_NATIVE_DESC);
    native_pointer(known.handle, PI_NATIVE_LEVEL_ZERO, "PI_NATIVE_LEVEL_ZERO");
    return known;
}

template <class T>
T pointer_in(const pi_native_desc &desc) {
    return reinterpret_cast<T>(static_cast<uintptr_t>(desc.handle.value[0]));
}

/// PI_ERROR_INVALID_NATIVE_HANDLE if the driver refuses the handle.
void check_answer(Place &place, ze_result_t code, const char *name, const pi_native_desc &desc) {
    if (code == ZE_RESULT_SUCCESS)
        return;
    place.note(code);
    if (to_result(code) == PI_ERROR_DEVICE_LOST)
        place.check(code, name);
    fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the driver refuses handle.value[0] (",
         pointer_in<void *>(desc), "): ", name, ": ", error_name(code));
}

/// Creates an object with make(own) and returns it to the application. *own says in the end whether
/// the object destroys the handle. It is set last, when nothing can fail any more: a failed call
/// changes nothing.
template <class Object, class Make>
void create_around(const pi_native_desc &desc, Object *out_object, Make &&make) {
    const auto own = std::make_shared<bool>(false);
    auto object = make(std::shared_ptr<const bool>(own));
    *own = desc.flags & PI_NATIVE_OWN;
    *out_object = object.give();
}

/// Finds a root device, or wraps a sub-device.
pi_device find_device(Platform &platform, ze_device_handle_t id) {
    for (const Ref<Device> &device : platform.devices()) {
        if (device->id() == id)
            return device->handle();
        for (const ze_device_handle_t part : device->sub_devices())
            if (part == id)
                return make<Device>(platform, part, device).give();
    }
    fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the ze_device_handle_t ", id,
         " is not one of the platform's devices");
}

/// The devices of a driver's context cannot be queried: use the one that the descriptor names, or
/// else all of the driver's.
std::vector<Device *> context_devices(const Platform &platform, const pi_native_desc &desc) {
    std::vector<Device *> devices;
    if (desc.device) {
        Device &device = checked<Device>(platform.host(), desc.device, "device");
        if (&device.platform() != &platform)
            fail(PI_ERROR_INVALID_DEVICE, "device (", device.name(),
                 ") belongs to another driver than platform");
        return {&device};
    }
    for (const Ref<Device> &device : platform.devices())
        devices.push_back(device.get());
    return devices;
}

Ref<Context> make_context(Platform &platform, const pi_native_desc &desc,
                          std::shared_ptr<const bool> own) {
    const auto id = pointer_in<ze_context_handle_t>(desc);
    const ze_result_t code = platform.api().zeContextGetStatus(id);
    if (code != ZE_RESULT_SUCCESS)
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the driver refuses handle.value[0] (",
             pointer_in<void *>(desc), "): zeContextGetStatus: ", error_name(code));
    return make<Context>(platform, context_devices(platform, desc), id, std::move(own));
}

/// The device of the handle: the one that the descriptor names, or else the only one.
Device &named_device(const Context &context, const std::vector<Device *> &devices,
                     const pi_native_desc &desc, const char *kind) {
    if (!desc.device && devices.size() != 1)
        fail(PI_ERROR_INVALID_DEVICE, "device is NULL; there are ", devices.size(),
             " devices, and a ", kind, " does not identify its device");
    return desc.device ? context.checked_device(desc.device) : *devices.front();
}

Ref<Program> make_program(Context &context, const pi_native_desc &desc,
                          std::shared_ptr<const bool> own) {
    Device &device = named_device(context, context.devices(), desc, "ze_module_handle_t");
    Place &place = context.place(device);
    place.require_alive();
    const auto id = pointer_in<ze_module_handle_t>(desc);
    uint32_t count = 0;
    check_answer(place, place.api().zeModuleGetKernelNames(id, &count, nullptr),
                 "zeModuleGetKernelNames", desc);
    return make<Program>(context, device, std::make_shared<Module>(place, id, std::move(own)));
}

Ref<Kernel> make_kernel(Program &program, const pi_native_desc &desc,
                        std::shared_ptr<const bool> own) {
    program.require_built();
    Device &device = named_device(program.context(), program.devices(), desc, "ze_kernel_handle_t");
    Place &place = program.built_module(device).place();
    const auto id = pointer_in<ze_kernel_handle_t>(desc);
    size_t size = 0;
    check_answer(place, place.api().zeKernelGetName(id, &size, nullptr), "zeKernelGetName", desc);
    return make<Kernel>(program, device, id, std::move(own));
}

/// A ze_sampler_handle_t belongs to one device, but neither sampler call names one.
const Device &only_device(const Context &context) {
    if (context.devices().size() != 1)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the context has ", context.devices().size(),
             " devices, and a ze_sampler_handle_t is of one: a context of one device is needed");
    return *context.devices().front();
}

Ref<Sampler> make_sampler(Context &context, const pi_native_desc &desc,
                          std::shared_ptr<const bool> own) {
    require_images(only_device(context));
    return make<Sampler>(context, pointer_in<ze_sampler_handle_t>(desc), std::move(own));
}

/// Completes the event if the application's ze_event_handle_t has been signalled.
bool finish_with(Event &event, Place &place, ze_event_handle_t native) {
    const ze_result_t code = place.api().zeEventQueryStatus(native);
    if (code == ZE_RESULT_NOT_READY)
        return false;
    place.note(code);
    if (code == ZE_RESULT_SUCCESS)
        event.finish(PI_SUCCESS);
    else
        event.finish(to_result(code) == PI_ERROR_DEVICE_LOST ? PI_ERROR_DEVICE_LOST
                                                             : PI_ERROR_BACKEND,
                     text("zeEventQueryStatus: ", error_name(code),
                          " of the application's ze_event_handle_t ", native));
    return true;
}

/// Commands that depend on it are held by the graph until it is signalled: it may never be
/// signalled, or depend on one of them.
Ref<Event> make_event(Context &context, const pi_native_desc &desc,
                      std::shared_ptr<const bool> own) {
    Place &place = context.driver().first();
    place.require_alive();
    const auto native = pointer_in<ze_event_handle_t>(desc);
    const ze_result_t code = place.api().zeEventQueryStatus(native);
    if (code != ZE_RESULT_NOT_READY)
        check_answer(place, code, "zeEventQueryStatus", desc);
    auto event = make<Event>(context.host(), AnyRef(Ref<Context>(context)), AnyRef(), nullptr,
                             pi_struct_type{PI_TYPE_NATIVE_DESC}, false);
    event->set_payload(std::make_unique<ListEvent>(
        place, std::shared_ptr<void>(native, [&ze = place.api(), own = std::move(own)](void *gone) {
            if (*own)
                ze.zeEventDestroy(static_cast<ze_event_handle_t>(gone));
        })));
    event->submitted();
    if (code == ZE_RESULT_SUCCESS)
        event->finish(PI_SUCCESS);
    else
        context.instance().watcher().add(
            [event, &place, native] { return finish_with(*event, place, native); });
    return event;
}

} // namespace

namespace entries {

pi_result PI_CALL piPlatformGetNativeHandle(pi_platform platform, pi_native_handle *out_handle) {
    return give_handle<Platform>(platform, out_handle,
                                 [](Platform &self) { return handle_of(self.id()); });
}
pi_result PI_CALL piDeviceGetNativeHandle(pi_device device, pi_native_handle *out_handle) {
    return give_handle<Device>(device, out_handle,
                               [](Device &self) { return handle_of(self.id()); });
}
pi_result PI_CALL piContextGetNativeHandle(pi_context context, pi_device device,
                                           pi_native_handle *out_handle) {
    return give_handle<Context>(context, out_handle, [&](Context &self) {
        if (device)
            self.checked_device(device);
        return handle_of(self.driver().id());
    });
}
pi_result PI_CALL piQueueGetNativeHandle(pi_queue queue, pi_native_handle *out_handle) {
    return give_handle<Queue>(queue, out_handle,
                              [](Queue &self) { return handle_of(self.list().id()); });
}
pi_result PI_CALL piMemGetNativeHandle(pi_mem mem, pi_device device, pi_native_handle *out_handle) {
    return give_handle<Mem>(mem, out_handle, [&](Mem &self) { return give_memory(self, device); });
}
pi_result PI_CALL piProgramGetNativeHandle(pi_program program, pi_device device,
                                           pi_native_handle *out_handle) {
    return give_handle<Program>(program, out_handle, [&](Program &self) {
        return handle_of(self.built_module(self.context().checked_device(device)).id());
    });
}
pi_result PI_CALL piKernelGetNativeHandle(pi_kernel kernel, pi_device device,
                                          pi_native_handle *out_handle) {
    return give_handle<Kernel>(kernel, out_handle, [&](Kernel &self) {
        Kernel::Function &function = self.function(self.context().checked_device(device));
        std::lock_guard lock(function.mutex);
        function.given = true;
        return handle_of(function.id);
    });
}
pi_result PI_CALL piSamplerGetNativeHandle(pi_sampler sampler, pi_native_handle *out_handle) {
    return give_handle<Sampler>(sampler, out_handle, [](Sampler &self) {
        return handle_of(self.id(only_device(self.context())));
    });
}
pi_result PI_CALL piEventGetNativeHandle(pi_event event, pi_native_handle *out_handle) {
    return give_handle<Event>(event, out_handle,
                              [](Event &self) { return handle_of(give_event(self)); });
}

pi_result PI_CALL piPlatformCreateWithNativeHandle(pi_plugin plugin, const pi_native_desc *desc,
                                                   pi_platform *out_platform) {
    return call<Instance>(plugin, [&](Instance &self) {
        const auto known = read_native(desc);
        require(out_platform, "out_platform");
        check_no_device(known, "platform");
        for (const Ref<Platform> &platform : self.platforms())
            if (platform->id() == pointer_in<ze_driver_handle_t>(known)) {
                *out_platform = platform->handle();
                return;
            }
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the ze_driver_handle_t ", pointer_in<void *>(known),
             " is not one of the plugin's drivers");
    });
}

pi_result PI_CALL piDeviceCreateWithNativeHandle(pi_platform platform, const pi_native_desc *desc,
                                                 pi_device *out_device) {
    return call<Platform>(platform, [&](Platform &self) {
        const auto known = read_native(desc);
        require(out_device, "out_device");
        check_no_device(known, "device");
        *out_device = find_device(self, pointer_in<ze_device_handle_t>(known));
    });
}

pi_result PI_CALL piContextCreateWithNativeHandle(pi_platform platform, const pi_native_desc *desc,
                                                  pi_context *out_context) {
    return call<Platform>(platform, [&](Platform &self) {
        const auto known = read_native(desc);
        require(out_context, "out_context");
        create_around(known, out_context, [&](std::shared_ptr<const bool> own) {
            return make_context(self, known, std::move(own));
        });
    });
}

pi_result PI_CALL piQueueCreateWithNativeHandle(pi_context context, pi_device device,
                                                const pi_native_desc *desc, pi_queue *out_queue) {
    return call<Context>(context, [&](Context &self) {
        Device &on = self.checked_device(device);
        const auto known = read_native(desc);
        require(out_queue, "out_queue");
        check_no_device(known, "queue");
        self.place(on).require_alive();
        create_around(known, out_queue, [&](std::shared_ptr<const bool> own) {
            return make<Queue>(self, on, pointer_in<ze_command_list_handle_t>(known),
                               std::move(own));
        });
    });
}

pi_result PI_CALL piProgramCreateWithNativeHandle(pi_context context, const pi_native_desc *desc,
                                                  pi_program *out_program) {
    return call<Context>(context, [&](Context &self) {
        const auto known = read_native(desc);
        require(out_program, "out_program");
        create_around(known, out_program, [&](std::shared_ptr<const bool> own) {
            return make_program(self, known, std::move(own));
        });
    });
}

pi_result PI_CALL piKernelCreateWithNativeHandle(pi_program program, const pi_native_desc *desc,
                                                 pi_kernel *out_kernel) {
    return call<Program>(program, [&](Program &self) {
        const auto known = read_native(desc);
        require(out_kernel, "out_kernel");
        create_around(known, out_kernel, [&](std::shared_ptr<const bool> own) {
            return make_kernel(self, known, std::move(own));
        });
    });
}

pi_result PI_CALL piSamplerCreateWithNativeHandle(pi_context context, const pi_native_desc *desc,
                                                  pi_sampler *out_sampler) {
    return call<Context>(context, [&](Context &self) {
        const auto known = read_native(desc);
        require(out_sampler, "out_sampler");
        check_no_device(known, "sampler");
        create_around(known, out_sampler, [&](std::shared_ptr<const bool> own) {
            return make_sampler(self, known, std::move(own));
        });
    });
}

pi_result PI_CALL piEventCreateWithNativeHandle(pi_context context, const pi_native_desc *desc,
                                                pi_event *out_event) {
    return call<Context>(context, [&](Context &self) {
        const auto known = read_native(desc);
        require(out_event, "out_event");
        check_no_device(known, "event");
        create_around(known, out_event, [&](std::shared_ptr<const bool> own) {
            return make_event(self, known, std::move(own));
        });
    });
}

} // namespace entries
} // namespace pi::level_zero
