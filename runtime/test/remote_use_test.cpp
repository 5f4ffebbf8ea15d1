// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "planning/remote_use.hpp"

#include <catch2/catch.hpp>

using namespace pi::runtime;

TEST_CASE("a second use of bytes that no other place has touched makes a copy due", "[runtime]") {
    RemoteUse use;
    CHECK_FALSE(use.is_due({0, 100}));
    use.used({0, 100}, false);
    CHECK(use.again({0, 100}) == 100);
    CHECK(use.needed({50, 200}) == RangeSet({0, 200}));
    CHECK(use.is_due({0, 100}));
    CHECK_FALSE(use.is_due({50, 200})); // 50 again, and a copy takes 200
    use.used({50, 200}, false);
    CHECK(use.again({0, 100}) == 150);
    CHECK_FALSE(use.is_due({0, 100}));
    CHECK(use.is_due({0, 200}));
}

TEST_CASE("bytes that another place has written since are not used again", "[runtime]") {
    RemoteUse use;
    for (int round = 0; round < 10; ++round) {
        CHECK_FALSE(use.is_due({0, 100}));
        use.used({0, 100}, round % 2 == 0);
        use.used_elsewhere({0, 100}, true);
    }
    CHECK(use.again({0, 100}) == 0);
}

TEST_CASE("writes that another place reads are not repeated uses, nor are its reads", "[runtime]") {
    RemoteUse writes;
    RemoteUse reads;
    for (int round = 0; round < 10; ++round) {
        writes.used({0, 100}, true);
        writes.used_elsewhere({0, 100}, false);
        reads.used({0, 100}, false);
        reads.used_elsewhere({0, 100}, false);
    }
    CHECK(writes.again({0, 100}) == 0);
    CHECK(reads.again({0, 100}) == 1000);
}

TEST_CASE("a copy that was put off is due when twice as much has crossed", "[runtime]") {
    RemoteUse use;
    use.used({0, 100}, false);
    use.put_off({0, 100});
    CHECK_FALSE(use.is_due({0, 100}));
    use.used({0, 100}, false);
    CHECK(use.is_due({0, 100}));
}
