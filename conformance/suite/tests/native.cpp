// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native handles: each kind of object has one, from which an equivalent object can be created. The
// first object owns the handle, since a backend need not count references: the second must not
// release it.

#include "native.hpp"
#include "launch_fixture.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

CONFORMANCE_TEST("platform", "a platform's native handle finds the platform") {
    const pi_native_handle handle =
        check_handle("piPlatformGetNativeHandle", [&](pi_native_handle *out) {
            return piPlatformGetNativeHandle(fixture.platform(), out);
        });
    const pi_native_desc desc = native_desc(handle);
    pi_platform found = nullptr;
    const pi_result result = piPlatformCreateWithNativeHandle(fixture.plugin(), &desc, &found);
    if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        skip("platforms are not found by a handle: " + last_error_text());
    require_success(result, "piPlatformCreateWithNativeHandle");
    require(found == fixture.platform(), "the handle of a platform finds another one");
    check_refusals<pi_platform>(
        "piPlatformCreateWithNativeHandle", desc,
        [&](const pi_native_desc *one, pi_platform *out) {
            return piPlatformCreateWithNativeHandle(fixture.plugin(), one, out);
        },
        fixture.device());
    // Ownership of a platform is never transferred: the flag is refused or has no effect.
    pi_native_desc owning = desc;
    owning.flags = PI_NATIVE_OWN;
    pi_platform owned = nullptr;
    if (piPlatformCreateWithNativeHandle(fixture.plugin(), &owning, &owned) == PI_SUCCESS)
        require(owned == fixture.platform(), "the handle of a platform finds another one");
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(64, std::byte{3}));
    fixture.require_contents(queue, mem, Bytes(64, std::byte{3}), "a buffer of the platform");
}

CONFORMANCE_TEST("device", "a root device's native handle finds the device") {
    need_native(fixture);
    const auto create = [&](const pi_native_desc *one, pi_device *out) {
        return piDeviceCreateWithNativeHandle(fixture.platform(), one, out);
    };
    for (const pi_device device : fixture.devices()) {
        const pi_native_handle handle =
            check_handle("piDeviceGetNativeHandle", [&](pi_native_handle *out) {
                return piDeviceGetNativeHandle(device, out);
            });
        const pi_native_desc desc = native_desc(handle);
        const Owner<pi_device> found =
            make_around<pi_device>("piDeviceCreateWithNativeHandle", desc, create);
        require(found == device, "the handle of a root device finds another device");
        check_refusals<pi_device>("piDeviceCreateWithNativeHandle", desc, create, device);
    }
}

CONFORMANCE_TEST("context", "a context's native handle makes a second context, and both work") {
    need_native(fixture);
    const Bytes bytes = fixture.random_bytes(1000);
    Context first = fixture.make_context({fixture.device()});
    const pi_native_handle handle =
        check_handle("piContextGetNativeHandle", [&](pi_native_handle *out) {
            return piContextGetNativeHandle(first, fixture.device(), out);
        });
    const pi_native_desc desc = native_desc(handle, fixture.device());
    const auto create = [&](const pi_native_desc *one, pi_context *out) {
        return piContextCreateWithNativeHandle(fixture.platform(), one, out);
    };
    const auto work = [&](pi_context context) {
        const Place place{fixture.device(), context};
        const Mem mem = fixture.make_buffer(place, bytes);
        fixture.require_contents(fixture.make_queue(place), mem, bytes, "a buffer of the context");
    };
    const std::string name = "piContextCreateWithNativeHandle";
    {
        const Context second = make_around<pi_context>(name, desc, create);
        const auto devices =
            get_info_list<pi_device>(&piContextGetInfo, second.get(), PI_CONTEXT_INFO_DEVICES);
        require(devices == std::vector<pi_device>{fixture.device()}, "the new context reports ",
                devices.size(), " devices that are not the first one's");
        pi_native_handle its = poison<pi_native_handle>();
        require_success(piContextGetNativeHandle(second, fixture.device(), &its), "its handle");
        require_same_values(its, handle, name);
        work(second);
    }
    work(first); // the second object did not release the handle
    check_refusals<pi_context>(name, desc, create);
    const Context last = make_around<pi_context>(name, desc, create);
    first.reset();
}

