// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "native.hpp"
#include "entries.hpp"
#include "kernel.hpp"
#include "submission.hpp"

#include <algorithm>

namespace pi::opencl {

using namespace sdk;

pi_native_handle to_native(void *handle) {
    return native_handle(PI_NATIVE_OPENCL, reinterpret_cast<uintptr_t>(handle));
}

void *from_native(const pi_native_handle &handle) {
    return reinterpret_cast<void *>(
        static_cast<uintptr_t>(native_pointer(handle, PI_NATIVE_OPENCL, "PI_NATIVE_OPENCL")));
}

void check_native_context(const Context &context, cl_context of, const char *what) {
    if (of != context.id())
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the ", what, " is of the cl_context ", of,
             ", not of ", context.id(), ", that of ", context.description());
}

pi_native_desc read_native(const pi_native_desc *desc, uint64_t flags) {
    const auto known = read_desc(desc, PI_TYPE_NATIVE_DESC);
    check_flags(known.flags, flags, "flags");
    from_native(known.handle);
    return known;
}

namespace {

/// OpenCL has one handle for all devices of the context: naming one of them is allowed and has no
/// effect.
void check_any_device(const Context &context, pi_device device) {
    if (device)
        context.checked_device(device);
}

/// `before(object)` performs checks, and records that the application may change the vendor's
/// object from now on.
template <class T, class Before = decltype([](T &) {})>
pi_result give_handle(typename T::Handle object, pi_native_handle *out_handle, Before before = {}) {
    return call<T>(object, [&](T &self) {
        require(out_handle, "out_handle");
        before(self);
        *out_handle = to_native(self.id());
    });
}

Ref<Context> make_context(Platform &platform, cl_context vendor) {
    const Api &api = platform.api();
    ask_native<cl_uint>(api.clGetContextInfo, "clGetContextInfo", vendor, CL_CONTEXT_NUM_DEVICES);
    std::vector<Ref<Device>> device_refs;
    std::vector<Device *> devices;
    for (const cl_device_id id : query_list<cl_device_id>(api.clGetContextInfo, "clGetContextInfo",
                                                          vendor, CL_CONTEXT_DEVICES)) {
        device_refs.push_back(platform.find_device(id));
        devices.push_back(device_refs.back().get());
    }
    return make<Context>(platform, std::move(devices), ContextOwner::retained(api, vendor));
}

Ref<Queue> make_queue(Context &context, Device &device, cl_command_queue vendor) {
    const Api &api = context.api();
    const auto ask = [&]<class T>(T, cl_command_queue_info name) {
        return ask_native<T>(api.clGetCommandQueueInfo, "clGetCommandQueueInfo", vendor, name);
    };
    check_native_context(context, ask(cl_context{}, CL_QUEUE_CONTEXT), "cl_command_queue");
    if (const auto of = ask(cl_device_id{}, CL_QUEUE_DEVICE); of != device.id())
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the cl_command_queue is of the cl_device_id ", of,
             ", not of ", device.id(), ", that of ", device.name());
    const auto properties = ask(cl_command_queue_properties{}, CL_QUEUE_PROPERTIES);
    if (properties & CL_QUEUE_ON_DEVICE)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "the cl_command_queue is on the device (CL_QUEUE_ON_DEVICE): the host cannot enqueue");
    uint64_t flags = 0;
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        flags |= PI_QUEUE_OUT_OF_ORDER;
    if (properties & CL_QUEUE_PROFILING_ENABLE)
        flags |= device.queue_flags() & PI_QUEUE_PROFILING;
    auto queue = make<Queue>(context, device, flags, QueueOwner::retained(api, vendor));
    queue->share();
    return queue;
}

Ref<Program> make_program(Context &context, cl_program vendor) {
    const Api &api = context.api();
    check_native_context(context,
                         ask_native<cl_context>(api.clGetProgramInfo, "clGetProgramInfo", vendor,
                                                CL_PROGRAM_CONTEXT),
                         "cl_program");
    const auto ids = query_list<cl_device_id>(api.clGetProgramInfo, "clGetProgramInfo", vendor,
                                              CL_PROGRAM_DEVICES);
    std::vector<Device *> devices;
    for (Device *device : context.devices())
        if (device->position_in(ids))
            devices.push_back(device);
    const bool has_source =
        !query_text(api.clGetProgramInfo, "clGetProgramInfo", vendor, CL_PROGRAM_SOURCE).empty();
    auto module = has_source ? std::nullopt : find_module(context, vendor);
    const pi_program_format format = has_source ? PI_PROGRAM_FORMAT_OPENCL_C
                                     : module   ? PI_PROGRAM_FORMAT_SPIRV
                                                : PI_PROGRAM_FORMAT_DEVICE_BINARY;
    auto program =
        make<Program>(context, format, ProgramOwner::retained(api, vendor), std::move(devices));
    if (module)
        program->set_module(std::move(*module));
    program->adopt();
    return program;
}

