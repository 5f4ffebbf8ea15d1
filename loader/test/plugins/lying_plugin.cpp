// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lying_plugin.hpp"
#include "plugin_common.hpp"

#include <atomic>
#include <type_traits>
#include <utility>
#include <vector>

#include <dlfcn.h>

namespace {

// Set once, when the first loader opens the underlying plugin.
pi_dispatch behind;
const pi_host *host_of_calls;

std::atomic<uint32_t> ways{LYING_NOT};
std::atomic<pi_device> liar{nullptr};
std::atomic<uint64_t> fail_at{0};
std::atomic<uint64_t> calls{0};
std::atomic<uint64_t> copies{0};

bool fails() {
    return ++calls == fail_at;
}

template <typename Row, typename Function>
struct Counted;
template <typename Row, typename... Arguments>
struct Counted<Row, pi_result (*)(Arguments...)> {
    static pi_result PI_CALL call(Arguments... arguments) {
        if (fails()) {
            host_of_calls->set_error(host_of_calls, PI_ERROR_BACKEND, "the lying plugin fails");
            return PI_ERROR_BACKEND;
        }
        return Row::behind()(arguments...);
    }
};
#define PI_FUNCTION(function, group, needs, since)                                                 \
    struct function##Row {                                                                         \
        static auto behind() { return ::behind.function; }                                         \
    };
#include <pi/pi_functions.def>

constexpr bool undoes(std::string_view name) {
    return name.ends_with("Release") || name.ends_with("Free");
}

pi_device device_of(pi_mem mem) {
    pi_device device = nullptr;
    behind.piMemGetInfo(mem, PI_MEM_INFO_DEVICE, sizeof device, &device, nullptr);
    return device;
}

pi_device device_of(pi_queue queue) {
    pi_device device = nullptr;
    behind.piQueueGetInfo(queue, PI_QUEUE_INFO_DEVICE, sizeof device, &device, nullptr);
    return device;
}

// Whether bytes from src to dst are lost.
bool lies(LyingWay way, pi_device src, pi_device dst) {
    return (ways & way) != 0 && src != dst && (liar == nullptr || liar == src);
}

// The parts of linear regions in every other page of the destination.
std::vector<pi_region> lost(const pi_region *regions, uint32_t count) {
    std::vector<pi_region> left;
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t end = regions[i].dst_offset + regions[i].extent[0];
        for (uint64_t at = regions[i].dst_offset; at < end; at = (at / 4096 + 1) * 4096) {
            if (at / 4096 % 2 != 0)
                continue;
            pi_region part = regions[i];
            part.src_offset += at - part.dst_offset;
            part.dst_offset = at;
            part.extent[0] = std::min(end, (at / 4096 + 1) * 4096) - at;
            left.push_back(part);
        }
    }
    return left;
}

// A command that would move nothing moves one byte.
template <typename Desc>
Desc shortened(const Desc &desc, std::vector<pi_region> &regions) {
    regions = lost(desc.regions, desc.region_count);
    Desc less = desc;
    if (regions.empty()) {
        regions.assign(1, desc.regions[0]);
        regions[0].extent[0] = 1;
    }
    less.regions = regions.data();
    less.region_count = static_cast<uint32_t>(regions.size());
    return less;
}

template <typename Row, typename Desc>
pi_result enqueue(LyingWay way, pi_queue queue, const Desc *desc, pi_device src, pi_device dst,
                  uint32_t count, const pi_event *list, pi_event *out_event) {
    std::vector<pi_region> regions;
    const Desc less = lies(way, src, dst) ? shortened(*desc, regions) : *desc;
    return Counted<Row, decltype(Row::behind())>::call(queue, &less, count, list, out_event);
}

pi_result copy(pi_queue queue, const pi_buffer_copy_desc *desc, uint32_t count,
               const pi_event *list, pi_event *out_event) {
    ++copies;
    return enqueue<piEnqueueMemBufferCopyRow>(LYING_COPIES, queue, desc, device_of(desc->src),
                                              device_of(desc->dst), count, list, out_event);
}

