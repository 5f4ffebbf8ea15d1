// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native handles: CUDA's handles of PI's objects, and PI's objects around the application's
// handles. CUDA counts references to primary contexts only: any other handle that is not owned must
// outlive the object.
#include "entries.hpp"
#include "kernel.hpp"
#include "memory.hpp"
#include "submission.hpp"

#include <pi/sdk/native_handle.hpp>

#include <algorithm>

namespace pi::cuda {

using namespace sdk;

// ----- from PI to CUDA ---------------------------------------------------------------------------

namespace {

template <class T>
pi_native_handle handle_of(pi_native_type type, T *pointer) {
    return native_handle(type, reinterpret_cast<uintptr_t>(pointer));
}

/// get(object) returns the handle, or throws.
template <class T, class Get>
pi_result give_handle(typename T::Handle object, pi_native_handle *out_handle, Get get) {
    return call<T>(object, [&](T &self) {
        require(out_handle, "out_handle");
        *out_handle = get(self);
    });
}

CUstream give_stream(Queue &queue) {
    if (queue.flags() & PI_QUEUE_OUT_OF_ORDER)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "queue is out of order: it is several streams, and has no one CUstream");
    queue.share();
    return queue.stream();
}

pi_native_handle give_memory(Mem &mem, pi_device device) {
    Primary &user = mem.context().primary(mem.context().checked_device(device));
    if (!usable(user, mem))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "mem is ", why_not_usable(user, mem));
    return mem.array() ? image_handle(*mem.array())
                       : native_handle(PI_NATIVE_CUDA_POINTER, mem.address());
}

CUmodule give_module(Program &program, pi_device device) {
    const Device &on = program.context().checked_device(device);
    const std::shared_ptr<Module> &module = program.module(on);
    if (!module)
        fail(PI_ERROR_INVALID_OPERATION, "program is not built for ", on.name(),
             " and has no CUmodule yet");
    return module->id();
}

CUevent give_event(Event &event) {
    if (!event.payload())
        fail(PI_ERROR_INVALID_OPERATION, "event has no CUevent: it is ",
             event.is_host() ? "a host event" : "of a command that the plugin carries out itself");
    const CUevent native = static_cast<StreamEvent &>(*event.payload()).native(event);
    if (!native)
        fail(PI_ERROR_INVALID_OPERATION, "event has no CUevent: its command ",
             event.is_complete() ? "has failed, which CUDA's events do not"
                                 : "is held by the plugin, and in no stream yet");
    return native;
}

// ----- from CUDA to PI ---------------------------------------------------------------------------

/// Reads the descriptor; its handle must be of this type.
pi_native_desc read_native(const pi_native_desc *desc, pi_native_type type, const char *type_name) {
    const auto known = read_desc(desc, PI_TYPE_NATIVE_DESC);
    if (type == PI_NATIVE_CUDA_DEVICE) // a device is a number, and 0 is valid
        native_value(known.handle, type, type_name);
    else
        native_pointer(known.handle, type, type_name);
    return known;
}

template <class T>
T pointer_in(const pi_native_desc &desc) {
    return reinterpret_cast<T>(static_cast<uintptr_t>(desc.handle.value[0]));
}

/// PI_ERROR_INVALID_NATIVE_HANDLE if the driver refuses the handle; errors of a context that was
/// lost before are reported as such.
void check_answer(const Api &cu, CUresult code, const char *name, const pi_native_desc &desc) {
    if (code == CUDA_SUCCESS)
        return;
    if (to_result(code) == PI_ERROR_DEVICE_LOST)
        check(cu, code, name);
    fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the driver refuses handle.value[0] (",
         pointer_in<void *>(desc), "): ", name, ": ", error_name(cu, code));
}

/// PI_ERROR_UNSUPPORTED_FEATURE if the driver is too old to have the entry point.
void need_entry(const Api &cu, bool there, const char *name, const char *since) {
    if (!there)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the driver, of CUDA ", version_text(cu.version()),
             ", has no ", name, ", which is needed to check a handle; CUDA ", since,
             " and newer have it");
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

Device &find_device(const Platform &platform, CUdevice id) {
    for (const Ref<Device> &device : platform.devices())
        if (device->id() == id)
            return *device;
    fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the CUdevice ", id,
         " is not one of the platform's devices");
}