Ref<Kernel> make_kernel(Program &program, cl_kernel vendor) {
    const Api &api = program.api();
    const auto of =
        ask_native<cl_program>(api.clGetKernelInfo, "clGetKernelInfo", vendor, CL_KERNEL_PROGRAM);
    if (of != program.id())
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the cl_kernel is of the cl_program ", of, ", not of ",
             program.id(), ", that of program");
    program.require_built();
    auto kernel = make<Kernel>(
        program, KernelOwner::retained(api, vendor),
        query_text(api.clGetKernelInfo, "clGetKernelInfo", vendor, CL_KERNEL_FUNCTION_NAME));
    kernel->share();
    return kernel;
}

/// Whether the driver times the cl_event's command.
bool has_times(const Context &context, cl_event vendor) {
    const Api &api = context.api();
    const auto queue = ask_native<cl_command_queue>(api.clGetEventInfo, "clGetEventInfo", vendor,
                                                    CL_EVENT_COMMAND_QUEUE);
    if (!queue) // it is a user event
        return false;
    const auto device = query<cl_device_id>(api.clGetCommandQueueInfo, "clGetCommandQueueInfo",
                                            queue, CL_QUEUE_DEVICE);
    const auto known = std::find_if(context.devices().begin(), context.devices().end(),
                                    [&](const Device *one) { return one->id() == device; });
    return known != context.devices().end() && (*known)->queue_flags() & PI_QUEUE_PROFILING &&
           query<cl_command_queue_properties>(api.clGetCommandQueueInfo, "clGetCommandQueueInfo",
                                              queue, CL_QUEUE_PROPERTIES) &
               CL_QUEUE_PROFILING_ENABLE;
}

} // namespace

// A node of the graph. The graph holds dependent commands until it is complete, so that the vendor
// never waits for it: it may be a user event, or fail.
Ref<Event> event_around(Context &context, cl_event vendor) {
    const Api &api = context.api();
    const auto ask = [&]<class T>(T, cl_event_info name) {
        return ask_native<T>(api.clGetEventInfo, "clGetEventInfo", vendor, name);
    };
    check_native_context(context, ask(cl_context{}, CL_EVENT_CONTEXT), "cl_event");
    auto event = make<Event>(context.host(), AnyRef(Ref<Context>(context)), AnyRef(), nullptr,
                             PI_TYPE_NATIVE_DESC, has_times(context, vendor));
    event->set_payload(std::make_unique<VendorEvent>(EventOwner::retained(api, vendor)));
    event->submitted();
    // No other wait may ever flush its queue.
    if (const auto queue = ask(cl_command_queue{}, CL_EVENT_COMMAND_QUEUE))
        api.clFlush(queue);
    // Wait even if it has completed: only a wait is a synchronisation point.
    const auto look = [event, &api, vendor] {
        if (status_of(api, vendor) > CL_COMPLETE)
            return false;
        VendorEvent::finish_native(*event, api);
        return true;
    };
    if (!look())
        context.instance().watcher().add(look);
    return event;
}

namespace entries {

// ----- from PI to the vendor ---------------------------------------------------------------------

pi_result PI_CALL piPlatformGetNativeHandle(pi_platform platform, pi_native_handle *out_handle) {
    return give_handle<Platform>(platform, out_handle);
}
pi_result PI_CALL piDeviceGetNativeHandle(pi_device device, pi_native_handle *out_handle) {
    return give_handle<Device>(device, out_handle);
}
pi_result PI_CALL piContextGetNativeHandle(pi_context context, pi_device device,
                                           pi_native_handle *out_handle) {
    return give_handle<Context>(context, out_handle,
                                [&](Context &self) { check_any_device(self, device); });
}
pi_result PI_CALL piQueueGetNativeHandle(pi_queue queue, pi_native_handle *out_handle) {
    return give_handle<Queue>(queue, out_handle, [](Queue &self) { self.share(); });
}
pi_result PI_CALL piMemGetNativeHandle(pi_mem mem, pi_device device, pi_native_handle *out_handle) {
    return give_handle<Mem>(mem, out_handle,
                            [&](Mem &self) { self.context().checked_device(device); });
}
pi_result PI_CALL piProgramGetNativeHandle(pi_program program, pi_device device,
                                           pi_native_handle *out_handle) {
    return give_handle<Program>(program, out_handle,
                                [&](Program &self) { check_any_device(self.context(), device); });
}
pi_result PI_CALL piKernelGetNativeHandle(pi_kernel kernel, pi_device device,
                                          pi_native_handle *out_handle) {
    return give_handle<Kernel>(kernel, out_handle, [&](Kernel &self) {
        check_any_device(self.context(), device);
        std::lock_guard lock(self.mutex());
        self.share();
    });
}
pi_result PI_CALL piEventGetNativeHandle(pi_event event, pi_native_handle *out_handle) {
    return call<Event>(event, [&](Event &self) {
        require(out_handle, "out_handle");
        if (!self.payload())
            fail(PI_ERROR_INVALID_OPERATION, "event has no cl_event: it is ",
                 self.is_host() ? "a host event"
                                : "of a command that the plugin carries out itself");
        const Context &context = Context::from(static_cast<pi_context>(self.context()));
        *out_handle = to_native(static_cast<VendorEvent &>(*self.payload())
                                    .give_out(self, context.api(), context.id()));
    });
}

// ----- from the vendor to PI ---------------------------------------------------------------------

pi_result PI_CALL piPlatformCreateWithNativeHandle(pi_plugin plugin, const pi_native_desc *desc,
                                                   pi_platform *out_platform) {
    return call<Instance>(plugin, [&](Instance &self) {
        const auto known = read_native(desc, 0);
        require(out_platform, "out_platform");
        check_no_device(known, "platform");
        const void *const wanted = from_native(known.handle);
        for (const pi_platform platform : self.platforms())
            if (Platform::from(platform).id() == wanted) {
                *out_platform = platform;
                return;
            }
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the cl_platform_id ", wanted,
             " is not one of the plugin's platforms (PI_OPENCL_PLATFORMS may leave some out)");
    });
}