CONFORMANCE_TEST("queue", "a queue's native handle makes a second queue, and both work") {
    need_native(fixture);
    const Bytes bytes = fixture.random_bytes(1000);
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(1000));
    Queue first = fixture.make_queue();
    const pi_native_handle handle =
        check_handle("piQueueGetNativeHandle",
                     [&](pi_native_handle *out) { return piQueueGetNativeHandle(first, out); });
    const pi_native_desc desc = native_desc(handle);
    const auto create = [&](const pi_native_desc *one, pi_queue *out) {
        return piQueueCreateWithNativeHandle(fixture.context(), fixture.device(), one, out);
    };
    const std::string name = "piQueueCreateWithNativeHandle";
    {
        const Queue second = make_around<pi_queue>(name, desc, create);
        require(get_info<pi_device>(&piQueueGetInfo, second.get(), PI_QUEUE_INFO_DEVICE) ==
                    fixture.device(),
                "the new queue reports another device");
        pi_native_handle its = poison<pi_native_handle>();
        require_success(piQueueGetNativeHandle(second, &its), "its handle");
        require_same_values(its, handle, name);
        fixture.upload(second, mem, bytes);
        fixture.require_contents(first, mem, bytes, "what the new queue wrote");
        void *pointer = nullptr;
        fixture.wait(fixture.map(second, mem, PI_MAP_READ, 0, 1000, &pointer));
        require_same_bytes(pointer, bytes.data(), 1000, "what the new queue maps");
        fixture.wait(fixture.unmap(second, mem, pointer));
        require_success(piQueueFinish(second), "piQueueFinish of the new queue");
    }
    fixture.require_contents(first, mem, bytes,
                             "what the first queue reads after the new one is gone");
    check_refusals<pi_queue>(name, desc, create, fixture.device());
    require_untouched<pi_queue>(
        name + " with device NULL", {PI_ERROR_INVALID_DEVICE}, [&](pi_queue *out) {
            return piQueueCreateWithNativeHandle(fixture.context(), nullptr, &desc, out);
        });
    const Queue last = make_around<pi_queue>(name, desc, create);
    first.reset();
}