CUdevice device_of(const Api &cu, const pi_native_desc &desc) {
    CUdevice device = 0;
    check_answer(cu, cu.cuCtxPushCurrent_v2(pointer_in<CUcontext>(desc)), "cuCtxPushCurrent_v2",
                 desc);
    const CUresult code = cu.cuCtxGetDevice(&device);
    cu.cuCtxPopCurrent_v2(nullptr);
    check_answer(cu, code, "cuCtxGetDevice", desc);
    return device;
}

Ref<Context> make_context(Platform &platform, const pi_native_desc &desc) {
    Device &device = find_device(platform, device_of(platform.api(), desc));
    if (desc.device && &checked<Device>(platform.host(), desc.device, "device") != &device)
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the CUcontext ", pointer_in<void *>(desc), " is of ",
             device.name(), ", not of device (", Device::from(desc.device).name(), ')');
    Ref<Context> context = make<Context>(platform, std::vector<Device *>{&device});
    const CUcontext primary = context->primary(device).id();
    if (primary != pointer_in<CUcontext>(desc))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the CUcontext ", pointer_in<void *>(desc), " is not ",
             device.name(), "'s primary one (", primary,
             ", of cuDevicePrimaryCtxRetain), the only one that this plugin uses");
    return context;
}

Ref<Queue> make_queue(Context &context, Device &device, const pi_native_desc &desc,
                      std::shared_ptr<const bool> own) {
    const Api &cu = context.api();
    Primary &primary = context.primary(device);
    primary.require_alive();
    const auto stream = pointer_in<CUstream>(desc);
    if (stream == PI_CUDA_STREAM_PER_THREAD)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "handle is CU_STREAM_PER_THREAD, which is another stream on each thread");
    if (stream == PI_CUDA_STREAM_LEGACY && desc.flags & PI_NATIVE_OWN)
        fail(PI_ERROR_INVALID_VALUE, "flags has PI_NATIVE_OWN, but handle is CU_STREAM_LEGACY, "
                                     "which is the context's and never destroyed");
    need_entry(cu, cu.cuStreamGetCtx, "cuStreamGetCtx", "9.2");
    const Current current(primary);
    CUcontext of = nullptr;
    check_answer(cu, cu.cuStreamGetCtx(stream, &of), "cuStreamGetCtx", desc);
    if (of != primary.id())
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the CUstream is of the CUcontext ", of, ", not of ",
             primary.id(), ", the primary one of ", device.name());
    int priority = 0;
    if (cu.cuStreamGetPriority)
        check_answer(cu, cu.cuStreamGetPriority(stream, &priority), "cuStreamGetPriority", desc);
    return make<Queue>(context, device, priority < 0 ? uint64_t{PI_QUEUE_PRIORITY_HIGH} : 0, stream,
                       std::move(own));
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
    Device &device = named_device(context, context.devices(), desc, "CUmodule");
    Primary &primary = context.primary(device);
    primary.require_alive();
    const Api &cu = primary.api();
    const auto id = pointer_in<CUmodule>(desc);
    {
        // The cheapest check of a module: look for a function that no module has.
        const Current current(primary);
        CUfunction function = nullptr;
        const CUresult code = cu.cuModuleGetFunction(&function, id, "");
        if (code != CUDA_ERROR_NOT_FOUND && code != CUDA_ERROR_INVALID_VALUE)
            check_answer(cu, code, "cuModuleGetFunction", desc);
    }
    return make<Program>(context, device, std::make_shared<Module>(primary, id, std::move(own)));
}

/// Functions belong to their module: there is nothing to own, and kernels of a name are equal.
Ref<Kernel> make_kernel(Program &program, const pi_native_desc &desc) {
    program.require_built();
    const std::vector<Device *> devices = program.devices();
    Device &device = named_device(program.context(), devices, desc, "CUfunction");
    const CUmodule module = give_module(program, device.handle());
    Primary &primary = program.context().primary(device);
    const Api &cu = primary.api();
    need_entry(cu, cu.cuFuncGetModule && cu.cuFuncGetName, "cuFuncGetName", "12.3");
    const auto id = pointer_in<CUfunction>(desc);
    const char *name = nullptr;
    {
        const Current current(primary);
        CUmodule of = nullptr;
        check_answer(cu, cu.cuFuncGetModule(&of, id), "cuFuncGetModule", desc);
        if (of != module)
            fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the CUfunction is of the CUmodule ", of,
                 ", not of ", module, ", that of program on ", device.name());
        check_answer(cu, cu.cuFuncGetName(&name, id), "cuFuncGetName", desc);
    }
    return make<Kernel>(program, name);
}

