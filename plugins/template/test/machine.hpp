// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The template plugin, loaded, with a queue; and short functions to call it.
#pragma once

#include "owned.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/pi_loader.h>
#include <pi/pi_plugin.h>

#include <catch2/catch.hpp>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace template_test {

constexpr uint64_t patience =
    UINT64_C(30) * 1000 * 1000 * 1000; ///< nanoseconds; a hang is a failure

constexpr uint64_t read_now = uint64_t{PI_MAP_READ} | PI_COMMAND_BLOCKING;

using Bytes = std::vector<unsigned char>;

/// The template, or the same with commands that end on their own threads.
inline std::string plugin_file(bool threads) {
    return threads ? PI_TEMPLATE_THREADED : PI_TEMPLATE;
}

/// The text of this thread's last error.
inline std::string last_text() {
    const char *text = nullptr;
    piGetLastError(nullptr, &text);
    return text;
}

using Context = pi_test::Owned<pi_context>;
using Queue = pi_test::Owned<pi_queue>;
using Mem = pi_test::Owned<pi_mem>;
using Event = pi_test::Owned<pi_event>;

/// A loader with the template only. At its end no object may be left and no warning logged.
class Machine {
public:
    explicit Machine(bool threads = false) {
        const std::string file = plugin_file(threads);
        const char *const plugins[] = {file.c_str()};
        auto desc = pi::desc<pi_loader_desc>();
        desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
        desc.plugins = plugins;
        desc.plugin_count = 1;
        desc.log = log;
        desc.log_user_data = this;
        desc.log_level = PI_LOG_WARNING;
        desc.teardown_timeout = 20000;
        REQUIRE(piLoaderCreate(&desc, &loader) == PI_SUCCESS);
        REQUIRE(piPluginsGet(loader, 1, &plugin, nullptr) == PI_SUCCESS);
        REQUIRE(plugin);
        REQUIRE(piPlatformsGet(plugin, 1, &platform, nullptr) == PI_SUCCESS);
        REQUIRE(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 1, &device, nullptr) == PI_SUCCESS);
        context = make_context();
        queue = make_queue();
    }
    ~Machine() {
        queue.reset();
        context.reset();
        CHECK(piLoaderRelease(loader) == PI_SUCCESS);
        INFO(warnings_);
        CHECK(warnings_.empty());
    }
    Machine(const Machine &) = delete;

    Context make_context() const {
        auto desc = pi::desc<pi_context_desc>();
        desc.device_count = 1;
        desc.devices = &device;
        Context made;
        REQUIRE(piContextCreate(platform, &desc, made.out()) == PI_SUCCESS);
        return made;
    }
    Queue make_queue() const {
        Queue made;
        REQUIRE(piQueueCreate(context, device, nullptr, made.out()) == PI_SUCCESS);
        return made;
    }
    Event host_event() const {
        Event made;
        REQUIRE(piEventCreateHost(context, nullptr, made.out()) == PI_SUCCESS);
        return made;
    }
    pi_mem_buffer_desc buffer_desc(uint64_t size) const {
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = size;
        return desc;
    }
    /// A buffer with these bytes.
    Mem buffer(const Bytes &bytes) const {
        auto desc = buffer_desc(bytes.size());
        desc.flags = PI_MEM_COPY_HOST_PTR;
        desc.host_ptr = const_cast<unsigned char *>(bytes.data());
        Mem made;
        REQUIRE(piMemBufferCreate(context, device, &desc, made.out()) == PI_SUCCESS);
        return made;
    }
    /// All bytes of a buffer, by a blocking map in its own queue.
    Bytes read_back(pi_mem mem) const {
        uint64_t size = 0;
        REQUIRE(piMemGetInfo(mem, PI_MEM_INFO_SIZE, sizeof size, &size, nullptr) == PI_SUCCESS);
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
        auto desc = pi::desc<pi_buffer_map_desc>();
        desc.flags = flags;
        desc.mem = mem;
        desc.offset = offset;
        desc.size = size;
        desc.out_pointer = out_pointer;
        return piEnqueueMemBufferMap(queue, &desc, static_cast<uint32_t>(waits.size()),
                                     waits.data(), out_event);
    }
    static pi_result unmap(pi_queue queue, pi_mem mem, void *pointer,
                           pi_event *out_event = nullptr) {
        auto desc = pi::desc<pi_unmap_desc>();
        desc.mem = mem;
        desc.pointer = pointer;
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
    static uint32_t status(pi_event event) {
        uint32_t value = 0;
        REQUIRE(piEventGetInfo(event, PI_EVENT_INFO_STATUS, sizeof value, &value, nullptr) ==
                PI_SUCCESS);
        return value;
    }
    static std::string error_text(pi_event event) {
        char text[256] = "";
        REQUIRE(piEventGetInfo(event, PI_EVENT_INFO_ERROR_TEXT, sizeof text, text, nullptr) ==
                PI_SUCCESS);
        return text;
    }

    pi_loader loader = nullptr;
    pi_plugin plugin = nullptr;
    pi_platform platform = nullptr;
    pi_device device = nullptr;
    Context context;
    Queue queue;

private:
    static void PI_CALL log(uint32_t, const char *message, void *user_data) {
        auto *self = static_cast<Machine *>(user_data);
        const std::lock_guard lock(self->mutex_);
        self->warnings_ += std::string(message) + "\n";
    }
    std::mutex mutex_;
    std::string warnings_;
};

/// A range as a region.
inline pi_region range(uint64_t src_offset, uint64_t dst_offset, uint64_t bytes) {
    pi_region region{};
    region.src_offset = src_offset;
    region.dst_offset = dst_offset;
    region.extent[0] = bytes;
    return region;
}

} // namespace template_test
