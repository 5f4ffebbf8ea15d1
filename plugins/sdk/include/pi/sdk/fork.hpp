// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drivers and fork(). A vendor's driver has threads, which a forked child lacks, and locks, which
// no thread there unlocks. The loader refuses the child's calls on inherited objects; this prevents
// new ones.
#pragma once

#include <pthread.h>

#include <atomic>

namespace pi::sdk {

/// Whether a vendor's driver is in use in this process, or was in its parent before the fork. One
/// state for the plugin, not for each instance, since the driver is one, too.
class DriverUse {
public:
    /// Marks the driver as in use. False if a parent process used it: then it must not be used
    /// here.
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
