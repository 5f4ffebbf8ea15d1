// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One piece of work by several threads at a time.
#pragma once

#include <pi/sdk/worker.hpp>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

namespace pi::cuda {

/// Calls body() on this thread, and at the same time on up to `helpers` threads of the workers. Returns when no call goes on
/// any more, and throws the first exception of them. A worker that is busy with something else meanwhile is not waited
/// for: it is as if it were not there. So a body takes what is left to do, until nothing is.
template <class Body>
void run_in_lanes(sdk::Workers &workers, unsigned helpers, const Body &body) {
    struct Gate {
        std::mutex mutex;
        std::condition_variable left;
        unsigned inside = 0;
        bool closed = false;
        std::exception_ptr failure{};
    };
    const auto gate = std::make_shared<Gate>();
    const auto run = [&body](Gate &all) {
        try {
            body();
        } catch (...) {
            std::lock_guard lock(all.mutex);
            if (!all.failure)
                all.failure = std::current_exception();
        }
    };
    const auto help = [gate,
                       run] { // `body` is there as long as the gate is open, and someone inside
        std::unique_lock lock(gate->mutex);
        if (gate->closed)
            return;
        ++gate->inside;
        lock.unlock();
        run(*gate);
        lock.lock();
        --gate->inside;
        gate->left.notify_one();
    };
    try {
        for (unsigned i = 0; i < helpers; ++i)
            workers.post(help);
    } catch (...) {
        // Without memory for them it goes on with those that there are.
    }
    run(*gate);
    std::unique_lock lock(gate->mutex);
    gate->closed = true;
    gate->left.wait(lock, [&] { return gate->inside == 0; });
    // The exception is this thread's alone from here on: a helper that lets go of the gate last does not end it.
    if (std::exception_ptr failure = std::exchange(gate->failure, nullptr))
        std::rethrow_exception(std::move(failure));
}

} // namespace pi::cuda
