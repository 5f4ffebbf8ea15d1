// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native handles and devices: those of sub-devices, those of contexts of several devices, and which
// a device with PI_CAPABILITY_NATIVE has.

#include "launch_fixture.hpp"
#include "native.hpp"
#include "partition.hpp"
#include "platforms.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

CONFORMANCE_TEST("device", "a device with native handles has one of itself, its contexts and "
                           "buffers, and objects are created around them") {
    need_native(fixture);
    const pi_device device = fixture.device();
    const Context context = fixture.make_context({device});
    pi_native_handle handle{};
    require_success(piDeviceGetNativeHandle(device, &handle), "piDeviceGetNativeHandle");
    pi_native_desc desc = native_desc(handle);
    Device found;
    require_success(piDeviceCreateWithNativeHandle(fixture.platform(), &desc, found.out()),
                    "piDeviceCreateWithNativeHandle");
    require_success(piContextGetNativeHandle(context, device, &handle), "piContextGetNativeHandle");
    desc = native_desc(handle, device);
    Context second;
    require_success(piContextCreateWithNativeHandle(fixture.platform(), &desc, second.out()),
                    "piContextCreateWithNativeHandle");
    check_info(
        "piContextGetInfo of a context around a native handle",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piContextGetInfo(second, name, size, value, out_size);
        },
        context_info_names());
    const Queue queue = fixture.make_queue();
    require_success(piQueueGetNativeHandle(queue, &handle), "piQueueGetNativeHandle");
    desc = native_desc(handle);
    Queue other;
    require_success(piQueueCreateWithNativeHandle(fixture.context(), device, &desc, other.out()),
                    "piQueueCreateWithNativeHandle");
    check_info(
        "piQueueGetInfo of a queue around a native handle",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piQueueGetInfo(other, name, size, value, out_size);
        },
        queue_info_names());
    const Mem mem = fixture.make_buffer(64);
    require_success(piMemGetNativeHandle(mem, device, &handle), "piMemGetNativeHandle");
    const Event filled = fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{1}));
    if (piEventGetNativeHandle(filled, &handle) == PI_SUCCESS) {
        desc = native_desc(handle);
        Event event;
        require_success(piEventCreateWithNativeHandle(fixture.context(), &desc, event.out()),
                        "piEventCreateWithNativeHandle");
        fixture.wait(event);
        check_info(
            "piEventGetInfo of an event around a native handle",
            [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
                return piEventGetInfo(event, name, size, value, out_size);
            },
            event_info_names());
    }
    fixture.wait(filled);
}

CONFORMANCE_TEST("device", "a device's native handle is refused by another platform") {
    need_native(fixture);
    const pi_device another = need_device_of_another_platform(fixture);
    pi_native_handle handle{};
    const pi_result result = piDeviceGetNativeHandle(another, &handle);
    if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the other platform's device has no native handle");
    require_success(result, "piDeviceGetNativeHandle");
    const pi_native_desc desc = native_desc(handle);
    require_untouched<pi_device>(
        "a device of another platform", {PI_ERROR_INVALID_NATIVE_HANDLE}, [&](pi_device *out) {
            return piDeviceCreateWithNativeHandle(fixture.platform(), &desc, out);
        });
}

CONFORMANCE_TEST("device", "a sub-device's native handle makes a new device, which works") {
    need_native(fixture);
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const std::vector<uint32_t> one{1};
    for (const pi_device_partition_desc &way : ways(fixture.device(), one)) {
        const Devices made = partition(fixture.device(), way);
        const pi_native_handle handle =
            check_handle("piDeviceGetNativeHandle", [&](pi_native_handle *out) {
                return piDeviceGetNativeHandle(made[0], out);
            });
        const pi_native_desc desc = native_desc(handle);
        Device second;
        require_success(piDeviceCreateWithNativeHandle(fixture.platform(), &desc, second.out()),
                        "piDeviceCreateWithNativeHandle of a sub-device's handle");
        require(second.get() != made[0].get() && second.get() != fixture.device(),
                "a sub-device's native handle finds a device that there is");
        pi_native_handle its{};
        require_success(piDeviceGetNativeHandle(second, &its), "its handle");
        require_same_values(its, handle, "piDeviceCreateWithNativeHandle");
        require_equal(units_of(second), units_of(made[0]),
                      "the compute units of a device of a sub-device's handle");
        const Context context = fixture.make_context({second});
        require_works(fixture, {second, context}, "a device of a sub-device's native handle");
    }
}

