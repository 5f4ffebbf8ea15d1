// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"
#include "skip.hpp"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <clocale>
#include <csignal>
#include <ctime>
#include <mutex>
#include <thread>

using namespace pi_test;

TEST_CASE("the plugin reports its name, version and capabilities") {
    const Host host;
    CHECK(info_text(piPluginGetInfo, host.plugin, PI_PLUGIN_INFO_NAME) == "host");
    CHECK(!info_text(piPluginGetInfo, host.plugin, PI_PLUGIN_INFO_VERSION).empty());
    const auto capabilities =
        info<uint64_t>(piPluginGetInfo, host.plugin, PI_PLUGIN_INFO_CAPABILITIES);
    CHECK(capabilities & PI_CAPABILITY_PROGRAM);
    CHECK(capabilities & PI_CAPABILITY_IMAGE);
    CHECK_FALSE(capabilities & PI_CAPABILITY_NATIVE);
    CHECK(info<uint64_t>(piDeviceGetInfo, host.device, PI_DEVICE_INFO_CAPABILITIES) ==
          capabilities);
    REFUSED(PI_ERROR_INVALID_ENUMERATION, "name 99",
            piPluginGetInfo(host.plugin, 99, 0, nullptr, nullptr));
}

TEST_CASE("there is one platform, always the same") {
    const Host host;
    pi_platform again = nullptr;
    uint32_t count = 0;
    OK(piPlatformsGet(host.plugin, 1, &again, &count));
    CHECK(again == host.platform);
    CHECK(count == 1);
    CHECK(info<uint32_t>(piPlatformGetInfo, host.platform, PI_PLATFORM_INFO_BACKEND) ==
          PI_BACKEND_HOST);
    CHECK(info<pi_plugin>(piPlatformGetInfo, host.platform, PI_PLATFORM_INFO_PLUGIN) ==
          host.plugin);
    CHECK(!info_text(piPlatformGetInfo, host.platform, PI_PLATFORM_INFO_NAME).empty());
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "both NULL",
            piPlatformsGet(host.plugin, 0, nullptr, nullptr));
}

TEST_CASE("each NUMA node is a CPU device with processors and memory") {
    const Host host;
    std::vector<uint32_t> nodes;
    for (pi_device device : host.devices) {
        CHECK(info<pi_device_type>(piDeviceGetInfo, device, PI_DEVICE_INFO_TYPE) ==
              PI_DEVICE_TYPE_CPU);
        CHECK(!info_text(piDeviceGetInfo, device, PI_DEVICE_INFO_NAME).empty());
        CHECK(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_COMPUTE_UNITS) >= 1);
        CHECK(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_INTEGRATED) == 1);
        CHECK(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_HOST_POINTER_IMPORT) == 1);
        CHECK(info<pi_platform>(piDeviceGetInfo, device, PI_DEVICE_INFO_PLATFORM) == host.platform);
        pi_memory_scope scope{};
        uint32_t count = 0;
        OK(piDeviceGetMemoryScopes(device, 1, &scope, &count));
        REQUIRE(count == 2);
        CHECK(std::string(scope.name) == "global");
        CHECK(scope.capacity ==
              info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE));
        CHECK(scope.capacity > 0);
        CHECK(scope.min_alignment == 64);
        CHECK(scope.offset_alignment == 1);
        nodes.push_back(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_NUMA_NODE));
    }
    std::sort(nodes.begin(), nodes.end());
    CHECK(std::unique(nodes.begin(), nodes.end()) == nodes.end());
}

TEST_CASE("a device reports its processors' caches, vectors and free memory") {
    const Host host;
    for (pi_device device : host.devices) {
        const auto widths = info<std::array<uint32_t, 7>>(piDeviceGetInfo, device,
                                                          PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS);
        // Of as many bytes, whatever the type.
        CHECK(widths[0] == 8 * widths[3]);
        CHECK(widths[4] == 2 * widths[5]);
        CHECK(widths[6] == 0);
        CHECK(widths[0] >= 16);
        if (!machine_is_invented())
            CHECK(info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_FREE_MEMORY) > 0);
        CHECK(info_text(piDeviceGetInfo, device, PI_DEVICE_INFO_IL_VERSIONS).empty());
        const auto access =
            info<std::array<uint32_t, 5>>(piDeviceGetInfo, device, PI_DEVICE_INFO_USM_ACCESS);
        CHECK(access == std::array<uint32_t, 5>{15, 15, 15, 15, 15});
        uint64_t value = 0;
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "name 72",
                piDeviceGetInfo(device, PI_DEVICE_INFO_DEVICE_ID, sizeof value, &value, nullptr));
    }
}

TEST_CASE("the last cache and its line are those that the system shows") {
    if (machine_is_invented())
        return skip("hwloc's machine is not this one");
    const long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
    if (line <= 0)
        return skip("the system does not report its caches");
    const Host host;
    uint32_t ours = 0;
    const pi_result result =
        piDeviceGetInfo(host.device, PI_DEVICE_INFO_CACHE_LINE_SIZE, sizeof ours, &ours, nullptr);
    if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        return skip("hwloc does not know the caches");
    OK(result);
    CHECK(ours == static_cast<uint32_t>(line));
    CHECK(info<uint64_t>(piDeviceGetInfo, host.device, PI_DEVICE_INFO_CACHE_SIZE) >=
          static_cast<uint64_t>(std::max(0L, sysconf(_SC_LEVEL1_DCACHE_SIZE))));
}

