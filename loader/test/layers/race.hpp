// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common parts of the tests of the layer race: it reports unordered commands, and nothing else.
// Commands that run concurrently here are harmless: they wait for a host event that is signalled
// after the test has looked, or write the same byte.
#pragma once

#include "validate.hpp"

#include <string>
#include <utility>
#include <vector>

namespace layer_test {

inline Description watched(CapturedLog &log, std::vector<std::string> layers = {"race"},
                           std::string level = "") {
    return with_layers(std::move(layers), {{"PI_RACE", std::move(level)}}, &log);
}

/// Two queues and a buffer. Ends all commands before it releases the queues.
struct RaceBench {
    CapturedLog log;
    Machine machine;
    pi_queue queues[2];
    pi_mem mem;

    /// With a `fault` (PI_FAULT) that layer is below.
    explicit RaceBench(uint64_t first_flags = 0, const std::string &fault = "")
        : machine(fault.empty() ? watched(log)
                                : with_layers({"race", "fault"}, {{"PI_FAULT", fault}}, &log),
                  first_flags) {
        queues[0] = machine.queue;
        queues[1] = machine.make_queue();
        mem = machine.make_buffer(64);
    }
    ~RaceBench() {
        piQueueFinish(queues[0]);
        piQueueFinish(queues[1]);
        piQueueRelease(queues[1]);
        piMemRelease(mem);
    }
    std::size_t races() const { return log.count("race on ", PI_LOG_WARNING); }
};

/// Fills bytes with zeros; the event is the caller's.
inline pi_event fill(pi_queue queue, pi_mem mem, uint64_t offset, uint64_t size,
                     std::vector<pi_event> waits = {}, uint64_t flags = 0) {
    const unsigned char zero = 0;
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.flags = flags;
    desc.mem = mem;
    desc.pattern = &zero;
    desc.pattern_size = 1;
    desc.offset = offset;
    desc.size = size;
    pi_event event = nullptr;
    OK(piEnqueueMemBufferFill(queue, &desc, static_cast<uint32_t>(waits.size()), waits.data(),
                              &event));
    return event;
}

inline pi_event copy(pi_queue queue, pi_mem src, pi_mem dst, pi_region region) {
    auto desc = pi::desc<pi_buffer_copy_desc>();
    desc.src = src;
    desc.dst = dst;
    desc.region_count = 1;
    desc.regions = &region;
    pi_event event = nullptr;
    OK(piEnqueueMemBufferCopy(queue, &desc, 0, nullptr, &event));
    return event;
}

inline void drop(std::vector<pi_event> events) {
    for (const pi_event event : events)
        OK(piEventRelease(event));
}

} // namespace layer_test
