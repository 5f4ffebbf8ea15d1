// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands in a cell of the connection matrix, for text and picture alike.
#pragma once

#include <pi/runtime/topology.hpp>

#include <string>

namespace pi_info {

/// What memory of one place is to another, as a colour says it.
enum class Access { none, migratable, unified };

struct Cell {
    std::string text; ///< "unified", "import/4096", ...; "-" for the host with itself
    Access access = Access::none;
};

/// Of the memory of src, used by dst. The row and the column of the bare host come from what the devices say of
/// themselves: memory that is imported or mapped in place is unified, all else is copied.
Cell cell_of(const pi::runtime::TopologyDescription &topology, pi::runtime::PlaceIndex src,
             pi::runtime::PlaceIndex dst);

} // namespace pi_info
