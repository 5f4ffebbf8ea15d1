// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <memory>

using namespace opencl_test;

TEST_CASE("events of all contexts, devices and platforms chain at random") {
    Loader loader;
    Random random;
    INFO("seed " << random.seed());
    std::vector<Place> places;
    for (int copies = 0; copies < 2; ++copies)
        for (pi_device device : loader.devices())
            places.emplace_back(device, random.coin() ? PI_QUEUE_OUT_OF_ORDER : 0);
    // One word is passed around: each step reads what the previous one wrote.
    std::vector<Mem> buffers;
    for (const Place &place : places)
        buffers.push_back(place.buffer(8));
    const Event gate = make_host_event(places[0].context);
    std::vector<uint64_t> words(1001, 0);
    words[0] = random.between(1, 1 << 30);
    Event last;
    OK(piEventRetain(gate));
    last = Event(gate.get());
    for (size_t hop = 0; hop < 1000; ++hop) {
        const size_t at = random.below(places.size());
        const pi_queue queue = places[at].queue;
        switch (random.below(4)) {
        case 0: {
            Event written = write(queue, buffers[at], &words[hop], {range(0, 0, 8)}, {{last}});
            last = read(queue, buffers[at], &words[hop + 1], {range(0, 0, 8)}, {{written}});
            break;
        }
        case 1: {
            Event bridged = make_host_event(places[at].context);
            struct Hop {
                uint64_t *from, *to;
                Event bridge;
            };
            auto hop_data = std::make_unique<Hop>();
            hop_data->from = &words[hop];
            hop_data->to = &words[hop + 1];
            OK(piEventRetain(bridged));
            hop_data->bridge = Event(bridged.get());
            OK(piEventSetCallback(
                last,
                [](pi_event, pi_result result, void *user_data) {
                    const std::unique_ptr<Hop> self(static_cast<Hop *>(user_data));
                    *self->to = *self->from;
                    piEventSignalHost(self->bridge, result);
                },
                hop_data.release()));
            last = std::move(bridged);
            break;
        }
        case 2:
            last = host_function(queue, [&words, hop] { words[hop + 1] = words[hop]; }, {{last}});
            break;
        default: {
            Event fence = barrier(queue, {{last}});
            Event written = write(queue, buffers[at], &words[hop], {range(0, 0, 8)}, {{fence}});
            last = read(queue, buffers[at], &words[hop + 1], {range(0, 0, 8)}, {{written}});
        }
        }
    }
    OK(piEventSignalHost(gate, PI_SUCCESS));
    wait(last);
    for (uint64_t word : words)
        REQUIRE(word == words[0]);
}
