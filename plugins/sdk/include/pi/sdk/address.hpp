// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses: alignment, and ranges of the application's memory.
#pragma once

#include <pi/sdk/error.hpp>

#include <cstdint>

namespace pi::sdk {

/// The next multiple of `alignment`, a power of two.
constexpr uint64_t align_up(uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) & ~(alignment - 1);
}

using checks::alignment_of;

/// PI_ERROR_INVALID_SIZE if a range of the application's memory goes past the end of the address
/// space.
inline void check_pointer_range(const void *pointer, uint64_t offset, uint64_t size) {
    enforce([&](checks::Check &check) {
        check.range(offset, size, UINTPTR_MAX - reinterpret_cast<uintptr_t>(pointer), "offset",
                    "size", "the address space");
    });
}

} // namespace pi::sdk