CONFORMANCE_TEST("context", "native handles of another context's objects are refused") {
    need_native(fixture);
    const Context other = fixture.make_context({fixture.device()});
    const auto context_handle = [&](pi_context context) {
        return check_handle("piContextGetNativeHandle", [&](pi_native_handle *out) {
            return piContextGetNativeHandle(context, fixture.device(), out);
        });
    };
    if (context_handle(fixture.context()).value[0] == context_handle(other).value[0])
        skip("the backend has one context of the device, which all share");
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(4096));
    pi_native_handle handle{};
    // Level Zero cannot report the context of such handles.
    const auto reports_context = [&] { return handle.type != PI_NATIVE_LEVEL_ZERO; };
    if (piQueueGetNativeHandle(queue, &handle) == PI_SUCCESS && reports_context()) {
        const pi_native_desc desc = native_desc(handle);
        require_untouched<pi_queue>(
            "another context's queue", {PI_ERROR_INVALID_NATIVE_HANDLE}, [&](pi_queue *out) {
                return piQueueCreateWithNativeHandle(other, fixture.device(), &desc, out);
            });
    }
    const Event filled = fixture.fill(queue, mem, 0, 4096, Bytes(1, std::byte{1}));
    if (piEventGetNativeHandle(filled, &handle) == PI_SUCCESS && reports_context()) {
        const pi_native_desc desc = native_desc(handle);
        require_untouched<pi_event>(
            "another context's event", {PI_ERROR_INVALID_NATIVE_HANDLE},
            [&](pi_event *out) { return piEventCreateWithNativeHandle(other, &desc, out); });
    }
    fixture.wait(filled);
    if (has_kernels(fixture)) {
        const Program program = make_program(fixture);
        const Program elsewhere = make_program(fixture, {fixture.device(), other});
        const Kernel kernel = make_kernel(program, "add");
        if (piProgramGetNativeHandle(program, fixture.device(), &handle) == PI_SUCCESS &&
            reports_context()) {
            const pi_native_desc desc = native_desc(handle, fixture.device());
            require_untouched<pi_program>("another context's program",
                                          {PI_ERROR_INVALID_NATIVE_HANDLE}, [&](pi_program *out) {
                                              return piProgramCreateWithNativeHandle(other, &desc,
                                                                                     out);
                                          });
        }
        if (piKernelGetNativeHandle(kernel, fixture.device(), &handle) == PI_SUCCESS &&
            reports_context()) {
            const pi_native_desc desc = native_desc(handle, fixture.device());
            require_untouched<pi_kernel>(
                "another context's kernel", {PI_ERROR_INVALID_NATIVE_HANDLE}, [&](pi_kernel *out) {
                    return piKernelCreateWithNativeHandle(elsewhere, &desc, out);
                });
        }
    }
    if (fixture.can(PI_CAPABILITY_IMAGE)) {
        const auto sampler_desc = pi::desc<pi_sampler_desc>();
        Sampler sampler;
        require_success(piSamplerCreate(fixture.context(), &sampler_desc, sampler.out()),
                        "piSamplerCreate");
        if (piSamplerGetNativeHandle(sampler, &handle) == PI_SUCCESS && reports_context()) {
            const pi_native_desc desc = native_desc(handle);
            require_untouched<pi_sampler>("another context's sampler",
                                          {PI_ERROR_INVALID_NATIVE_HANDLE}, [&](pi_sampler *out) {
                                              return piSamplerCreateWithNativeHandle(other, &desc,
                                                                                     out);
                                          });
        }
    }
    uint32_t imports = 0;
    piDeviceGetInfo(fixture.device(), PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES, sizeof imports,
                    &imports, nullptr);
    if ((imports & (1u << PI_EXTERNAL_NATIVE)) != 0 &&
        piMemGetNativeHandle(mem, fixture.device(), &handle) == PI_SUCCESS) {
        auto desc = pi::desc<pi_mem_import_desc>();
        desc.size = 4096;
        desc.handle.type = PI_EXTERNAL_NATIVE;
        desc.handle.native = handle;
        require_untouched<pi_mem>(
            "another context's buffer", {PI_ERROR_INVALID_NATIVE_HANDLE},
            [&](pi_mem *out) { return piMemImport(other, fixture.device(), &desc, out); });
    }
    fixture.require_contents(queue, mem, Bytes(4096, std::byte{1}),
                             "a buffer whose handle another context has refused");
}

