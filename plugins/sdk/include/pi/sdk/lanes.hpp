// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one piece of work on several threads at once.
#pragma once

#include <pi/sdk/worker.hpp>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

namespace pi::sdk {

/// Calls body() on this thread, and at the same time on up to `helpers` threads of the workers.
/// Returns once no call is running, and throws the first exception of a call. Does not wait for a
/// worker that is busy with something else. So body() must take pieces of work until none is left.
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
                // Without memory or threads for a helper, the other threads share the work.
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
        std::mutex mutex; ///< guards the members below
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
    // From here on only this thread has the exception: a helper that destroys the lanes does not
    // destroy it.
    if (std::exception_ptr failure = std::exchange(lanes->failure, nullptr))
        std::rethrow_exception(std::move(failure));
}

} // namespace pi::sdk
