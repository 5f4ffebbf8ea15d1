// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bench.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

PAIR_LAW("connection", "a place is unified with itself") {
    for (const Place &place : {bench.src(), bench.dst()})
        require_equal(bench.connection(place, place), PI_MEMORY_CONNECTION_UNIFIED,
                      "the connection of a place with itself");
}

} // namespace
} // namespace pi::suite
