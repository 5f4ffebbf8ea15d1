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

namespace pi::sdk {

/// Calls body() on this thread, and at the same time on up to `helpers` threads of the workers. Returns when no call goes on
/// any more, and throws the first exception of them. A worker that is busy with something else meanwhile is not waited
/// for: it is as if it were not there. So a body takes what is left to do, until nothing is.
///
/// Each helper wakes two others before it works: the caller pays for one, and short work wakes few.
template <class Body>
void run_in_lanes(Workers &workers, unsigned helpers, const Body &body) {
    struct Lanes : std::enable_shared_from_this<Lanes> {
        Lanes(Workers &threads, unsigned number, const Body &work)
            : workers(threads), helpers(number), body(work) {}

        void wake(unsigned helper) noexcept {
            try {
                if (helper <= helpers)
                    workers.post([self = this->shared_from_this(), helper] { self->help(helper); });
            } catch (...) {
                // Without memory or threads for it the work is shared by those that there are.
            }
        }
        void help(unsigned helper) {
            {
                const std::lock_guard lock(mutex);
                if (closed)
                    return;
                ++inside; // from here on the caller waits: workers and body stay
            }
            wake(2 * helper);
            wake(2 * helper + 1);
            run();
            const std::lock_guard lock(mutex);
            --inside;
            left.notify_one();
        }
        void run() {
            try {
                body();
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure)
                    failure = std::current_exception();
            }
        }

        Workers &workers;
        const unsigned helpers; ///< numbered from 1
        const Body &body;
        std::mutex mutex; ///< guards what follows
        std::condition_variable left;
        unsigned inside = 0;
        bool closed = false;
        std::exception_ptr failure{};
    };
    const auto lanes = std::make_shared<Lanes>(workers, helpers, body);
    lanes->wake(1);
    lanes->run();
    std::unique_lock lock(lanes->mutex);
    lanes->closed = true;
    lanes->left.wait(lock, [&] { return lanes->inside == 0; });
    // The exception is this thread's alone from here on: a helper that destroys the lanes does not destroy it.
    if (std::exception_ptr failure = std::exchange(lanes->failure, nullptr))
        std::rethrow_exception(std::move(failure));
}

} // namespace pi::sdk