CONFORMANCE_TEST("memory", "a buffer's native handle is imported as a buffer of the same bytes") {
    need_native(fixture);
    Bytes bytes = fixture.random_bytes(4096);
    const Queue queue = fixture.make_queue();
    Mem first = fixture.make_buffer(fixture.place(), bytes);
    const pi_native_handle handle =
        check_handle("piMemGetNativeHandle", [&](pi_native_handle *out) {
            return piMemGetNativeHandle(first, fixture.device(), out);
        });
    const Mem other = fixture.make_buffer(4096);
    pi_native_handle of_other{};
    require_success(piMemGetNativeHandle(other, fixture.device(), &of_other),
                    "piMemGetNativeHandle");
    require(!same_handle(of_other, handle), "two buffers have one native handle");
    pi_native_handle untouched = poison<pi_native_handle>();
    std::vector<pi_device> outside = fixture.devices();
    outside[0] = nullptr;
    for (const pi_device device : outside)
        require_error(piMemGetNativeHandle(first, device, &untouched), PI_ERROR_INVALID_DEVICE,
                      "piMemGetNativeHandle for a device outside of the context");
    uint32_t imports = 0;
    piDeviceGetInfo(fixture.device(), PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES, sizeof imports,
                    &imports, nullptr);
    if ((imports & (1u << PI_EXTERNAL_NATIVE)) == 0)
        skip("the device imports no native handles");
    auto desc = pi::desc<pi_mem_import_desc>();
    desc.size = bytes.size();
    desc.handle.type = PI_EXTERNAL_NATIVE;
    desc.handle.native = handle;
    const auto import = [&](const pi_mem_import_desc &one, pi_mem *out) {
        return piMemImport(fixture.context(), fixture.device(), &one, out);
    };
    {
        Mem second;
        require_success(import(desc, second.out()), "piMemImport of a native handle");
        fixture.require_contents(queue, second, bytes, "memory imported by its native handle");
        bytes = fixture.random_bytes(bytes.size());
        fixture.upload(queue, second, bytes);
        fixture.require_contents(queue, first, bytes,
                                 "the first buffer after a write to the second");
        bytes = fixture.random_bytes(bytes.size());
        fixture.upload(queue, first, bytes);
        fixture.require_contents(queue, second, bytes,
                                 "the second buffer after a write to the first");
    }
    fixture.require_contents(queue, first, bytes, "the first buffer after the second is gone");
    for (const uint64_t flags : {uint64_t{PI_MEM_READ_ONLY}, uint64_t{PI_MEM_WRITE_ONLY}}) {
        pi_mem_import_desc with = desc;
        with.flags = flags;
        Mem imported;
        require_success(import(with, imported.out()), "piMemImport with flags ", flags);
        require_equal(get_info<uint64_t>(&piMemGetInfo, imported.get(), PI_MEM_INFO_FLAGS), flags,
                      "PI_MEM_INFO_FLAGS of imported memory");
        require_equal(get_info<pi_memory_kind>(&piMemGetInfo, imported.get(), PI_MEM_INFO_KIND),
                      pi_memory_kind{PI_MEMORY_KIND_BUFFER}, "PI_MEM_INFO_KIND of imported memory");
    }
    pi_mem_import_desc bad = desc;
    bad.handle.flags = 1;
    require_untouched<pi_mem>("piMemImport of a handle with a flag", {PI_ERROR_UNSUPPORTED_FEATURE},
                              [&](pi_mem *out) { return import(bad, out); });
    bad = desc;
    bad.handle.native.type = PI_NATIVE_NONE;
    require_untouched<pi_mem>("piMemImport of a native handle of no type",
                              {PI_ERROR_INVALID_NATIVE_HANDLE},
                              [&](pi_mem *out) { return import(bad, out); });
    bad = desc;
    bad.handle.native.count = 0;
    require_untouched<pi_mem>("piMemImport of a native handle of no values",
                              {PI_ERROR_INVALID_NATIVE_HANDLE},
                              [&](pi_mem *out) { return import(bad, out); });
    bad = desc;
    bad.size = 0;
    require_untouched<pi_mem>("piMemImport of 0 bytes", {PI_ERROR_INVALID_SIZE},
                              [&](pi_mem *out) { return import(bad, out); });
    Mem last;
    require_success(import(desc, last.out()), "piMemImport of a native handle");
    first.reset();
}

CONFORMANCE_TEST("program", "a program's native handle makes a second program, and both work") {
    need_native(fixture);
    LaunchFixture setup(fixture);
    const pi_native_handle handle =
        check_handle("piProgramGetNativeHandle", [&](pi_native_handle *out) {
            return piProgramGetNativeHandle(setup.program, fixture.device(), out);
        });
    const pi_native_desc desc = native_desc(handle, fixture.device());
    const auto create = [&](const pi_native_desc *one, pi_program *out) {
        return piProgramCreateWithNativeHandle(fixture.context(), one, out);
    };
    const std::string name = "piProgramCreateWithNativeHandle";
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of(counting(100)));
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    const auto launch = [&](pi_program program) {
        const Kernel kernel = make_kernel(program, "add");
        fixture.wait(fixture.enqueue(setup.queue, launch_desc(kernel, arguments, 100)));
    };
    {
        const Program second = make_around<pi_program>(name, desc, create);
        uint32_t status = 0;
        require_success(piProgramGetBuildInfo(second, fixture.device(),
                                              PI_PROGRAM_BUILD_INFO_STATUS, sizeof status, &status,
                                              nullptr),
                        "the status of the new program");
        require_equal(status, uint32_t{PI_PROGRAM_BUILT}, "the status of the new program");
        launch(second);
    }
    launch(setup.program);
    require_equal(setup.words(mem, 100)[7], 9u, "a word after a launch of each program");
    check_refusals<pi_program>(name, desc, create);
    const Program last = make_around<pi_program>(name, desc, create);
    setup.program.reset();
}

