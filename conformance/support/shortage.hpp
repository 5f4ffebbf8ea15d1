// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a test's allocations find no memory: one of them, or one and all later ones until it ends.
#pragma once

#include <atomic>
#include <cstdint>

namespace pi_test {

/// Thread-safe. Counts allocations from its begin on.
class Shortage {
public:
    /// The allocation `first`, counted from 1, fails; if it `lasts`, all later ones, too.
    void begin(uint32_t first, bool lasts) {
        first_ = first;
        lasts_ = lasts;
        count_ = 0;
        active_ = true;
    }
    /// Whether an allocation failed.
    bool end() {
        active_ = false;
        return count_ >= first_;
    }
    bool active() const { return active_; }
    /// Not for what the test itself does meanwhile.
    void pause() { active_ = false; }
    void go_on() { active_ = true; }
    /// Ends a lasting shortage; the first failing allocation may still come.
    void end_lasting() { lasts_ = false; }
    /// For each allocation while it is active: whether it fails.
    bool takes_one() {
        if (!active_)
            return false;
        const uint32_t number = ++count_;
        return number == first_ || (lasts_ && number > first_);
    }

private:
    std::atomic<bool> active_{false}, lasts_{false};
    std::atomic<uint32_t> first_{1}, count_{0};
};

} // namespace pi_test
