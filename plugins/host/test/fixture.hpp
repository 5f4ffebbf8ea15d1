// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixture of the host plugin's tests: a loader with this plugin only. Tests use the public
// interface.
#pragma once

#include "config.hpp"
#include "objects.hpp"
#include "one_plugin.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pi_test {

inline Owned<pi_loader> make_loader(std::vector<pi_loader_option> options = {},
                                    pi_log_callback log = nullptr, void *log_user_data = nullptr) {
    if (const char *threads = host_threads(); threads && options.empty())
        options.push_back({"PI_HOST_THREADS", threads});
    return load_one_plugin(PI_TEST_HOST_PLUGIN, options, log, log_user_data);
}

/// A loader with the host plugin and a context of all its devices.
struct Host {
    Owned<pi_loader> loader;
    pi_plugin plugin = nullptr;
    pi_platform platform = nullptr;
    std::vector<pi_device> devices;
    pi_device device = nullptr; ///< the first
    Owned<pi_context> context;

    Host() : Host(make_loader()) {}
    explicit Host(Owned<pi_loader> made) : loader(std::move(made)) {
        uint32_t count = 0;
        OK(piPluginsGet(loader, 1, &plugin, &count));
        REQUIRE(count == 1);
        OK(piPlatformsGet(plugin, 1, &platform, &count));
        REQUIRE(count == 1);
        OK(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 0, nullptr, &count));
        REQUIRE(count >= 1);
        devices.resize(count);
        OK(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, count, devices.data(), &count));
        device = devices.front();
        context = make_context(devices);
    }

    Owned<pi_context> make_context(const std::vector<pi_device> &of) const {
        auto d = pi::desc<pi_context_desc>();
        d.device_count = static_cast<uint32_t>(of.size());
        d.devices = of.data();
        Owned<pi_context> made;
        OK(piContextCreate(platform, &d, made.out()));
        return made;
    }

    Owned<pi_queue> make_queue(uint64_t flags = 0) const {
        auto d = pi::desc<pi_queue_desc>();
        d.flags = flags;
        Owned<pi_queue> queue;
        OK(piQueueCreate(context, device, &d, queue.out()));
        return queue;
    }

    static pi_mem_buffer_desc buffer_desc(uint64_t size) {
        auto d = pi::desc<pi_mem_buffer_desc>();
        d.size = size;
        return d;
    }
    Owned<pi_mem> make_buffer(const pi_mem_buffer_desc &d) const {
        Owned<pi_mem> mem;
        OK(piMemBufferCreate(context, device, &d, mem.out()));
        return mem;
    }
    Owned<pi_mem> make_buffer(uint64_t size) const { return make_buffer(buffer_desc(size)); }
    /// A buffer with a copy of `bytes`.
    Owned<pi_mem> make_buffer(const std::vector<std::byte> &bytes) const {
        auto d = buffer_desc(bytes.size());
        d.flags = PI_MEM_COPY_HOST_PTR;
        d.host_ptr = const_cast<std::byte *>(bytes.data());
        return make_buffer(d);
    }
    Owned<pi_mem> make_import(void *pointer, uint64_t size) const {
        auto d = pi::desc<pi_mem_import_desc>();
        d.size = size;
        d.handle.type = PI_EXTERNAL_HOST_POINTER;
        d.handle.pointer = pointer;
        Owned<pi_mem> mem;
        OK(piMemImport(context, device, &d, mem.out()));
        return mem;
    }
    static Owned<pi_mem> make_view(pi_mem parent, uint64_t offset, uint64_t size) {
        auto d = pi::desc<pi_mem_partition_desc>();
        d.offset = offset;
        d.size = size;
        Owned<pi_mem> view;
        OK(piMemBufferPartition(parent, &d, view.out()));
        return view;
    }
    Owned<pi_event> make_host_event() const {
        Owned<pi_event> event;
        OK(piEventCreateHost(context, nullptr, event.out()));
        return event;
    }
};

/// The bytes of a buffer, by a read command.
inline std::vector<std::byte> contents(const Host &host, pi_mem mem) {
    uint64_t size = 0;
    OK(piMemGetInfo(mem, PI_MEM_INFO_SIZE, sizeof size, &size, nullptr));
    std::vector<std::byte> bytes(size);
    const Owned<pi_queue> queue = host.make_queue();
    const pi_region region = range(0, 0, size);
    const auto d = read_desc(mem, bytes.data(), region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferRead(queue, &d, 0, nullptr, nullptr));
    return bytes;
}

} // namespace pi_test
