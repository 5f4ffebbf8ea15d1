// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../../api/describe/test/region_oracle.hpp"
#include "c_region.h"

#include <catch2/catch.hpp>

using region_oracle::ByteEnd;

namespace {

pi_host silent_host() {
    pi_host host{};
    host.set_error = [](const pi_host *, pi_result, const char *) {};
    return host;
}

c_end c_end_of(const ByteEnd &end) {
    return {
        end.offset, {end.extent[0], end.extent[1], end.extent[2]}, {end.pitch[0], end.pitch[1]}};
}

} // namespace

TEST_CASE("the C half accepts an end exactly if its bytes are within the memory") {
    const pi_host host = silent_host();
    uint64_t accepted = 0, wrong = 0, turn = 0;
    const auto compare = [&](const ByteEnd &end, uint64_t size) {
        const c_end given = c_end_of(end);
        const bool result = c_check_end(&host, &given, size) == PI_SUCCESS;
        const auto expected = end.end();
        accepted += result;
        wrong += result != (expected.has_value() && *expected <= size);
    };
    for (const ByteEnd &end : region_oracle::small_ends())
        for (const uint64_t missing : {1, 0})
            compare(end, static_cast<uint64_t>(*end.end()) - missing);
    CHECK(accepted == region_oracle::small_ends().size());
    region_oracle::for_large_ends([&](const ByteEnd &end, uint64_t size) {
        if (turn++ % 11 == 0) // each refusal formats a text
            compare(end, size);
    });
    CHECK(wrong == 0);
}

TEST_CASE("in the C half two ends overlap exactly if they share a byte") {
    const std::vector<ByteEnd> ends = region_oracle::small_ends();
    uint64_t overlapping = 0, wrong = 0;
    for (std::size_t i = 0; i < ends.size(); ++i)
        for (std::size_t j = i % 7; j < ends.size(); j += 7) {
            const c_end a = c_end_of(ends[i]), b = c_end_of(ends[j]);
            const bool result = c_overlap(&a, &b) != 0;
            overlapping += result;
            wrong += result != (ends[i].bytes() & ends[j].bytes()).any();
        }
    CHECK(wrong == 0);
    CHECK(overlapping > 1000);
}
