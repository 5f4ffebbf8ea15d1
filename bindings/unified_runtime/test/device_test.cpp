// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "adapter.hpp"
#include "skip.hpp"

#include <array>
#include <dlfcn.h>
#include <string>

using namespace ur_test;

namespace {

ur_adapter_handle_t the_adapter() {
    ur_adapter_handle_t adapter = nullptr;
    OK(ur().Adapter.pfnGet(1, &adapter, nullptr));
    OK(ur().Adapter.pfnRelease(adapter)); // it lives as long as the process
    return adapter;
}

Owned<ur_device_handle_t> around_native(ur_native_handle_t native) {
    Owned<ur_device_handle_t> device;
    OK(ur().Device.pfnCreateWithNativeHandle(native, the_adapter(), nullptr, device.out()));
    return device;
}

ur_native_handle_t native_of(ur_device_handle_t device) {
    ur_native_handle_t native = 0;
    OK(ur().Device.pfnGetNativeHandle(device, &native));
    return native;
}

/// A sub-device of one compute unit. Empty, if the device is not divided.
Owned<ur_device_handle_t> sub_device() {
    ur_device_partition_property_t property{};
    property.type = UR_DEVICE_PARTITION_EQUALLY;
    property.value.equally = 1;
    ur_device_partition_properties_t properties{};
    properties.stype = UR_STRUCTURE_TYPE_DEVICE_PARTITION_PROPERTIES;
    properties.pProperties = &property;
    properties.PropCount = 1;
    Owned<ur_device_handle_t> part;
    if (ur().Device.pfnPartition(all_devices().front(), &properties, 1, part.out(), nullptr) !=
        UR_RESULT_SUCCESS) {
        pi_test::skip("needs a device that can be divided");
    }
    return part;
}

/// Whether the platform is one of several drivers, whose names it then has.
bool has_several_drivers() {
    std::array<char, 256> name{};
    OK(ur().Platform.pfnGetInfo(first_platform(), UR_PLATFORM_INFO_NAME, name.size(), name.data(),
                                nullptr));
    return std::string(name.data()).find(", ") != std::string::npos;
}

template <class Function>
Function opencl_function(const char *name) {
    void *const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(library != nullptr);
    const auto function = reinterpret_cast<Function>(dlsym(library, name));
    REQUIRE(function != nullptr);
    return function;
}

} // namespace

TEST_CASE("devices are listed by each type, also one that no device has", "[unified_runtime]") {
    const auto count_of = [](ur_device_type_t type) {
        uint32_t count = 0;
        OK(ur().Device.pfnGet(first_platform(), type, 0, nullptr, &count));
        return count;
    };
    uint32_t found = 0;
    for (const ur_device_type_t type :
         {UR_DEVICE_TYPE_CPU, UR_DEVICE_TYPE_GPU, UR_DEVICE_TYPE_FPGA, UR_DEVICE_TYPE_CUSTOM}) {
        found += count_of(type);
    }
    CHECK(found == all_devices().size());
    uint32_t count = 0;
    FAILS(INVALID_ENUMERATION,
          ur().Device.pfnGet(first_platform(),
                             static_cast<ur_device_type_t>(UR_DEVICE_TYPE_CUSTOM + 1), 0, nullptr,
                             &count));
}

TEST_CASE("a platform refuses what is no option of a front end", "[unified_runtime]") {
    const char *text = nullptr;
    for (const char *option : {"", "-O0", "-O3", "-ftarget-compile-fast"}) {
        INFO(option);
        OK(ur().Platform.pfnGetBackendOption(first_platform(), option, &text));
        CHECK(text != nullptr);
    }
    FAILS(INVALID_VALUE,
          ur().Platform.pfnGetBackendOption(first_platform(), "-no-such-option", &text));
    CHECK_THAT(last_error(), Catch::Contains("-no-such-option"));
}

TEST_CASE("a native handle denotes the device or sub-device that has it", "[unified_runtime]") {
    const auto part = sub_device();
    if (part.get() == nullptr) {
        return;
    }
    for (const ur_device_handle_t device : {all_devices().front(), part.get()}) {
        CHECK(around_native(native_of(device)).get() == device);
    }
    CHECK(info<uint32_t>(ur().Device.pfnGetInfo, part.get(), UR_DEVICE_INFO_REFERENCE_COUNT) == 1);
}

TEST_CASE("a sub-device that the application has made becomes one of Unified Runtime",
          "[unified_runtime]") {
    // clCreateSubDevices and clReleaseDevice.
    using Create = int32_t (*)(void *device, const intptr_t *properties, uint32_t count,
                               void **out_devices, uint32_t *out_count);
    using Release = int32_t (*)(void *device);
    constexpr std::array<intptr_t, 3> one_unit_each{0x1086, 1, 0}; // CL_DEVICE_PARTITION_EQUALLY

    const auto of_ur = sub_device();
    if (of_ur.get() == nullptr) {
        return;
    }
    const ur_device_handle_t root = all_devices().front();
    void *const native_root = reinterpret_cast<void *>(native_of(root));
    const auto create = opencl_function<Create>("clCreateSubDevices");
    uint32_t count = 0;
    REQUIRE(create(native_root, one_unit_each.data(), 0, nullptr, &count) == 0);
    std::vector<void *> made(count);
    REQUIRE(create(native_root, one_unit_each.data(), count, made.data(), nullptr) == 0);
    const auto native = reinterpret_cast<ur_native_handle_t>(made.front());

    Owned<ur_device_handle_t> device;
    const ur_result_t result =
        ur().Device.pfnCreateWithNativeHandle(native, the_adapter(), nullptr, device.out());
    if (result == UR_RESULT_ERROR_INVALID_DEVICE && has_several_drivers()) {
        pi_test::skip("with several drivers it is not known whose handle it is");
    } else {
        REQUIRE(result == UR_RESULT_SUCCESS);
        CHECK(native_of(device) == native);
        CHECK(around_native(native).get() == device.get());
        CHECK(info<ur_device_handle_t>(ur().Device.pfnGetInfo, device.get(),
                                       UR_DEVICE_INFO_PARENT_DEVICE) == root);
        size_t size = 1;
        OK(ur().Device.pfnGetInfo(device, UR_DEVICE_INFO_PARTITION_TYPE, 0, nullptr, &size));
        CHECK(size == 0);
        Owned<ur_context_handle_t> context;
        OK(ur().Context.pfnCreate(1, &device.get_ref(), nullptr, context.out()));
        Owned<ur_queue_handle_t> queue;
        OK(ur().Queue.pfnCreate(context, device, nullptr, queue.out()));
        OK(ur().Queue.pfnFinish(queue));
    }
    device.reset();
    const auto release = opencl_function<Release>("clReleaseDevice");
    for (void *const each : made) {
        CHECK(release(each) == 0);
    }
}
