// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The USM that the application has. What the layer does not know may all the same be USM, of an extension say:
// nothing is said of it.
#pragma once

#include <pi/pi.h>

#include <cstdint>
#include <map>
#include <shared_mutex>

namespace pi::loader::validate {

struct Name;
class Check;

struct Allocation {
    uintptr_t begin = 0;
    uint64_t size = 0; ///< 0: none
    pi_context context = nullptr;

    /// Bytes from an address within it to its end.
    uint64_t left(const void *pointer) const noexcept {
        return begin + size - reinterpret_cast<uintptr_t>(pointer);
    }
};

class Addresses {
public:
    /// The allocation that an address lies in.
    Allocation find(const void *pointer) const noexcept;
    void add(const Allocation &allocation);
    /// The allocation that begins there, which is forgotten; empty if there is none.
    using Taken = std::map<uintptr_t, Allocation>::node_type;
    Taken take(const void *pointer) noexcept;
    void put_back(Taken taken) noexcept;
    /// What nobody has freed goes with the context.
    void forget(pi_context context) noexcept;

private:
    mutable std::shared_mutex mutex_;
    std::map<uintptr_t, Allocation> allocations_;
};

/// PI_ERROR_INVALID_USM_POINTER for an address within an allocation that is not its begin, or of another context.
void check_freed(Check &check, pi_context context, const void *pointer, const Name &name) noexcept;

} // namespace pi::loader::validate
