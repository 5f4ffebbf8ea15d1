// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of the host runtime if nothing has to be done.
#include "runtime_machine.hpp"

namespace pi_bench {
namespace {

/// The project's target: nothing comparable exists.
constexpr double acquire_target = 150; // nanoseconds

} // namespace

void bench_acquire(Session &session, const Machine &machine) {
    for (const PlaceIndex place : {host_place, machine.places.front()}) {
        for (const bool logged : {false, true}) {
            const std::string name = "acquire and release, up to date, at " + machine.name(place) +
                                     (logged ? ", logged" : "");
            if (!session.wants(name)) {
                continue;
            }
            RuntimeOptions options;
            options.log_up_to_date = logged;
            const Runtime runtime(machine.topology, options);
            const Storage storage(runtime, {.size = 1 << 20});
            const Buffer buffer = storage.buffer();
            own(buffer, place);
            const Batch ours = [&](uint64_t count) {
                for (uint64_t i = 0; i < count; ++i) {
                    buffer.acquire(place, Access::read).release();
                }
            };
            session.compare_with(name, "150 ns, the target", Unit::nanoseconds, ours,
                                 acquire_target);
        }
    }
}

} // namespace pi_bench
