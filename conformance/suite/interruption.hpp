// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace pi::suite {

/// While it lives, the first SIGINT or SIGTERM requests a stop, so that an interrupted run still
/// reports its results. One that comes at least a second later ends the process with 128 and the
/// signal's number. (timeout(1) sends its signal twice at once.) Ignored signals stay ignored.
/// Construct it before any thread.
class Interruption {
public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption &) = delete;
    Interruption &operator=(const Interruption &) = delete;

    std::stop_token token() const { return stop_.get_token(); }
    /// "SIGTERM", or "" if none came.
    const char *signal_name() const;

private:
    std::stop_source stop_;
    std::atomic<int> signal_{0};
    std::jthread thread_; ///< takes the signals
};

} // namespace pi::suite
