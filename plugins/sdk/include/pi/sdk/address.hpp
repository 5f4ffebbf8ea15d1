// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses: alignment, and ranges of the application's memory.
#pragma once

#include <pi/sdk/error.hpp>

#include <algorithm>
#include <cstdint>

namespace pi::sdk {

/// The next multiple of `alignment`, a power of two.
constexpr uint64_t align_up(uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) & ~(alignment - 1);
}

/// The largest power of two, at most `most`, that divides the address.
inline uint64_t alignment_of(const void *pointer, uint64_t most) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    return address ? std::min<uint64_t>(address & -address, most) : most;
}

/// PI_ERROR_INVALID_SIZE if a range of the application's memory goes past the end of the address
/// space.
inline void check_pointer_range(const void *pointer, uint64_t offset, uint64_t size) {
    const uint64_t limit = UINTPTR_MAX - reinterpret_cast<uintptr_t>(pointer);
    if (offset > limit || size > limit - offset)
        fail(PI_ERROR_INVALID_SIZE, size, " bytes from ", offset, " bytes behind ", pointer,
             " go past the end of the address space");
}

} // namespace pi::sdk
