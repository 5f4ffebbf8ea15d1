// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace runtime_test {

/// Whether the page is mapped in the process. Frees of 32 MiB and more unmap the memory, so this
/// returns true until then.
inline bool is_mapped(std::byte *address) {
    constexpr uintptr_t page = 4096;
    unsigned char resident = 0;
    return mincore(address - reinterpret_cast<uintptr_t>(address) % page, 1, &resident) == 0;
}

} // namespace runtime_test
