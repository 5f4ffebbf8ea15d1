// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cells of the connection matrix, for text and picture.
#pragma once

#include <pi/runtime/topology.hpp>

#include <string>

namespace pi_info {

/// A connection, by colour.
enum class Access { none, migratable, unified };

struct Cell {
    std::string text; ///< "unified", "import/4096", ...; "-" for the host with itself
    Access access = Access::none;
};

/// The cell for memory of src used by dst. The row and the column of host memory come from the
/// devices' own infos: memory that is imported or mapped in place counts as unified, all else is
/// copied.
Cell cell_of(const pi::runtime::TopologyDescription &topology, pi::runtime::PlaceIndex src,
             pi::runtime::PlaceIndex dst);

} // namespace pi_info
