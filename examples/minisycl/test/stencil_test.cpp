// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transfers of the stencil, from the transfer log.
#include "classics.hpp"

#include <catch2/catch.hpp>

using namespace minisycl;
using pi::runtime::host_place;
using pi::runtime::Range;
using pi::runtime::RangeSet;
using pi::runtime::RouteKind;
using pi::runtime::TransferRecord;

TEST_CASE("between two devices a step of the stencil moves the rows at the cut and nothing else") {
    const std::string selector =
        GENERATE("sim:0:0,sim:0:1", "sim:0:0,host:0:0", "host:0:0,sim:0:1");
    constexpr std::size_t size = 40;
    constexpr std::size_t steps = 6;
    constexpr uint64_t row = size * sizeof(uint32_t);
    context devices(selector);
    CHECK(stencil(devices, device_forms(), size, steps));
    REQUIRE(devices.runtime().finish(std::chrono::seconds(60)));

    const Range top{19 * row, 20 * row};    // the first device's last row
    const Range bottom{20 * row, 21 * row}; // the second's first
    uint64_t halo_bytes = 0;
    uint64_t top_moves = 0;
    uint64_t bottom_moves = 0;
    const std::vector<TransferRecord> log = devices.runtime().log();
    INFO(selector << "\n"
                  << pi::runtime::to_string(log, devices.runtime().topology().description()));
    for (const TransferRecord &record : log) {
        REQUIRE(record.result == PI_SUCCESS);
        const bool first_rows = record.source == host_place && record.storage == "even steps" &&
                                record.ranges.bytes() == 21 * row;
        // At the end the results go to the host; memory shared with the host plugin's device moves
        // no bytes.
        const bool last_rows =
            record.destination == host_place && record.ranges.bytes() >= 19 * row;
        if (first_rows || last_rows || record.bytes == 0) {
            continue;
        }
        halo_bytes += record.bytes;
        top_moves += record.ranges == RangeSet(top);
        bottom_moves += record.ranges == RangeSet(bottom);
    }
    CHECK(top_moves == steps - 1);
    CHECK(bottom_moves == steps - 1);
    CHECK(halo_bytes == (steps - 1) * 2 * row);
}
