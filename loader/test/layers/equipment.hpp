// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loader with layers over the host plugin, and helpers for tests.
#pragma once

#include "../fixture.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace layer_test {

using loader_test::CapturedLog;
using loader_test::Description;
using pi_test::last_error, pi_test::patience;
using Bytes = std::vector<unsigned char>;

inline pi_region linear(uint64_t src_offset, uint64_t dst_offset, uint64_t size) {
    pi_region region{};
    region.src_offset = src_offset;
    region.dst_offset = dst_offset;
    region.extent[0] = size;
    return region;
}

inline Description with_layers(std::vector<std::string> layers,
                               std::vector<std::pair<std::string, std::string>> options = {},
                               CapturedLog *log = nullptr) {
    Description description;
    description.plugins = {PI_TEST_HOST_PLUGIN};
    description.layers = std::move(layers);
    description.options = std::move(options);
    description.teardown_timeout = 20'000;
    description.log = log;
    return description;
}

/// A loader, its first device, a context and a queue. Tests release the objects that they create.
struct Machine {
    loader_test::Loader loader;
    pi_plugin plugin = nullptr;
    pi_platform platform = nullptr;
    pi_device device = nullptr;
    pi_context context = nullptr;
    pi_queue queue = nullptr;

    explicit Machine(const Description &description, uint64_t queue_flags = 0)
        : loader(description) {
        plugin = loader.plugins().at(0);
        platform = loader.platform();
        device = loader.device();
        context = make_context();
        queue = make_queue(queue_flags);
    }
    ~Machine() {
        piQueueRelease(queue);
        piContextRelease(context);
    }
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;

    pi_context make_context() const {
        auto desc = pi::desc<pi_context_desc>();
        desc.device_count = 1;
        desc.devices = &device;
        pi_context made = nullptr;
        OK(piContextCreate(platform, &desc, &made));
        return made;
    }
    pi_queue make_queue(uint64_t flags = 0) const {
        auto desc = pi::desc<pi_queue_desc>();
        desc.flags = flags;
        pi_queue made = nullptr;
        OK(piQueueCreate(context, device, &desc, &made));
        return made;
    }
    pi_result try_make_buffer(uint64_t size, pi_mem *out_mem) const {
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = size;
        return piMemBufferCreate(context, device, &desc, out_mem);
    }
    pi_mem make_buffer(uint64_t size) const {
        pi_mem made = nullptr;
        OK(try_make_buffer(size, &made));
        return made;
    }
    pi_mem make_buffer(const Bytes &bytes) const {
        pi_mem made = make_buffer(bytes.size());
        OK(write(made, bytes, PI_COMMAND_BLOCKING));
        return made;
    }
    pi_event make_host_event() const {
        pi_event made = nullptr;
        OK(piEventCreateHost(context, nullptr, &made));
        return made;
    }
    pi_result write(pi_mem mem, const Bytes &bytes, uint64_t flags = 0,
                    pi_event *out_event = nullptr, std::vector<pi_event> waits = {}) const {
        const pi_region all = linear(0, 0, bytes.size());
        auto desc = pi::desc<pi_buffer_write_desc>();
        desc.flags = flags;
        desc.mem = mem;
        desc.host_ptr = bytes.data();
        desc.region_count = 1;
        desc.regions = &all;
        return piEnqueueMemBufferWrite(queue, &desc, static_cast<uint32_t>(waits.size()),
                                       waits.data(), out_event);
    }
    pi_result copy(pi_mem src, pi_mem dst, const std::vector<pi_region> &regions,
                   uint64_t flags = 0, pi_event *out_event = nullptr,
                   std::vector<pi_event> waits = {}) const {
        auto desc = pi::desc<pi_buffer_copy_desc>();
        desc.flags = flags;
        desc.src = src;
        desc.dst = dst;
        desc.region_count = static_cast<uint32_t>(regions.size());
        desc.regions = regions.data();
        return piEnqueueMemBufferCopy(queue, &desc, static_cast<uint32_t>(waits.size()),
                                      waits.data(), out_event);
    }
    pi_result fill(pi_mem mem, unsigned char byte, uint64_t offset, uint64_t size,
                   uint64_t flags = 0, pi_event *out_event = nullptr) const {
        auto desc = pi::desc<pi_buffer_fill_desc>();
        desc.flags = flags;
        desc.mem = mem;
        desc.pattern = &byte;
        desc.pattern_size = 1;
        desc.offset = offset;
        desc.size = size;
        return piEnqueueMemBufferFill(queue, &desc, 0, nullptr, out_event);
    }
    Bytes read(pi_mem mem, uint64_t size) const {
        Bytes bytes(size);
        const pi_region all = linear(0, 0, size);
        auto desc = pi::desc<pi_buffer_read_desc>();
        desc.flags = PI_COMMAND_BLOCKING;
        desc.mem = mem;
        desc.host_ptr = bytes.data();
        desc.region_count = 1;
        desc.regions = &all;
        OK(piEnqueueMemBufferRead(queue, &desc, 0, nullptr, nullptr));
        return bytes;
    }
    uint64_t calls(const std::string &function) const {
        std::vector<pi_call_count> counts(500);
        uint32_t count = 0;
        OK(piLoaderGetCallCounts(loader.get(), plugin, 500, counts.data(), &count));
        counts.resize(count);
        for (const pi_call_count &row : counts) {
            if (function == row.function)
                return row.count;
        }
        FAIL("no function " << function);
        return 0;
    }
};

inline std::string error_text(pi_event event) {
    char text[1000] = {};
    OK(piEventGetInfo(event, PI_EVENT_INFO_ERROR_TEXT, sizeof text, text, nullptr));
    return text;
}

} // namespace layer_test