/// Completes the event if the application's CUevent has completed.
bool finish_with(Event &event, Primary &primary, CUevent native) {
    CUresult code = CUDA_SUCCESS;
    try {
        const Current current(primary);
        code = primary.api().cuEventQuery(native);
        if (code == CUDA_ERROR_NOT_READY)
            return false;
    } catch (...) {
        code = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    if (code == CUDA_SUCCESS)
        event.finish(PI_SUCCESS);
    else
        event.finish(to_result(code) == PI_ERROR_DEVICE_LOST ? PI_ERROR_DEVICE_LOST
                                                             : PI_ERROR_BACKEND,
                     text("cuEventQuery: ", error_name(primary.api(), code),
                          " of the application's CUevent ", native));
    return true;
}

/// The CUevent may be of any device: any device's context can wait for it. Commands that depend on
/// it are held by the graph until it has completed: it may never be recorded again, or depend on
/// one of them.
Ref<Event> make_event(Context &context, const pi_native_desc &desc,
                      std::shared_ptr<const bool> own) {
    const Api &cu = context.api();
    Primary &primary = context.primary(*context.devices().front());
    primary.require_alive();
    const auto native = pointer_in<CUevent>(desc);
    CUresult code;
    {
        const Current current(primary);
        code = cu.cuEventQuery(native);
    }
    if (code != CUDA_ERROR_NOT_READY)
        check_answer(cu, code, "cuEventQuery", desc);
    auto event = make<Event>(context.host(), AnyRef(Ref<Context>(context)), AnyRef(), nullptr,
                             pi_struct_type{PI_TYPE_NATIVE_DESC}, false);
    event->set_payload(std::make_unique<StreamEvent>(
        primary, std::shared_ptr<CUevent_st>(native, [&cu, own = std::move(own)](CUevent gone) {
            if (*own)
                cu.cuEventDestroy_v2(gone);
        })));
    event->submitted();
    if (code == CUDA_SUCCESS)
        event->finish(PI_SUCCESS);
    else
        context.instance().watcher().add(
            [event, &primary, native] { return finish_with(*event, primary, native); });
    return event;
}

} // namespace

Program::Program(Context &context, Device &device, std::shared_ptr<Module> module)
    : Object(context.host()), context_(context), format_(PI_PROGRAM_FORMAT_DEVICE_BINARY) {
    builds_.push_back({&device, std::move(module), {}, PI_PROGRAM_BUILT, {}});
}

