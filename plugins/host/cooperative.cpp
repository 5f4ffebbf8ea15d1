// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cooperative.hpp"

#include <pi/sdk/error.hpp>
#include <pi/sdk/worker.hpp>

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace pi::host {

namespace {

/// Delays threads until it is known whether all of them could be started.
class Start {
public:
    /// Returns whether to run.
    bool wait() {
        std::unique_lock lock(mutex_);
        condition_.wait(lock, [this] { return decided_; });
        return all_;
    }
    void decide(bool all) {
        {
            std::lock_guard lock(mutex_);
            decided_ = true;
            all_ = all;
        }
        condition_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable condition_;
    bool decided_ = false, all_ = false;
};

} // namespace

void run_together(const Device &device, uint64_t count,
                  const std::function<void(uint64_t)> &group) {
    Start start;
    std::vector<std::thread> threads;
    threads.reserve(count);
    std::string reason;
    try {
        const sdk::SignalsBlocked blocked;
        for (uint64_t number = 0; number < count; ++number)
            threads.emplace_back([&, number] {
                const Device::BoundThread bound(device);
                if (start.wait())
                    group(number);
            });
    } catch (const std::exception &error) {
        // Whatever the cause, threads that have started must be joined.
        reason = error.what();
    }
    start.decide(threads.size() == count);
    for (std::thread &thread : threads)
        thread.join();
    if (threads.size() < count)
        sdk::fail(PI_ERROR_OUT_OF_RESOURCES, "a cooperative launch of ", count,
                  " work-groups needs as many threads; the system has no more than ",
                  threads.size(), ": ", reason);
}

} // namespace pi::host