// get(device, out) of an object of a context of these devices: each has a handle, and NULL is one
// of all devices or none.
template <typename Get>
std::vector<pi_native_handle> check_devices(const std::string &name,
                                            const std::vector<pi_device> &devices, Get &&get) {
    std::vector<pi_native_handle> handles;
    for (const pi_device device : devices)
        handles.push_back(
            check_handle(name, [&](pi_native_handle *out) { return get(device, out); }));
    pi_native_handle of_all = poison<pi_native_handle>();
    const pi_result result = get(nullptr, &of_all);
    if (result == PI_SUCCESS)
        for (const pi_native_handle &handle : handles)
            require(same_handle(handle, of_all), name,
                    " has one handle for all devices with the "
                    "device NULL, and others with devices");
    else
        require_error(result, PI_ERROR_INVALID_DEVICE, name, " with the device NULL");
    return handles;
}

CONFORMANCE_TEST("context", "native handles of a context of two devices are those of each device") {
    need_native(fixture);
    const std::vector<pi_device> all = fixture.devices();
    if (all.size() < 2)
        skip("the platform has one device");
    const pi_program_format format = kernel_format(fixture);
    need_program_format(fixture, format, all[1]);
    const std::vector<pi_device> devices{all[0], all[1]};
    const Context context = fixture.make_context(devices);
    const Context alone = fixture.make_context({all[0]});
    check_devices("piContextGetNativeHandle", devices,
                  [&](pi_device device, pi_native_handle *out) {
                      return piContextGetNativeHandle(context, device, out);
                  });
    require_untouched<pi_native_handle>(
        "piContextGetNativeHandle of a device that is not of the context",
        {PI_ERROR_INVALID_DEVICE},
        [&](pi_native_handle *out) { return piContextGetNativeHandle(alone, all[1], out); });

    const pi_program_desc program_desc = kernel_program_desc(format);
    Program program;
    require_success(piProgramCreate(context, &program_desc, program.out()), "piProgramCreate");
    require_success(piProgramBuild(program, nullptr), "piProgramBuild");
    const auto programs = check_devices("piProgramGetNativeHandle", devices,
                                        [&](pi_device device, pi_native_handle *out) {
                                            return piProgramGetNativeHandle(program, device, out);
                                        });
    const Kernel kernel = make_kernel(program, "add");
    const auto kernels = check_devices("piKernelGetNativeHandle", devices,
                                       [&](pi_device device, pi_native_handle *out) {
                                           return piKernelGetNativeHandle(kernel, device, out);
                                       });
    // Each device's handle makes a program that runs there.
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const pi_native_desc desc = native_desc(programs[i], devices[i]);
        const Program second =
            make_around<pi_program>("piProgramCreateWithNativeHandle", desc,
                                    [&](const pi_native_desc *one, pi_program *out) {
                                        return piProgramCreateWithNativeHandle(context, one, out);
                                    });
        require_runs(fixture, second, {devices[i], context});
    }
    const pi_native_desc desc = native_desc(programs[1], all[1]);
    require_untouched<pi_program>(
        "a program of a device that is not of the context",
        {PI_ERROR_INVALID_DEVICE, PI_ERROR_INVALID_NATIVE_HANDLE},
        [&](pi_program *out) { return piProgramCreateWithNativeHandle(alone, &desc, out); });

    // A buffer has a handle for each device that can use it.
    const Mem mem = fixture.make_buffer({all[0], context}, 64);
    for (const pi_device device : devices) {
        const bool usable = fixture.connection({all[0], context}, {device, context}) ==
                            PI_MEMORY_CONNECTION_UNIFIED;
        pi_native_handle handle = poison<pi_native_handle>();
        const pi_result result = piMemGetNativeHandle(mem, device, &handle);
        if (usable)
            require_success(result, "piMemGetNativeHandle for a device that can use the buffer");
        else if (result != PI_SUCCESS)
            require_error(result, PI_ERROR_UNSUPPORTED_FEATURE,
                          "piMemGetNativeHandle for a device that cannot use the buffer");
    }
}

} // namespace
} // namespace pi::suite
