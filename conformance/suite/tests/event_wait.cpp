// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Long waits for events, and several callbacks of one event.

#include "checks.hpp"
#include "registry.hpp"

#include <atomic>
#include <thread>

namespace pi::suite {
namespace {

CONFORMANCE_TEST("event", "a wait with a timeout of minutes or centuries ends with the event") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    for (const uint64_t timeout : {uint64_t{1} << 36, uint64_t{1} << 42, (uint64_t{1} << 53) + 1,
                                   uint64_t{INT64_MAX}, uint64_t{1} << 63, PI_TIMEOUT_NEVER - 1}) {
        const Event gate = fixture.make_host_event();
        const Event held = fixture.barrier(queue, {gate});
        std::atomic<unsigned> waiting{0};
        fixture.run_threads(3, [&](unsigned thread) {
            if (thread < 2) {
                ++waiting;
                require_success(piEventWait(thread == 0 ? held : gate, timeout),
                                "piEventWait with a timeout of ", timeout, " ns");
                return;
            }
            while (waiting < 2)
                std::this_thread::yield();
            fixture.signal_after(gate, [&] {
                for (int i = 0; i < 50; ++i) // long enough for a wait that ends by itself
                    fixture.wait(fixture.barrier(other));
            });
        });
    }
}

CONFORMANCE_TEST("event", "each of several callbacks of an event is under the rules of callbacks") {
    const Queue queue = fixture.make_queue();
    const Event never = fixture.make_host_event();
    const Event gate = fixture.make_host_event();
    const Event held = fixture.barrier(queue, {gate});
    std::vector<std::shared_ptr<Flag>> flags;
    const auto set = [&](pi_event event) {
        flags.push_back(fixture.on_complete(event, [&](pi_event, pi_result) {
            require_error(piEventWait(never, 1000), PI_ERROR_WOULD_BLOCK,
                          "piEventWait of an event that is not complete, in a callback");
        }));
    };
    fixture.signal_after(never, [&] {
        for (int i = 0; i < 5; ++i) {
            set(gate);
            set(held);
        }
        fixture.signal(gate);
        fixture.wait(held);
        for (int i = 0; i < 3; ++i) { // these are late
            set(gate);
            set(held);
        }
        for (const auto &flag : flags)
            fixture.wait(*flag, "a callback");
    });
    fixture.check_callbacks();
}

CONFORMANCE_TEST("event", "a host event that is refused leaves its output as it was") {
    auto flagged = pi::desc<pi_host_event_desc>();
    flagged.flags = 1;
    auto mistyped = pi::desc<pi_host_event_desc>();
    mistyped.type = PI_TYPE_QUEUE_DESC;
    for (const pi_host_event_desc *desc : {&flagged, &mistyped})
        require_untouched<pi_event>(
            "piEventCreateHost with a wrong descriptor",
            {PI_ERROR_UNSUPPORTED_FEATURE, PI_ERROR_INVALID_DESCRIPTOR},
            [&](pi_event *out) { return piEventCreateHost(fixture.context(), desc, out); });
}

} // namespace
} // namespace pi::suite
