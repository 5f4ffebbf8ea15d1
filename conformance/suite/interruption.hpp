// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace pi::suite {

/// While it lives, SIGINT and SIGTERM do not end the process: the first one asks for a stop, so that a run that a person or a
/// limit of time breaks off still tells what it has found; one that comes a second later, or after that, ends the process at once, with
/// 128 and the signal's number. (Those in between are the same again: timeout(1) sends its signal twice.) Ignored ones stay so. To be
/// made before other threads are.
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
