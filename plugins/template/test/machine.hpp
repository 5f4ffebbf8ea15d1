// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The template plugin, loaded, with a queue; and short functions to call it.
#pragma once

#include "platform_fixture.hpp"

#include <pi/pi_plugin.h>

#include <string>
#include <vector>

namespace template_test {

using namespace pi_test;

constexpr uint64_t read_now = uint64_t{PI_MAP_READ} | PI_COMMAND_BLOCKING;

using Bytes = std::vector<unsigned char>;

/// The template, or the same with commands that end on their own threads.
inline std::string plugin_file(bool threads) {
    return threads ? PI_TEMPLATE_THREADED : PI_TEMPLATE;
}

using Context = Owned<pi_context>;
using Queue = Owned<pi_queue>;
using Mem = Owned<pi_mem>;
using Event = Owned<pi_event>;

/// A loader with the template only. At its end no object may be left and no warning logged.
struct Machine {
    explicit Machine(bool threads = false) : loader(plugin_file(threads).c_str()) {
        REQUIRE(piPluginsGet(loader, 1, &plugin, nullptr) == PI_SUCCESS);
        REQUIRE(plugin);
        REQUIRE(piPlatformsGet(plugin, 1, &platform, nullptr) == PI_SUCCESS);
        REQUIRE(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 1, &device, nullptr) == PI_SUCCESS);
        context = make_context();
        queue = make_queue();
    }
    ~Machine() { CHECK(loader.take_warnings() == ""); }

    Context make_context() const { return pi_test::make_context({device}); }
    Queue make_queue() const { return pi_test::make_queue(context, device); }
    Event host_event() const { return make_host_event(context); }
    /// A buffer with these bytes.
    Mem buffer(const Bytes &bytes) const { return make_buffer(context, device, bytes); }
    /// All bytes of a buffer, by a blocking map in its own queue.
    Bytes read_back(pi_mem mem) const {
        const auto size = info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_SIZE);
        const Queue private_queue = make_queue();
        void *pointer = nullptr;
        REQUIRE(map(private_queue, mem, 0, size, read_now, &pointer) == PI_SUCCESS);
        auto *begin = static_cast<unsigned char *>(pointer);
        Bytes bytes(begin, begin + size);
        REQUIRE(unmap(private_queue, mem, pointer) == PI_SUCCESS);
        REQUIRE(piQueueFinish(private_queue) == PI_SUCCESS);
        return bytes;
    }

    static pi_result map(pi_queue queue, pi_mem mem, uint64_t offset, uint64_t size, uint64_t flags,
                         void **out_pointer, std::vector<pi_event> waits = {},
                         pi_event *out_event = nullptr) {
        const auto desc = map_desc(mem, offset, size, out_pointer, flags);
        return piEnqueueMemBufferMap(queue, &desc, static_cast<uint32_t>(waits.size()),
                                     waits.data(), out_event);
    }
    static pi_result unmap(pi_queue queue, pi_mem mem, void *pointer,
                           pi_event *out_event = nullptr) {
        const auto desc = unmap_desc(mem, pointer);
        return piEnqueueMemUnmap(queue, &desc, 0, nullptr, out_event);
    }
    static pi_result copy(pi_queue queue, pi_mem src, pi_mem dst,
                          const std::vector<pi_region> &regions, std::vector<pi_event> waits = {},
                          pi_event *out_event = nullptr, uint64_t flags = 0) {
        auto desc = pi::desc<pi_buffer_copy_desc>();
        desc.flags = flags;
        desc.src = src;
        desc.dst = dst;
        desc.region_count = static_cast<uint32_t>(regions.size());
        desc.regions = regions.data();
        return piEnqueueMemBufferCopy(queue, &desc, static_cast<uint32_t>(waits.size()),
                                      waits.data(), out_event);
    }
    static pi_result wait_for(pi_queue queue, std::vector<pi_event> waits, pi_event *out_event) {
        return piEnqueueEventsWait(queue, nullptr, static_cast<uint32_t>(waits.size()),
                                   waits.data(), out_event);
    }

    CheckedLoader loader;
    pi_plugin plugin = nullptr;
    pi_platform platform = nullptr;
    pi_device device = nullptr;
    Context context;
    Queue queue;
};

} // namespace template_test
