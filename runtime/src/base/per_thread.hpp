// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/cache_line.hpp"
#include "base/thread_number.hpp"

#include <array>
#include <cstddef>

namespace pi::runtime {

/// A T for each thread, so that none writes data that others have in their caches. With many
/// threads two may share one, so T must be thread-safe.
template <class T>
class PerThread {
public:
    /// The calling thread's.
    T &here() { return slots_[this_thread_number() % count].value; }

    template <class Visit>
    void for_each(Visit visit) {
        for (Slot &slot : slots_) {
            visit(slot.value);
        }
    }
    template <class Visit>
    void for_each(Visit visit) const {
        for (const Slot &slot : slots_) {
            visit(slot.value);
        }
    }

private:
    struct alignas(2 * cache_line) Slot { // some processors fetch two lines at once
        T value{};
    };
    static constexpr size_t count = 64;
    std::array<Slot, count> slots_;
};

} // namespace pi::runtime
