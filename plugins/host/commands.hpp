// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the commands on buffers, images and USM share.
#pragma once

#include "layout.hpp"
#include "queue.hpp"

#include <pi/sdk/region.hpp>

#include <span>

namespace pi::host {

template <class Desc>
void check_command(const Desc &desc, uint64_t known_flags = PI_COMMAND_BLOCKING) {
    sdk::check_flags(desc.flags, known_flags, "flags");
}

/// Of a copy: bytes, plus what each piece costs beside them. Of a fill: bytes.
Cost cost_of(std::span<const pi_region> regions);
Cost cost_of(uint64_t bytes);

/// Source and destination of a region may be the same bytes: a buffer that is read into the memory that it was
/// imported from.
void copy_regions(std::span<const pi_region> regions, const LogicalBytes &src,
                  const LogicalBytes &dst);

} // namespace pi::host
