// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The regions of a command on buffers: whether they share storage.
#pragma once

#include "layers/validate/check.hpp"

#include <pi/describe/checks/region.hpp>

namespace pi::loader::validate {

using checks::range_of;
using checks::Rectangle;

/// One end of a command's regions.
struct StorageEnd : checks::RegionEnd {
    uint64_t storage = 0; ///< ends of one storage may overlap; 0: shared with no other end
    uint64_t offset = 0;  ///< into the storage
};
/// The storage of memory that is known by its addresses.
inline constexpr uint64_t address_space = UINT64_MAX;

/// Checks regions of bytes: count, members, both ends, overlap of each region's ends, and of two in
/// the destination.
void check_regions(Check &check, uint32_t count, const pi_region *regions, const StorageEnd &src,
                   const StorageEnd &dst) noexcept;

/// The destinations of one command must not overlap; of very many only the first are compared.
template <typename Area>
class Destinations {
public:
    /// `what`: "bytes" or "pixels".
    void add(Check &check, uint32_t index, const Area &area, const char *what) noexcept {
        for (uint32_t i = 0; i < count_; ++i) {
            if (overlap(seen_[i], area))
                check.refuse(PI_ERROR_INVALID_VALUE, Name{"desc->regions", index},
                             "writes {} that desc->regions[{}] also writes; the regions of one "
                             "command are done in any order and must not overlap in the "
                             "destination",
                             what, i);
        }
        if (count_ < most && count_ == index)
            seen_[count_++] = area;
    }

private:
    static constexpr uint32_t most = 32;
    Area seen_[most];
    uint32_t count_ = 0;
};

} // namespace pi::loader::validate