TEST_CASE("only CPUs are found") {
    const Host host;
    uint32_t count = 99;
    OK(piDevicesGet(host.platform, PI_DEVICE_TYPE_GPU, 0, nullptr, &count));
    CHECK(count == 0);
    OK(piDevicesGet(host.platform, PI_DEVICE_TYPE_CPU | PI_DEVICE_TYPE_GPU, 0, nullptr, &count));
    CHECK(count == host.devices.size());
    OK(piDevicesGet(host.platform, 16, 0, nullptr, &count));
    CHECK(count == 0);
}

TEST_CASE("identity queries of a node are refused, not answered with zeros") {
    const Host host;
    for (pi_device_info name :
         {PI_DEVICE_INFO_UUID, PI_DEVICE_INFO_LUID, PI_DEVICE_INFO_PCI_ADDRESS}) {
        uint64_t size = 0;
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "no identity",
                piDeviceGetInfo(host.device, name, 0, nullptr, &size));
    }
    uint64_t size = 0;
    REFUSED(PI_ERROR_INVALID_ENUMERATION, "name 9999",
            piDeviceGetInfo(host.device, 9999, 0, nullptr, &size));
}

TEST_CASE("an info query whose value does not fit writes nothing") {
    const Host host;
    char small[2] = {'x', 'y'};
    REFUSED(PI_ERROR_INVALID_SIZE, "size is 2",
            piPluginGetInfo(host.plugin, PI_PLUGIN_INFO_NAME, 2, small, nullptr));
    CHECK(small[0] == 'x');
}

TEST_CASE("the device uses the host's clock") {
    const Host host;
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    const uint64_t before = uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
    uint64_t device_time = 0, host_time = 0;
    OK(piDeviceGetGlobalTimestamps(host.device, &device_time, &host_time));
    clock_gettime(CLOCK_MONOTONIC, &time);
    const uint64_t after = uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
    CHECK(device_time >= before);
    CHECK(device_time <= after);
    CHECK(host_time == device_time);
    OK(piDeviceGetGlobalTimestamps(host.device, nullptr, nullptr));
}

TEST_CASE("root devices are not counted") {
    const Host host;
    const auto before =
        info<uint32_t>(piDeviceGetInfo, host.device, PI_DEVICE_INFO_REFERENCE_COUNT);
    OK(piDeviceRetain(host.device));
    CHECK(info<uint32_t>(piDeviceGetInfo, host.device, PI_DEVICE_INFO_REFERENCE_COUNT) == before);
    for (int i = 0; i < 5; ++i)
        OK(piDeviceRelease(host.device));
    CHECK(info<pi_device_type>(piDeviceGetInfo, host.device, PI_DEVICE_INFO_TYPE) ==
          PI_DEVICE_TYPE_CPU);
}

TEST_CASE("the calling thread's binding does not change") {
    const auto look = [] {
        cpu_set_t affinity;
        CPU_ZERO(&affinity);
        sched_getaffinity(0, sizeof affinity, &affinity);
        sigset_t signals;
        pthread_sigmask(SIG_SETMASK, nullptr, &signals);
        std::vector<int> state;
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            state.push_back(CPU_ISSET(cpu, &affinity));
        for (int signal = 1; signal < 32; ++signal)
            state.push_back(sigismember(&signals, signal));
        return std::pair(state, std::string(setlocale(LC_ALL, nullptr)));
    };
    const auto before = look();
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(1 << 20);
    const uint32_t pattern = 7;
    const auto fill = fill_desc(mem, &pattern, 4, 0, 1 << 20, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    OK(piQueueFinish(queue));
    CHECK(look() == before);
}

namespace {

struct Log {
    std::mutex mutex;
    std::string text;
    static void PI_CALL write(uint32_t, const char *message, void *user_data) {
        Log &log = *static_cast<Log *>(user_data);
        std::lock_guard lock(log.mutex);
        log.text += message;
    }
};

} // namespace

TEST_CASE("PI_HOST_THREADS limits the threads of kernels") {
    const Host host(make_loader({{"PI_HOST_THREADS", "1"}}));
    CHECK(info<uint32_t>(piDeviceGetInfo, host.device, PI_DEVICE_INFO_COMPUTE_UNITS) == 1);
}

TEST_CASE("a PI_HOST_THREADS that is not a number is logged and ignored") {
    Log log;
    {
        const char *plugins[] = {PI_TEST_HOST_PLUGIN};
        const pi_loader_option option = {"PI_HOST_THREADS", "many"};
        auto d = pi::desc<pi_loader_desc>();
        d.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
        d.plugins = plugins;
        d.plugin_count = 1;
        d.options = &option;
        d.option_count = 1;
        d.log = Log::write;
        d.log_user_data = &log;
        Owned<pi_loader> loader;
        const pi_result made = piLoaderCreate(&d, loader.out());
        if (made == PI_SUCCESS) // the loader may also refuse it itself
            CHECK_NOTHROW(Host(std::move(loader)));
        else
            log.text += last_error();
    }
    CHECK_THAT(log.text, Catch::Contains("PI_HOST_THREADS") && Catch::Contains("many"));
}
