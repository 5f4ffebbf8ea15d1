// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "stall.hpp"

#include <pi/thread.hpp>

#include <algorithm>
#include <exception>

namespace pi::loader {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

} // namespace

StallWatch::Call::Call(StallWatch &watch, const std::string &plugin, const std::string &path,
                       const char *function)
    : watch_(watch), plugin_(plugin), path_(path), function_(function), begin_(Clock::now()),
      due_(begin_ + watch.delay_) {
    // Who ends the process within the call is named by the last line.
    watch_.log_.write(PI_LOG_DEBUG, "plugin {} ({}): {} begins", plugin_, path_, function_);
    watch_.start();
    const std::scoped_lock lock(watch_.mutex_);
    watch_.call_ = this;
}

StallWatch::Call::~Call() {
    {
        const std::scoped_lock lock(watch_.mutex_);
        watch_.call_ = nullptr;
    }
    if (due_ != begin_ + watch_.delay_)
        watch_.log_.warn("plugin {} ({}): {} has returned, after {:.3g} s", plugin_, path_,
                         function_, seconds_since(begin_));
}

void StallWatch::start() noexcept {
    if (thread_.joinable() || !log_.enabled(PI_LOG_WARNING))
        return;
    try {
        thread_ = thread_without_signals([this] { run(); });
    } catch (const std::exception &exception) {
        log_.write(PI_LOG_DEBUG, "no thread to watch for plugins that hang: {}", exception.what());
    }
}

void StallWatch::run() noexcept {
    std::unique_lock lock(mutex_);
    while (!stop_) {
        const Clock::time_point now = Clock::now();
        if (call_ != nullptr && now >= call_->due_) {
            // Under the lock: the message never comes after the call has returned.
            log_.warn("still waiting for plugin {} ({}) after {:.3g} s in {}", call_->plugin_,
                      call_->path_, seconds_since(call_->begin_), call_->function_);
            call_->due_ = now + (now - call_->begin_);
            continue;
        }
        // A call that begins during this sleep is due when it ends at the earliest, so that it need
        // not wake anybody.
        Clock::time_point end = now + delay_;
        // A copy: wait_until looks at it again after the lock was away, and the call with it.
        if (call_ != nullptr)
            end = std::min(end, call_->due_);
        stopped_.wait_until(lock, end);
    }
}

StallWatch::~StallWatch() {
    if (!thread_.joinable())
        return;
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
    }
    stopped_.notify_one();
    thread_.join();
}

} // namespace pi::loader