namespace entries {

pi_result PI_CALL piDeviceGetNativeHandle(pi_device device, pi_native_handle *out_handle) {
    return give_handle<Device>(device, out_handle, [](Device &self) {
        return native_handle(PI_NATIVE_CUDA_DEVICE, static_cast<uint64_t>(self.id()));
    });
}
pi_result PI_CALL piContextGetNativeHandle(pi_context context, pi_device device,
                                           pi_native_handle *out_handle) {
    return give_handle<Context>(context, out_handle, [&](Context &self) {
        return handle_of(PI_NATIVE_CUDA_CONTEXT, self.primary(self.checked_device(device)).id());
    });
}
pi_result PI_CALL piQueueGetNativeHandle(pi_queue queue, pi_native_handle *out_handle) {
    return give_handle<Queue>(queue, out_handle, [](Queue &self) {
        return handle_of(PI_NATIVE_CUDA_STREAM, give_stream(self));
    });
}
pi_result PI_CALL piMemGetNativeHandle(pi_mem mem, pi_device device, pi_native_handle *out_handle) {
    return give_handle<Mem>(mem, out_handle, [&](Mem &self) { return give_memory(self, device); });
}
pi_result PI_CALL piProgramGetNativeHandle(pi_program program, pi_device device,
                                           pi_native_handle *out_handle) {
    return give_handle<Program>(program, out_handle, [&](Program &self) {
        return handle_of(PI_NATIVE_CUDA_MODULE, give_module(self, device));
    });
}
pi_result PI_CALL piKernelGetNativeHandle(pi_kernel kernel, pi_device device,
                                          pi_native_handle *out_handle) {
    return give_handle<Kernel>(kernel, out_handle, [&](Kernel &self) {
        const Device &on = self.context().checked_device(device);
        return handle_of(PI_NATIVE_CUDA_FUNCTION, self.function(on).id);
    });
}
pi_result PI_CALL piEventGetNativeHandle(pi_event event, pi_native_handle *out_handle) {
    return give_handle<Event>(event, out_handle, [](Event &self) {
        return handle_of(PI_NATIVE_CUDA_EVENT, give_event(self));
    });
}

pi_result PI_CALL piDeviceCreateWithNativeHandle(pi_platform platform, const pi_native_desc *desc,
                                                 pi_device *out_device) {
    return call<Platform>(platform, [&](Platform &self) {
        const auto known = read_native(desc, PI_NATIVE_CUDA_DEVICE, "PI_NATIVE_CUDA_DEVICE");
        require(out_device, "out_device");
        check_no_device(known, "device");
        const uint64_t value = known.handle.value[0];
        *out_device =
            find_device(self, value > INT32_MAX ? PI_CUDA_DEVICE_INVALID : static_cast<int>(value))
                .handle();
    });
}

pi_result PI_CALL piContextCreateWithNativeHandle(pi_platform platform, const pi_native_desc *desc,
                                                  pi_context *out_context) {
    return call<Platform>(platform, [&](Platform &self) {
        const auto known = read_native(desc, PI_NATIVE_CUDA_CONTEXT, "PI_NATIVE_CUDA_CONTEXT");
        require(out_context, "out_context");
        Ref<Context> context = make_context(self, known);
        // The new object has its own retain; the application's is released.
        if (known.flags & PI_NATIVE_OWN)
            self.api().cuDevicePrimaryCtxRelease_v2(context->devices().front()->id());
        *out_context = context.give();
    });
}

pi_result PI_CALL piQueueCreateWithNativeHandle(pi_context context, pi_device device,
                                                const pi_native_desc *desc, pi_queue *out_queue) {
    return call<Context>(context, [&](Context &self) {
        Device &on = self.checked_device(device);
        const auto known = read_native(desc, PI_NATIVE_CUDA_STREAM, "PI_NATIVE_CUDA_STREAM");
        require(out_queue, "out_queue");
        check_no_device(known, "queue");
        create_around(known, out_queue, [&](std::shared_ptr<const bool> own) {
            return make_queue(self, on, known, std::move(own));
        });
    });
}

pi_result PI_CALL piProgramCreateWithNativeHandle(pi_context context, const pi_native_desc *desc,
                                                  pi_program *out_program) {
    return call<Context>(context, [&](Context &self) {
        const auto known = read_native(desc, PI_NATIVE_CUDA_MODULE, "PI_NATIVE_CUDA_MODULE");
        require(out_program, "out_program");
        create_around(known, out_program, [&](std::shared_ptr<const bool> own) {
            return make_program(self, known, std::move(own));
        });
    });
}

pi_result PI_CALL piKernelCreateWithNativeHandle(pi_program program, const pi_native_desc *desc,
                                                 pi_kernel *out_kernel) {
    return call<Program>(program, [&](Program &self) {
        const auto known = read_native(desc, PI_NATIVE_CUDA_FUNCTION, "PI_NATIVE_CUDA_FUNCTION");
        require(out_kernel, "out_kernel");
        *out_kernel = make_kernel(self, known).give();
    });
}

pi_result PI_CALL piEventCreateWithNativeHandle(pi_context context, const pi_native_desc *desc,
                                                pi_event *out_event) {
    return call<Context>(context, [&](Context &self) {
        const auto known = read_native(desc, PI_NATIVE_CUDA_EVENT, "PI_NATIVE_CUDA_EVENT");
        require(out_event, "out_event");
        check_no_device(known, "event");
        create_around(known, out_event, [&](std::shared_ptr<const bool> own) {
            return make_event(self, known, std::move(own));
        });
    });
}

} // namespace entries
} // namespace pi::cuda