// The host's end of a read or write is the queue's device.
pi_result read(pi_queue queue, const pi_buffer_read_desc *desc, uint32_t count,
               const pi_event *list, pi_event *out_event) {
    return enqueue<piEnqueueMemBufferReadRow>(LYING_READS, queue, desc, device_of(desc->mem),
                                              device_of(queue), count, list, out_event);
}
pi_result write(pi_queue queue, const pi_buffer_write_desc *desc, uint32_t count,
                const pi_event *list, pi_event *out_event) {
    return enqueue<piEnqueueMemBufferWriteRow>(LYING_WRITES, queue, desc, device_of(queue),
                                               device_of(desc->mem), count, list, out_event);
}

pi_result launch(pi_queue queue, const pi_kernel_launch_desc *desc, uint32_t count,
                 const pi_event *list, pi_event *out_event) {
    pi_kernel_launch_desc less = *desc;
    if ((ways & LYING_KERNELS) != 0)
        less.global_size[0] /= 2;
    return Counted<piEnqueueKernelLaunchRow, decltype(behind.piEnqueueKernelLaunch)>::call(
        queue, &less, count, list, out_event);
}

pi_result build(pi_program program, const pi_program_build_desc *desc) {
    if ((ways & LYING_BUILDS) != 0) {
        host_of_calls->set_error(host_of_calls, PI_ERROR_BUILD_FAILED, "the compiler is away");
        return PI_ERROR_BUILD_FAILED;
    }
    return Counted<piProgramBuildRow, decltype(behind.piProgramBuild)>::call(program, desc);
}

const lying_plugin_table extension = {
    sizeof(lying_plugin_table),
    [](uint32_t how, pi_device from) {
        ways = how;
        liar = from;
    },
    [](uint64_t number) {
        fail_at = number;
        calls = 0;
        copies = 0;
    },
    [] { return calls.load(); },
    [] { return copies.load(); },
};

pi_result get_extension(pi_plugin plugin, const char *name, uint64_t size, const void **out_table) {
    if (std::string_view(name) != lying_plugin_extension)
        return behind.piPluginGetExtension != nullptr
                   ? behind.piPluginGetExtension(plugin, name, size, out_table)
                   : PI_ERROR_INVALID_NAME;
    *out_table = &extension;
    return PI_SUCCESS;
}

// Results of simulated devices are not stored beyond the process; those of this platform are.
pi_result platform_info(pi_platform platform, pi_platform_info name, uint64_t size, void *value,
                        uint64_t *out_size) {
    const uint32_t backend = PI_BACKEND_OTHER;
    return name == PI_PLATFORM_INFO_BACKEND
               ? test_plugin::give(&backend, sizeof backend, size, value, out_size)
               : behind.piPlatformGetInfo(platform, name, size, value, out_size);
}

pi_dispatch table;

} // namespace

pi_result piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    const char *path = host->get_option(host, lying_plugin_option);
    void *library =
        path != nullptr ? ::dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : nullptr;
    if (library == nullptr) {
        host->set_error(host, PI_ERROR_UNAVAILABLE, "PI_LYING_PLUGIN names no plugin");
        return PI_ERROR_UNAVAILABLE;
    }
    const auto main = reinterpret_cast<pi_plugin_main>(::dlsym(library, "piPluginMain"));
    if (const pi_result result = main(host, out_desc))
        return result;
    host_of_calls = host;
    behind = table = *out_desc->functions;
#define PI_FUNCTION(name, group, needs, since)                                                     \
    if (table.name != nullptr && !undoes(#name))                                                   \
        table.name = &Counted<name##Row, decltype(table.name)>::call;
#include <pi/pi_functions.def>
    table.piPluginGetExtension = get_extension;
    table.piPlatformGetInfo = platform_info;
    table.piEnqueueMemBufferCopy = copy;
    table.piEnqueueMemBufferRead = read;
    table.piEnqueueMemBufferWrite = write;
    table.piEnqueueKernelLaunch = launch;
    table.piProgramBuild = build;
    out_desc->functions = &table;
    return PI_SUCCESS;
}
