// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "regions.hpp"

namespace pi::loader::validate {

void check_regions(Check &check, uint32_t count, const pi_region *regions, const StorageEnd &src,
                   const StorageEnd &dst) noexcept {
    const bool shared = src.storage != 0 && src.storage == dst.storage;
    if (count == 1 && regions != nullptr && !shared &&
        checks::is_plain_row(regions[0], src.limit(), dst.limit()))
        return;
    Destinations<Rectangle> destinations;
    checks::check_regions(check, count, regions, src, dst,
                          [&](uint32_t index, Rectangle from, Rectangle to) {
                              destinations.add(check, index, to, "bytes");
                              if (!shared)
                                  return;
                              from.offset += src.offset;
                              to.offset += dst.offset;
                              check_overlap(check, {"desc->regions", index}, from, to);
                          });
}

} // namespace pi::loader::validate