pi_result PI_CALL piDeviceCreateWithNativeHandle(pi_platform platform, const pi_native_desc *desc,
                                                 pi_device *out_device) {
    return call<Platform>(platform, [&](Platform &self) {
        const auto known = read_native(desc);
        require(out_device, "out_device");
        check_no_device(known, "device");
        create_around<DeviceOwner, cl_device_id>(
            self.api(), from_native(known.handle), known.flags & PI_NATIVE_OWN, out_device,
            [&](cl_device_id vendor) {
                ask_native<cl_platform_id>(self.api().clGetDeviceInfo, "clGetDeviceInfo", vendor,
                                           CL_DEVICE_PLATFORM);
                return self.find_device(vendor);
            });
    });
}

pi_result PI_CALL piContextCreateWithNativeHandle(pi_platform platform, const pi_native_desc *desc,
                                                  pi_context *out_context) {
    return call<Platform>(platform, [&](Platform &self) {
        const auto known = read_native(desc);
        require(out_context, "out_context");
        create_around<ContextOwner, cl_context>(
            self.api(), from_native(known.handle), known.flags & PI_NATIVE_OWN, out_context,
            [&](cl_context vendor) {
                Ref<Context> context = make_context(self, vendor);
                check_any_device(*context, known.device);
                return context;
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
        create_around<QueueOwner, cl_command_queue>(
            self.api(), from_native(known.handle), known.flags & PI_NATIVE_OWN, out_queue,
            [&](cl_command_queue vendor) { return make_queue(self, on, vendor); });
    });
}

pi_result PI_CALL piProgramCreateWithNativeHandle(pi_context context, const pi_native_desc *desc,
                                                  pi_program *out_program) {
    return call<Context>(context, [&](Context &self) {
        const auto known = read_native(desc);
        require(out_program, "out_program");
        check_any_device(self, known.device);
        create_around<ProgramOwner, cl_program>(
            self.api(), from_native(known.handle), known.flags & PI_NATIVE_OWN, out_program,
            [&](cl_program vendor) { return make_program(self, vendor); });
    });
}

pi_result PI_CALL piKernelCreateWithNativeHandle(pi_program program, const pi_native_desc *desc,
                                                 pi_kernel *out_kernel) {
    return call<Program>(program, [&](Program &self) {
        const auto known = read_native(desc);
        require(out_kernel, "out_kernel");
        check_any_device(self.context(), known.device);
        create_around<KernelOwner, cl_kernel>(
            self.api(), from_native(known.handle), known.flags & PI_NATIVE_OWN, out_kernel,
            [&](cl_kernel vendor) { return make_kernel(self, vendor); });
    });
}

pi_result PI_CALL piEventCreateWithNativeHandle(pi_context context, const pi_native_desc *desc,
                                                pi_event *out_event) {
    return call<Context>(context, [&](Context &self) {
        const auto known = read_native(desc);
        require(out_event, "out_event");
        check_no_device(known, "event");
        create_around<EventOwner, cl_event>(
            self.api(), from_native(known.handle), known.flags & PI_NATIVE_OWN, out_event,
            [&](cl_event vendor) { return event_around(self, vendor); });
    });
}

} // namespace entries
} // namespace pi::opencl