CONFORMANCE_TEST("kernel", "a kernel's native handle makes a second kernel, and both work") {
    need_native(fixture);
    LaunchFixture setup(fixture);
    Kernel first = make_kernel(setup.program, "add");
    const pi_native_handle handle =
        check_handle("piKernelGetNativeHandle", [&](pi_native_handle *out) {
            return piKernelGetNativeHandle(first, fixture.device(), out);
        });
    const pi_native_desc desc = native_desc(handle, fixture.device());
    const auto create = [&](const pi_native_desc *one, pi_kernel *out) {
        return piKernelCreateWithNativeHandle(setup.program, one, out);
    };
    const std::string name = "piKernelCreateWithNativeHandle";
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of(counting(100)));
    uint64_t blocking = 0;
    const auto launch = [&](pi_kernel kernel, uint32_t value) {
        Arguments arguments;
        arguments.buffer(mem).value(value);
        pi_kernel_launch_desc again = launch_desc(kernel, arguments, 100);
        again.flags |= blocking;
        fixture.wait(fixture.enqueue(setup.queue, again));
    };
    uint32_t expected = 7;
    for (blocking = 0; blocking <= PI_COMMAND_BLOCKING; blocking += PI_COMMAND_BLOCKING) {
        {
            const Kernel second = make_around<pi_kernel>(name, desc, create);
            // Each launch has its own arguments, whoever set the vendor's kernel's last.
            launch(second, 10);
            launch(first, 100);
            launch(second, 10);
            launch(first, 100);
            launch(second, 1000);
        }
        launch(first, 100);
        launch(first, 10000);
        require_equal(setup.words(mem, 100)[7], expected += 11320,
                      "a word after launches of both kernels");
    }
    check_refusals<pi_kernel>(name, desc, create);
    const Kernel last = make_around<pi_kernel>(name, desc, create);
    first.reset();
}

CONFORMANCE_TEST("event", "a command's native handle makes an event that commands can wait for") {
    need_native(fixture);
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    const Mem mem = fixture.make_buffer(1 << 20);
    const auto create = [&](const pi_native_desc *one, pi_event *out) {
        return piEventCreateWithNativeHandle(fixture.context(), one, out);
    };
    const std::string name = "piEventCreateWithNativeHandle";
    for (int round = 0; round < 10; ++round) {
        const Bytes pattern(1, static_cast<std::byte>(round));
        Event first = fixture.fill(queue, mem, 0, 1 << 20, pattern);
        const pi_native_handle handle =
            check_handle("piEventGetNativeHandle",
                         [&](pi_native_handle *out) { return piEventGetNativeHandle(first, out); });
        const pi_native_desc desc = native_desc(handle);
        Event second = make_around<pi_event>(name, desc, create);
        require(get_info<pi_context>(&piEventGetInfo, second.get(), PI_EVENT_INFO_CONTEXT) ==
                    fixture.context(),
                "an event around a native handle reports another context");
        Bytes seen(1 << 20);
        const Event read = fixture.read(other, mem, 0, seen, {second});
        require_error(piEventSignalHost(second, PI_SUCCESS), PI_ERROR_INVALID_OPERATION,
                      "piEventSignalHost of an event of a native handle");
        fixture.wait(read);
        require(seen == Bytes(1 << 20, pattern[0]),
                "a read behind an event of a native handle did not wait for its command");
        fixture.wait(second);
        fixture.wait(first);
        if (round == 0)
            check_refusals<pi_event>(name, desc, create, fixture.device());
        (round % 2 ? first : second).reset();
    }
}

CONFORMANCE_TEST("event",
                 "an event without a native counterpart refuses the query for its handle") {
    need_native(fixture);
    const Event gate = fixture.make_host_event();
    const Event held = fixture.barrier(fixture.make_queue(), {gate});
    for (const pi_event event : {gate.get(), held.get()}) {
        pi_native_handle handle = poison<pi_native_handle>();
        require_error(piEventGetNativeHandle(event, &handle), PI_ERROR_INVALID_OPERATION,
                      "piEventGetNativeHandle of ",
                      event == gate.get() ? "a host event" : "a held command");
        require(same(handle, poison<pi_native_handle>()),
                "piEventGetNativeHandle failed, but wrote its output");
    }
    fixture.signal(gate);
    fixture.wait(held);
}

} // namespace
} // namespace pi::suite
