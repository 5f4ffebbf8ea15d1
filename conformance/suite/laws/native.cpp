// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native handles: what the backend calls an object, and objects made around that. What a backend can wrap
// is its own affair (PI_ERROR_UNSUPPORTED_FEATURE), what it wraps works.

#include "bench.hpp"
#include "checks.hpp"
#include "kernels.hpp"
#include "registry.hpp"
#include "workshop.hpp"

#include <algorithm>

namespace pi::suite {
namespace {

using Handle = pi_native_handle;

void need_native(Bench &bench) {
    bench.need(PI_CAPABILITY_NATIVE, "PI_CAPABILITY_NATIVE");
}

// Asks twice: a handle is borrowed, so it is the same each time. get(out_handle) asks.
template <typename Get>
Handle require_handle(const std::string &what, Get &&get) {
    Handle handle = poison<Handle>();
    require_success(get(&handle), what);
    require(handle.type != 0 && handle.type != poison<Handle>().type, what, ": the type is ",
            handle.type);
    require(handle.count >= 1 && handle.count <= 4, what, ": the count is ", handle.count,
            ", should be 1 to 4");
    require(handle.value[0] != 0 && handle.value[0] != poison<Handle>().value[0], what,
            ": the first value is ", handle.value[0]);
    Handle again = poison<Handle>();
    require_success(get(&again), what, " again");
    require(again.type == handle.type && again.count == handle.count &&
                std::equal(handle.value, handle.value + handle.count, again.value),
            what, ": another handle when asked for again");
    require_error(get(static_cast<Handle *>(nullptr)), PI_ERROR_INVALID_NULL_POINTER, what,
                  " with out_handle NULL");
    return handle;
}

pi_native_desc around(const Handle &handle, pi_device device = nullptr) {
    pi_native_desc desc = describe<pi_native_desc>();
    desc.device = device;
    desc.handle = handle;
    return desc;
}

// What every ...CreateWithNativeHandle refuses: make(desc, out) makes.
template <typename Object, typename Make>
void require_refusals(const std::string &what, const pi_native_desc &desc, Make &&make) {
    pi_native_desc no_type = desc;
    no_type.handle.type = 0;
    require_untouched<Object>(what + " of type 0", {PI_ERROR_INVALID_NATIVE_HANDLE},
                              [&](Object *out) { return make(&no_type, out); });
    pi_native_desc no_count = desc;
    no_count.handle.count = 0;
    require_untouched<Object>(what + " of no values", {PI_ERROR_INVALID_NATIVE_HANDLE},
                              [&](Object *out) { return make(&no_count, out); });
    require_error(make(&desc, static_cast<Object *>(nullptr)), PI_ERROR_INVALID_NULL_POINTER, what,
                  " with the output NULL");
}

// A new object around the handle, or none where the backend wraps no such thing.
template <typename Object, typename Make>
Owner<Object> wrap(const std::string &what, const pi_native_desc &desc, Make &&make) {
    Owner<Object> made;
    const pi_result result = make(&desc, made.out());
    if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        return {};
    require_success(result, what);
    require(made.get() != nullptr, what, ": succeeded, but gave no object");
    require_refusals<Object>(what, desc, make);
    return made;
}

LAW("platform", "a platform and its devices are found again by their native handles") {
    need_native(bench);
    const Handle of_platform = require_handle("piPlatformGetNativeHandle", [&](Handle *out) {
        return piPlatformGetNativeHandle(bench.platform(), out);
    });
    const auto find_platform = [&](const pi_native_desc *desc, pi_platform *out) {
        return piPlatformCreateWithNativeHandle(bench.plugin(), desc, out);
    };
    pi_native_desc desc = around(of_platform);
    pi_platform platform = nullptr;
    if (const pi_result result = find_platform(&desc, &platform);
        result != PI_ERROR_UNSUPPORTED_FEATURE) {
        require_success(result, "piPlatformCreateWithNativeHandle");
        require(platform == bench.platform(), "a platform's handle finds another platform");
        require_refusals<pi_platform>("piPlatformCreateWithNativeHandle", desc, find_platform);
    }
    for (const pi_device expected : bench.devices()) {
        const Handle handle = require_handle("piDeviceGetNativeHandle", [&](Handle *out) {
            return piDeviceGetNativeHandle(expected, out);
        });
        const auto find_device = [&](const pi_native_desc *wanted, pi_device *out) {
            return piDeviceCreateWithNativeHandle(bench.platform(), wanted, out);
        };
        desc = around(handle);
        pi_device device = nullptr;
        const pi_result result = find_device(&desc, &device);
        if (result == PI_ERROR_UNSUPPORTED_FEATURE)
            continue;
        require_success(result, "piDeviceCreateWithNativeHandle");
        require(device == expected, "a device's handle finds another device");
        require_refusals<pi_device>("piDeviceCreateWithNativeHandle", desc, find_device);
    }
}

LAW("context", "a context around a native handle serves its device") {
    need_native(bench);
    const Handle handle = require_handle("piContextGetNativeHandle", [&](Handle *out) {
        return piContextGetNativeHandle(bench.context(), bench.device(), out);
    });
    const auto make = [&](const pi_native_desc *desc, pi_context *out) {
        return piContextCreateWithNativeHandle(bench.platform(), desc, out);
    };
    const Context wrapped =
        wrap<pi_context>("piContextCreateWithNativeHandle", around(handle, bench.device()), make);
    if (!wrapped)
        skip("the backend wraps no contexts");
    const Place place{bench.device(), wrapped};
    const Bytes bytes = bench.random_bytes(1000);
    const Queue queue = bench.make_queue(place);
    const Mem mem = bench.make_buffer(place, bytes);
    bench.require_contents(queue, mem, bytes, "a buffer in a wrapped context");
}

LAW("queue", "a queue around a native handle runs commands") {
    need_native(bench);
    const Queue queue = bench.make_queue();
    const Handle handle = require_handle(
        "piQueueGetNativeHandle", [&](Handle *out) { return piQueueGetNativeHandle(queue, out); });
    const auto make = [&](const pi_native_desc *desc, pi_queue *out) {
        return piQueueCreateWithNativeHandle(bench.context(), bench.device(), desc, out);
    };
    const Queue wrapped = wrap<pi_queue>("piQueueCreateWithNativeHandle", around(handle), make);
    if (!wrapped)
        skip("the backend wraps no queues");
    const Bytes bytes = bench.random_bytes(1000);
    const Mem mem = bench.make_buffer(1000);
    bench.upload(wrapped, mem, bytes);
    bench.require_contents(queue, mem, bytes, "what was written by a wrapped queue");
}

LAW("memory", "a buffer has a native handle on its device") {
    need_native(bench);
    const Mem mem = bench.make_buffer(1000);
    const Mem other = bench.make_buffer(1000);
    const auto get = [&](pi_mem of) {
        return require_handle("piMemGetNativeHandle", [&](Handle *out) {
            return piMemGetNativeHandle(of, bench.device(), out);
        });
    };
    require(get(mem).value[0] != get(other).value[0], "two buffers have one native handle");
}

LAW("program", "programs and kernels around native handles run") {
    need_native(bench);
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "add");
    const Handle of_program = require_handle("piProgramGetNativeHandle", [&](Handle *out) {
        return piProgramGetNativeHandle(shop.program, bench.device(), out);
    });
    const Handle of_kernel = require_handle("piKernelGetNativeHandle", [&](Handle *out) {
        return piKernelGetNativeHandle(kernel, bench.device(), out);
    });
    const Program program =
        wrap<pi_program>("piProgramCreateWithNativeHandle", around(of_program, bench.device()),
                         [&](const pi_native_desc *desc, pi_program *out) {
                             return piProgramCreateWithNativeHandle(bench.context(), desc, out);
                         });
    const Kernel wrapped =
        wrap<pi_kernel>("piKernelCreateWithNativeHandle", around(of_kernel, bench.device()),
                        [&](const pi_native_desc *desc, pi_kernel *out) {
                            return piKernelCreateWithNativeHandle(shop.program, desc, out);
                        });
    std::vector<Kernel> kernels;
    if (program)
        kernels.push_back(make_kernel(program, "add"));
    for (const pi_kernel one : {kernels.empty() ? nullptr : kernels[0].get(), wrapped.get()}) {
        if (one == nullptr)
            continue;
        const Mem mem = bench.make_buffer(bench.place(), bytes_of(counting(16)));
        Arguments arguments;
        arguments.buffer(mem).value(uint32_t{5});
        bench.wait(bench.enqueue(shop.queue, launch_desc(one, arguments, 16)), "a launch");
        std::vector<uint32_t> expected = counting(16);
        std::for_each(expected.begin(), expected.end(), [](uint32_t &value) { value += 5; });
        require(shop.words(mem, 16) == expected, "a wrapped kernel did not do its work");
    }
}

LAW("event", "an event around a native handle ends as the command does") {
    need_native(bench);
    const Queue queue = bench.make_queue();
    const Mem mem = bench.make_buffer(64);
    const Event command = bench.fill(queue, mem, 0, 64, Bytes(4));
    bench.wait(command);
    Handle any{};
    if (piEventGetNativeHandle(command, &any) == PI_ERROR_INVALID_OPERATION)
        skip("the command's event has no native counterpart");
    const Handle handle = require_handle("piEventGetNativeHandle", [&](Handle *out) {
        return piEventGetNativeHandle(command, out);
    });
    const Event wrapped =
        wrap<pi_event>("piEventCreateWithNativeHandle", around(handle),
                       [&](const pi_native_desc *desc, pi_event *out) {
                           return piEventCreateWithNativeHandle(bench.context(), desc, out);
                       });
    const Event gate = bench.make_host_event();
    require_untouched<Handle>("the native handle of a host event", {PI_ERROR_INVALID_OPERATION},
                              [&](Handle *out) { return piEventGetNativeHandle(gate, out); });
    bench.signal(gate);
    if (wrapped)
        bench.wait(wrapped, "a wrapped event of a command that is done");
}

} // namespace
} // namespace pi::suite
