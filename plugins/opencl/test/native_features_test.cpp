// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The infos that runtimes ask for, compared with the driver's own answers.
#include "native.hpp"

#include <algorithm>
#include <array>

using namespace opencl_test;

namespace {

/// `name` is the driver's number, and unsupported where that is 0.
template <class Value, class Vendors>
void same_number(pi_device device, pi_device_info name, cl_device_info theirs) {
    INFO("device info " << name);
    const Vendors number = ask<Vendors>(clGetDeviceInfo, vendor_of(device), theirs);
    Value value{};
    if (number)
        CHECK(info<Value>(piDeviceGetInfo, device, name) == number);
    else
        refused(piDeviceGetInfo(device, name, sizeof value, &value, nullptr),
                PI_ERROR_UNSUPPORTED_FEATURE, {"does not report"});
}

} // namespace

TEST_CASE("a device's rates and limits are the driver's") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const auto small = [&](pi_device_info name, cl_device_info theirs) {
            same_number<uint32_t, cl_uint>(device, name, theirs);
        };
        const auto large = [&](pi_device_info name, cl_device_info theirs) {
            same_number<uint64_t, size_t>(device, name, theirs);
        };
        small(PI_DEVICE_INFO_VENDOR_ID, CL_DEVICE_VENDOR_ID);
        small(PI_DEVICE_INFO_CLOCK_RATE, CL_DEVICE_MAX_CLOCK_FREQUENCY);
        small(PI_DEVICE_INFO_MAX_CONSTANT_ARGUMENTS, CL_DEVICE_MAX_CONSTANT_ARGS);
        large(PI_DEVICE_INFO_MAX_PARAMETER_SIZE, CL_DEVICE_MAX_PARAMETER_SIZE);
        large(PI_DEVICE_INFO_MAX_PRINTF_SIZE, CL_DEVICE_PRINTF_BUFFER_SIZE);
        same_number<uint64_t, cl_ulong>(device, PI_DEVICE_INFO_MAX_CONSTANT_SIZE,
                                        CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
        if (info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_IMAGES)) {
            small(PI_DEVICE_INFO_MAX_READ_IMAGE_ARGUMENTS, CL_DEVICE_MAX_READ_IMAGE_ARGS);
            small(PI_DEVICE_INFO_MAX_WRITE_IMAGE_ARGUMENTS, CL_DEVICE_MAX_WRITE_IMAGE_ARGS);
            small(PI_DEVICE_INFO_MAX_SAMPLERS, CL_DEVICE_MAX_SAMPLERS);
            large(PI_DEVICE_INFO_MAX_IMAGE_ARRAY_SIZE, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
            large(PI_DEVICE_INFO_MAX_IMAGE_BUFFER_SIZE, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
        }
        uint64_t value = 0;
        for (const pi_device_info name :
             {PI_DEVICE_INFO_FREE_MEMORY, PI_DEVICE_INFO_MEMORY_BUS_WIDTH})
            refused(piDeviceGetInfo(device, name, sizeof value, &value, nullptr),
                    PI_ERROR_UNSUPPORTED_FEATURE, {std::to_string(name)});
    }
}

TEST_CASE("a device's float types and vectors are the driver's") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const cl_device_id native = vendor_of(device);
        const auto configs =
            info<std::array<uint32_t, 3>>(piDeviceGetInfo, device, PI_DEVICE_INFO_FP_CONFIGS);
        CHECK(configs[1] ==
              ask<cl_device_fp_config>(clGetDeviceInfo, native, CL_DEVICE_SINGLE_FP_CONFIG));
        CHECK(configs[2] ==
              ask<cl_device_fp_config>(clGetDeviceInfo, native, CL_DEVICE_DOUBLE_FP_CONFIG));
        const auto widths = info<std::array<uint32_t, 7>>(piDeviceGetInfo, device,
                                                          PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS);
        CHECK(widths[0] ==
              ask<cl_uint>(clGetDeviceInfo, native, CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR));
        CHECK(widths[4] ==
              ask<cl_uint>(clGetDeviceInfo, native, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT));
        CHECK((widths[6] != 0) ==
              (info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_FP16) != 0));
    }
}

TEST_CASE("the lists of extensions are the driver's names with single spaces") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        const std::string ours = info_text(piDeviceGetInfo, device, PI_DEVICE_INFO_EXTENSIONS);
        size_t size = 0;
        cl_ok(clGetDeviceInfo(vendor_of(device), CL_DEVICE_EXTENSIONS, 0, nullptr, &size));
        std::string theirs(size, '\0');
        cl_ok(
            clGetDeviceInfo(vendor_of(device), CL_DEVICE_EXTENSIONS, size, theirs.data(), nullptr));
        const auto letters = [](std::string text) {
            std::erase_if(text, [](char c) { return c == ' ' || c == '\0'; });
            return text;
        };
        CHECK(letters(ours) == letters(theirs));
        CHECK(ours.find("  ") == std::string::npos);
    }
}

TEST_CASE("a sub-device reports its kind of partition, also one that the application created") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        const auto kinds = info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_PARTITION_KINDS);
        CHECK(info<pi_partition_kind>(piDeviceGetInfo, device, PI_DEVICE_INFO_PARTITION_KIND) == 0);
        if (!(kinds & 1u << PI_PARTITION_EQUALLY) || !(kinds & 1u << PI_PARTITION_BY_COUNTS))
            continue;
        // Of all units, which the plugin passes to the driver as a list.
        auto desc = pi::desc<pi_device_partition_desc>();
        desc.kind = PI_PARTITION_EQUALLY;
        desc.count = info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_COMPUTE_UNITS);
        Owned<pi_device> part;
        OK(piDevicePartition(device, &desc, 1, part.out(), nullptr));
        CHECK(info<pi_partition_kind>(piDeviceGetInfo, pi_device{part},
                                      PI_DEVICE_INFO_PARTITION_KIND) == PI_PARTITION_EQUALLY);
        const cl_device_partition_property how[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1,
                                                    CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
        ClDevice native;
        cl_ok(clCreateSubDevices(vendor_of(device), how, 1, native.out(), nullptr));
        const pi_native_desc adopted = native_desc(cl_device_id{native});
        Owned<pi_device> theirs;
        const auto platform = info<pi_platform>(piDeviceGetInfo, device, PI_DEVICE_INFO_PLATFORM);
        OK(piDeviceCreateWithNativeHandle(platform, &adopted, theirs.out()));
        CHECK(info<pi_partition_kind>(piDeviceGetInfo, pi_device{theirs},
                                      PI_DEVICE_INFO_PARTITION_KIND) == PI_PARTITION_BY_COUNTS);
    }
}
