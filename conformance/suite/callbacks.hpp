// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "signal.hpp"

#include <pi/pi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace pi::suite {

/// The event callbacks of one test. It outlives the test's loader, so that a callback that comes
/// late or twice is reported and does not crash.
class Callbacks {
public:
    using Function = std::function<void(pi_event, pi_result)>;

    /// Sets a callback on the event; throws Failure if that is refused. The flag is set once the
    /// function has returned or failed.
    std::shared_ptr<Flag> set(pi_event event, Function function);

    /// What went wrong in callbacks so far, or "".
    std::string problem();

private:
    struct Callback {
        Callbacks *owner;
        Function function;
        std::shared_ptr<Flag> done;
        unsigned calls;
    };
    static void PI_CALL call(pi_event event, pi_result result, void *user_data) noexcept;
    void report(const std::string &text);

    std::mutex mutex_;
    std::vector<std::unique_ptr<Callback>> callbacks_;
    std::string problem_;
};

} // namespace pi::suite
