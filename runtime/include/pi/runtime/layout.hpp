// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace pi::runtime {

/// The bytes of a storage as elements along axes, as pi_mem_layout_desc describes an n-D
/// allocation. Axis separators mark where logical axes are folded into the physical axes of the
/// memory: with one separator, rows of a 2-D scratchpad. Default: no layout, dense bytes.
struct MemoryLayout {
    uint32_t element_size = 0;             ///< bytes
    std::vector<uint64_t> extents;         ///< of 1 to 8 axes, outermost first
    std::vector<uint32_t> axis_separators; ///< increasing, in 1..rank-1; none = flat
    bool is_dense() const noexcept {
        return element_size == 0 && extents.empty() && axis_separators.empty();
    }
    friend auto operator<=>(const MemoryLayout &, const MemoryLayout &) = default;
};

} // namespace pi::runtime
