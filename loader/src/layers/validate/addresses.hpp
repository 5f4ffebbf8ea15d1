// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The application's USM allocations. An address that the layer does not know may still be USM, for
// example of an extension, and is not checked.
#pragma once

#include <pi/describe/checks/check.hpp>

#include <cstdint>
#include <map>
#include <shared_mutex>

namespace pi::loader::validate {

using checks::Name;
class Check;

struct Allocation {
    uintptr_t begin = 0;
    uint64_t size = 0; ///< 0: none
    pi_context context = nullptr;

    /// Bytes from an address inside it to its end.
    uint64_t left(const void *pointer) const noexcept {
        return begin + size - reinterpret_cast<uintptr_t>(pointer);
    }
};

class Addresses {
public:
    /// The allocation that contains an address.
    Allocation find(const void *pointer) const noexcept;
    void add(const Allocation &allocation);
    /// Removes the allocation that begins there; empty if there is none.
    using Taken = std::map<uintptr_t, Allocation>::node_type;
    Taken take(const void *pointer) noexcept;
    void put_back(Taken taken) noexcept;
    /// The allocations of a context that were not freed end with it.
    void forget(pi_context context) noexcept;

private:
    mutable std::shared_mutex mutex_;
    std::map<uintptr_t, Allocation> allocations_;
};

/// PI_ERROR_INVALID_USM_POINTER for an address inside an allocation but not at its begin, or of
/// another context.
void check_freed(Check &check, pi_context context, const void *pointer, const Name &name) noexcept;

} // namespace pi::loader::validate
