// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of an instance, with any layer.

#include "equipment.hpp"

#include <atomic>
#include <thread>

using namespace layer_test;

// Sanitizers find uses after the end.
TEST_CASE("the last object may be released concurrently with the loader, with any layer") {
    const std::string layer =
        GENERATE("validate", "leak-origin", "race", "trace", "record", "fault");
    const loader_test::TemporaryFolder folder;
    for (int round = 0; round < 200; ++round) {
        loader_test::Loader loader(
            with_layers({layer}, {{"PI_TRACE_FILE", folder.str("trace.json")},
                                  {"PI_RECORD_FILE", folder.str("log.jsonl")}}));
        const pi_device device = loader.device();
        auto desc = pi::desc<pi_context_desc>();
        desc.device_count = 1;
        desc.devices = &device;
        pi_context context = nullptr;
        OK(piContextCreate(loader.platform(), &desc, &context));
        std::atomic<bool> released{false};
        pi_result result = PI_ERROR_INTERNAL;
        std::thread last([&] {
            while (!released)
                std::this_thread::yield();
            for (int step = 0; step < round; ++step)
                std::this_thread::yield();
            result = piContextRelease(context);
        });
        released = true;
        loader.reset(); // waits for the context
        last.join();
        REQUIRE(result == PI_SUCCESS);
    }
}
