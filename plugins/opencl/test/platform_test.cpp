// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"
#include "skip.hpp"

#include <algorithm>
#include <array>
#include <cctype>

using namespace opencl_test;

TEST_CASE("every platform and device reports its identity") {
    Loader loader;
    for (pi_platform platform : loader.platforms()) {
        CHECK(!info_text(piPlatformGetInfo, platform, PI_PLATFORM_INFO_NAME).empty());
        CHECK_THAT(info_text(piPlatformGetInfo, platform, PI_PLATFORM_INFO_VERSION),
                   Catch::StartsWith("OpenCL "));
        CHECK(info<pi_plugin>(piPlatformGetInfo, platform, PI_PLATFORM_INFO_PLUGIN) ==
              loader.plugin());
        CHECK(info<uint32_t>(piPlatformGetInfo, platform, PI_PLATFORM_INFO_BACKEND) ==
              PI_BACKEND_OPENCL);
    }
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const auto u32 = [&](pi_device_info name) {
            return info<uint32_t>(piDeviceGetInfo, device, name);
        };
        const auto u64 = [&](pi_device_info name) {
            return info<uint64_t>(piDeviceGetInfo, device, name);
        };
        CHECK(u32(PI_DEVICE_INFO_TYPE) == PI_DEVICE_TYPE_CPU);
        CHECK(info<pi_device>(piDeviceGetInfo, device, PI_DEVICE_INFO_PARENT) == nullptr);
        CHECK(u32(PI_DEVICE_INFO_COMPUTE_UNITS) >= 1);
        CHECK(u64(PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE) >= 1);
        CHECK(u64(PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE) >= u64(PI_DEVICE_INFO_MAX_ALLOCATION_SIZE));
        CHECK(u64(PI_DEVICE_INFO_LOCAL_MEMORY_SIZE) >= 1024);
        CHECK(u32(PI_DEVICE_INFO_ADDRESS_BITS) == 64);
        CHECK(u32(PI_DEVICE_INFO_INTEGRATED) == 1);
        CHECK(u32(PI_DEVICE_INFO_BUFFER_OFFSET_MODE) == PI_BUFFER_OFFSET_SUB_BUFFER);
        CHECK(u32(PI_DEVICE_INFO_PROGRAM_FORMATS) & 1 << PI_PROGRAM_FORMAT_OPENCL_C);
        CHECK(u64(PI_DEVICE_INFO_QUEUE_FLAGS) & PI_QUEUE_OUT_OF_ORDER);
        const auto sizes = info<std::array<uint64_t, 3>>(piDeviceGetInfo, device,
                                                         PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES);
        CHECK(*std::min_element(sizes.begin(), sizes.end()) >= 1);
        const pi_memory_scope scope = scope_of(device);
        CHECK(std::string(scope.name) == "global");
        CHECK(scope.max_allocation == u64(PI_DEVICE_INFO_MAX_ALLOCATION_SIZE));
        CHECK(scope.min_alignment >= 16);
        // None of these drivers has these: absent, never zeros.
        uint8_t identity[16];
        for (const pi_device_info name :
             {PI_DEVICE_INFO_LUID, PI_DEVICE_INFO_PCI_ADDRESS, PI_DEVICE_INFO_NUMA_NODE})
            refused(piDeviceGetInfo(device, name, sizeof identity, identity, nullptr),
                    PI_ERROR_UNSUPPORTED_FEATURE, {"does not report"});
        refused(piDeviceGetInfo(device, 9999, 8, identity, nullptr), PI_ERROR_INVALID_ENUMERATION);
        OK(piDeviceRetain(device));
        OK(piDeviceRelease(device));
    }
}

TEST_CASE("the plugin's capabilities agree with the device's properties") {
    Loader loader;
    const auto all = info<uint64_t>(piPluginGetInfo, loader.plugin(), PI_PLUGIN_INFO_CAPABILITIES);
    CHECK(all & PI_CAPABILITY_PROGRAM);
    CHECK(!(all & PI_CAPABILITY_USM_REGISTER));
    for (pi_device device : loader.devices()) {
        const auto own = info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_CAPABILITIES);
        CHECK((own & ~all) == 0);
    }
}

TEST_CASE("a missing library makes the plugin unavailable, with the reason") {
    Loader loader(Options{{"PI_OPENCL_LIBRARY", "/nonexistent/libOpenCL.so"}});
    uint32_t count = 0;
    for (int attempt = 0; attempt < 2; ++attempt)
        refused(piPlatformsGet(loader.plugin(), 0, nullptr, &count), PI_ERROR_UNAVAILABLE,
                {"/nonexistent/libOpenCL.so"});
    uint32_t reports = 0;
    OK(piLoaderGetReports(loader.get(), 0, nullptr, &reports));
    REQUIRE(reports == 1);
    pi_plugin_report report{};
    OK(piLoaderGetReports(loader.get(), 1, &report, &reports));
    CHECK(report.status == PI_PLUGIN_UNAVAILABLE);
    CHECK_THAT(report.reason, Catch::Contains("/nonexistent/libOpenCL.so"));
}

TEST_CASE("a library that is not OpenCL is unavailable, with the function that it lacks") {
    Loader loader(Options{{"PI_OPENCL_LIBRARY", "libm.so.6"}});
    uint32_t count = 0;
    refused(piPlatformsGet(loader.plugin(), 0, nullptr, &count), PI_ERROR_UNAVAILABLE,
            {"libm.so.6", "cl"});
}

