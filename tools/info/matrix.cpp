// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matrix.hpp"

#include "names.hpp"

namespace pi_info {

using pi::runtime::host_place;

Cell cell_of(const pi::runtime::TopologyDescription &topology, pi::runtime::PlaceIndex src,
             pi::runtime::PlaceIndex dst) {
    if (src == host_place && dst == host_place) {
        return {"-", Access::none};
    }
    if (src == host_place) {
        const pi::runtime::PlaceInfo &place = topology.place(dst);
        if (place.host_pointer_import) {
            return {"import/" + std::to_string(place.host_pointer_alignment), Access::unified};
        }
        return {"copied", Access::none};
    }
    if (dst == host_place) {
        return topology.place(src).maps_in_place ? Cell{"mapped", Access::unified}
                                                 : Cell{"copied", Access::none};
    }
    const pi_memory_connection connection = topology.buffer(src, dst).connection;
    switch (connection) {
    case PI_MEMORY_CONNECTION_UNIFIED:
        return {connection_name(connection), Access::unified};
    case PI_MEMORY_CONNECTION_MIGRATABLE:
        return {connection_name(connection), Access::migratable};
    default:
        return {connection_name(connection), Access::none};
    }
}

} // namespace pi_info
