// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Children of fork(). They have one thread, copies of all objects, and locks that nothing will
// release: every table that handles refer to then refuses all calls, so that no plugin code runs on
// such objects.
#pragma once

#include "layer.hpp"

#include <cstdint>

namespace pi::loader {

/// The number of forks between this process and the one that loaded the library.
uint32_t fork_count() noexcept;

/// While it lives, children refuse the calls of the chain's tables. The chain may still be
/// incomplete.
class RefusedInChildren {
public:
    explicit RefusedInChildren(TableChain &chain) noexcept;
    RefusedInChildren(const RefusedInChildren &) = delete;
    RefusedInChildren &operator=(const RefusedInChildren &) = delete;
    ~RefusedInChildren();

    /// In a child: makes all that live refuse. Writes memory, allocates none and takes no lock.
    static void refuse_all(const RefusedInChildren *first) noexcept;

private:
    TableChain &chain_;
    RefusedInChildren *next_ = nullptr;
    RefusedInChildren *previous_ = nullptr;
};

} // namespace pi::loader
