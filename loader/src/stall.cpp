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
    // If the process ends within the call, this is the log's last line.
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
            // Under the lock, so that the message never follows the call's return.
            log_.warn("still waiting for plugin {} ({}) after {:.3g} s in {}", call_->plugin_,
                      call_->path_, seconds_since(call_->begin_), call_->function_);
            call_->due_ = now + (now - call_->begin_);
            continue;
        }
        // A call that begins during this sleep is due no earlier than its end, so it need not wake
        // this thread.
        Clock::time_point end = now + delay_;
        // A copy: wait_until reads it again after the lock was released, when the call may be gone.
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
