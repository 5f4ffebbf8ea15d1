// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects that tests create, each of which must succeed; and the platform of a plugin to create
// them on.
#pragma once

#include "launch.hpp"
#include "one_plugin.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pi_test {

inline Owned<pi_context> make_context(const std::vector<pi_device> &devices) {
    auto d = pi::desc<pi_context_desc>();
    d.devices = devices.data();
    d.device_count = static_cast<uint32_t>(devices.size());
    Owned<pi_context> context;
    OK(piContextCreate(info<pi_platform>(piDeviceGetInfo, devices.at(0), PI_DEVICE_INFO_PLATFORM),
                       &d, context.out()));
    return context;
}
inline Owned<pi_queue> make_queue(pi_context context, pi_device device, uint64_t flags = 0) {
    auto d = pi::desc<pi_queue_desc>();
    d.flags = flags;
    Owned<pi_queue> queue;
    OK(piQueueCreate(context, device, &d, queue.out()));
    return queue;
}
inline pi_mem_buffer_desc buffer_desc(uint64_t size, uint64_t flags = 0, void *host_ptr = nullptr,
                                      uint64_t alignment = 0, uint32_t scope = 0) {
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.size = size;
    d.flags = flags;
    d.host_ptr = host_ptr;
    d.alignment = alignment;
    d.scope = scope;
    return d;
}
inline Owned<pi_mem> make_buffer(pi_context context, pi_device device,
                                 const pi_mem_buffer_desc &d) {
    Owned<pi_mem> mem;
    OK(piMemBufferCreate(context, device, &d, mem.out()));
    return mem;
}
inline Owned<pi_mem> make_buffer(pi_context context, pi_device device, uint64_t size) {
    return make_buffer(context, device, buffer_desc(size));
}
/// A buffer with a copy of `bytes`.
template <class Byte>
Owned<pi_mem> make_buffer(pi_context context, pi_device device, const std::vector<Byte> &bytes) {
    static_assert(sizeof(Byte) == 1);
    void *const host_ptr = const_cast<Byte *>(bytes.data());
    return make_buffer(context, device, buffer_desc(bytes.size(), PI_MEM_COPY_HOST_PTR, host_ptr));
}
inline Owned<pi_mem> make_view(pi_mem parent, uint64_t offset, uint64_t size, uint64_t flags = 0) {
    auto d = pi::desc<pi_mem_partition_desc>();
    d.offset = offset;
    d.size = size;
    d.flags = flags;
    Owned<pi_mem> view;
    OK(piMemBufferPartition(parent, &d, view.out()));
    return view;
}
inline Owned<pi_event> make_host_event(pi_context context) {
    Owned<pi_event> event;
    OK(piEventCreateHost(context, nullptr, event.out()));
    return event;
}
inline Owned<pi_program> make_unbuilt(pi_context context, pi_program_format format,
                                      const std::string &data) {
    auto d = pi::desc<pi_program_desc>();
    d.format = format;
    d.data = data.data();
    d.size = data.size();
    Owned<pi_program> program;
    OK(piProgramCreate(context, &d, program.out()));
    return program;
}

/// The first platform of a loader's only plugin, and a context of all its devices, or of those with
/// the given indices.
struct PlatformFixture {
    explicit PlatformFixture(Owned<pi_loader> made, const std::vector<size_t> &of_context = {})
        : loader(std::move(made)) {
        pi_plugin_report report{};
        uint32_t count = 0;
        OK(piLoaderGetReports(loader, 1, &report, &count));
        INFO(report.reason);
        REQUIRE(count == 1);
        REQUIRE(report.status == PI_PLUGIN_LOADED);
        plugin = report.plugin;
        OK(piPlatformsGet(plugin, 1, &platform, &count));
        OK(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 0, nullptr, &count));
        devices.resize(count);
        OK(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, count, devices.data(), &count));
        context = of_context.empty() ? pi_test::make_context(devices) : make_context(of_context);
    }

    pi_device device(size_t index = 0) const { return devices.at(index); }
    Owned<pi_context> make_context(const std::vector<size_t> &of) const {
        std::vector<pi_device> list;
        for (const size_t index : of)
            list.push_back(device(index));
        return pi_test::make_context(list);
    }
    Owned<pi_queue> queue(size_t index = 0, uint64_t flags = 0) const {
        return make_queue(context, device(index), flags);
    }
    Owned<pi_mem> buffer(size_t index, const pi_mem_buffer_desc &d) const {
        return make_buffer(context, device(index), d);
    }
    Owned<pi_mem> buffer(size_t index, uint64_t size) const {
        return make_buffer(context, device(index), size);
    }
    pi_memory_connection_info connection(size_t src, size_t dst) const {
        auto info = pi::desc<pi_memory_connection_info>();
        OK(piGetMemoryConnectionInfo(device(src), context, device(dst), context, nullptr, &info));
        return info;
    }

    Owned<pi_loader> loader;
    pi_plugin plugin = nullptr;
    pi_platform platform = nullptr;
    std::vector<pi_device> devices;
    Owned<pi_context> context;
};

} // namespace pi_test