TEST_CASE("PI_OPENCL_PLATFORMS chooses platforms by parts of their names") {
    Loader all;
    std::vector<std::string> names;
    for (pi_platform platform : all.platforms())
        names.push_back(info_text(piPlatformGetInfo, platform, PI_PLATFORM_INFO_NAME));
    for (const std::string &name : names) {
        std::string part = name.substr(1, 5);
        std::transform(part.begin(), part.end(), part.begin(), ::toupper);
        const std::string list = "no such thing," + part;
        Loader one(Options{{"PI_OPENCL_PLATFORMS", list.c_str()}});
        for (pi_platform platform : one.platforms())
            CHECK_THAT(info_text(piPlatformGetInfo, platform, PI_PLATFORM_INFO_NAME),
                       Catch::Contains(part, Catch::CaseSensitive::No));
        CHECK(one.platforms().size() >= 1);
    }
    Loader none(Options{{"PI_OPENCL_PLATFORMS", "no such thing"}});
    uint32_t count = 0;
    refused(piPlatformsGet(none.plugin(), 0, nullptr, &count), PI_ERROR_UNAVAILABLE,
            {"PI_OPENCL_PLATFORMS", names[0]});
}

TEST_CASE("a platform without devices returns none") {
    Loader loader;
    bool seen = false;
    for (pi_platform platform : loader.platforms()) {
        uint32_t count = 7;
        OK(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 0, nullptr, &count));
        seen = seen || count == 0;
        OK(piDevicesGet(platform, PI_DEVICE_TYPE_ACCELERATOR, 0, nullptr, &count));
        CHECK(count == 0);
        OK(piDevicesGet(platform, 1 << 20, 0, nullptr, &count));
        CHECK(count == 0);
    }
    if (!seen)
        pi_test::skip("needs a platform without devices (clover comes with rusticl)");
}

TEST_CASE("a context over devices of two platforms, or with a device twice, is refused") {
    Loader loader;
    const std::vector<pi_device> devices = loader.devices();
    const auto create = [&](const std::vector<pi_device> &list) {
        auto desc = pi::desc<pi_context_desc>();
        desc.devices = list.data();
        desc.device_count = static_cast<uint32_t>(list.size());
        Context context;
        return piContextCreate(platform_of(devices[0]), &desc, context.out());
    };
    refused(create({}), PI_ERROR_INVALID_SIZE, {"device_count"});
    refused(create({devices[0], nullptr}), PI_ERROR_INVALID_DEVICE, {"devices[1]", "NULL"});
    refused(create({devices[0], devices[0]}), PI_ERROR_INVALID_DEVICE, {"devices[1]", "once"});
    if (platform_of(devices.back()) != platform_of(devices[0]))
        refused(create({devices[0], devices.back()}), PI_ERROR_INVALID_DEVICE,
                {"devices[1]", platform_name_of(devices.back())});
    const Context context = make_context({devices[0]});
    Queue queue;
    refused(piQueueCreate(context, devices.back(), nullptr, queue.out()), PI_ERROR_INVALID_DEVICE);
}

TEST_CASE("two loaders use the plugin at once and their handles do not mix") {
    Loader one, two;
    const Place here(one.devices()[0]), there(two.devices()[0]);
    const Mem mem = here.buffer(64), another = there.buffer(64);
    auto desc = pi::desc<pi_buffer_copy_desc>();
    desc.src = mem;
    desc.dst = another;
    const pi_region region = range(0, 0, 64);
    desc.regions = &region;
    desc.region_count = 1;
    Event event;
    refused(piEnqueueMemBufferCopy(here.queue, &desc, 0, nullptr, event.out()),
            PI_ERROR_INVALID_MEM_OBJECT, {"dst", "another"});
    const Event other = make_host_event(there.context);
    OK(piEventSignalHost(other, PI_SUCCESS));
    const pi_event list[] = {other};
    refused(piEnqueueBarrier(here.queue, nullptr, 1, list, event.out()), PI_ERROR_INVALID_EVENT,
            {"wait_list[0]"});
}

TEST_CASE("compiler options are translated") {
    Loader loader;
    char words[64];
    for (pi_platform platform : loader.platforms()) {
        OK(piPlatformGetBackendOption(platform, "-O0", sizeof words, words, nullptr));
        CHECK(std::string(words) == "-cl-opt-disable");
        OK(piPlatformGetBackendOption(platform, "-O3", sizeof words, words, nullptr));
        CHECK(std::string(words).empty());
        bool rounds = true;
        for (pi_device device : loader.devices()) {
            const auto configs =
                info<std::array<uint32_t, 3>>(piDeviceGetInfo, device, PI_DEVICE_INFO_FP_CONFIGS);
            if (platform_of(device) == platform)
                rounds = rounds && (configs[1] & PI_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
        }
        for (const char *option : {"-foffload-fp32-prec-div", "-foffload-fp32-prec-sqrt"}) {
            OK(piPlatformGetBackendOption(platform, option, sizeof words, words, nullptr));
            CHECK(std::string(words) == (rounds ? "-cl-fp32-correctly-rounded-divide-sqrt" : ""));
        }
    }
}
