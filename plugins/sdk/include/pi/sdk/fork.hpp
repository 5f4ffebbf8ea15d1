// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork(), and what a process has that its child cannot use: a vendor's driver has threads, which the child lacks, and
// locks, which nobody there will open. The loader refuses the child's calls on inherited objects. This is about new ones.
#pragma once

#include <pthread.h>

#include <atomic>

namespace pi::sdk {

/// Whether a vendor's driver is in use in this process, or was in the one that it was forked from. Of the plugin, whichever
/// instance asks, as the driver is.
class DriverUse {
public:
    /// It is from now on. False: it was in a parent, and must not be used here.
    static bool begin() noexcept {
        State expected = State::NONE;
        return state_.compare_exchange_strong(expected, State::HERE) || expected == State::HERE;
    }

private:
    enum class State { NONE, HERE, IN_PARENT };
    static void in_child() noexcept {
        State expected = State::HERE;
        state_.compare_exchange_strong(expected, State::IN_PARENT);
    }

    static inline std::atomic<State> state_{State::NONE};
    [[maybe_unused]] static inline const int watched_ = pthread_atfork(nullptr, nullptr, &in_child);
};

} // namespace pi::sdk
