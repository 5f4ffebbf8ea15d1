// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processes that fork() makes of this one. They have one thread, copies of all objects, and locks that nobody will
// open: each table that is in handles then refuses every call, so that none of a plugin's code runs on such objects.
#pragma once

#include "layer.hpp"

#include <cstdint>

namespace pi::loader {

/// How many forks lie between this process and the one that loaded the library.
uint32_t fork_count() noexcept;

/// While it lives, children refuse the calls of the chain's tables. The chain may still be filled.
class RefusedInChildren {
public:
    explicit RefusedInChildren(TableChain &chain) noexcept;
    RefusedInChildren(const RefusedInChildren &) = delete;
    RefusedInChildren &operator=(const RefusedInChildren &) = delete;
    ~RefusedInChildren();

    /// In a child: refuses the calls of all that live. It writes memory, and takes none and no locks.
    static void refuse_all(const RefusedInChildren *first) noexcept;

private:
    TableChain &chain_;
    RefusedInChildren *next_ = nullptr;
    RefusedInChildren *previous_ = nullptr;
};

} // namespace pi::loader
