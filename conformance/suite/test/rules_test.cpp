// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rules.hpp"

#include <catch2/catch.hpp>

namespace {

using pi::suite::rules_of;

constexpr const char *rules = R"(# Rules

## Memory

### `piMemFlush`

1. Flush publishes what the
   host wrote.
   - tests: `memory: flushed bytes arrive`,
     `memory: a flush is cheap`
   - mutants: `memory: invalidated bytes arrive`
2. It is synchronous.
   - not binding: `memory: flushed bytes arrive` says nothing of it

### `piMemInvalidate`

10. It takes a range.
   - tests: `memory: invalidated bytes arrive`, `memory: a flush is cheap`
   - open: no test
     asks for more
)";

} // namespace

TEST_CASE("a test's rules are the sentences that name it among their tests") {
    using Texts = std::vector<std::string>;
    const std::string flush = "piMemFlush: Flush publishes what the host wrote.";
    const std::string invalidate = "piMemInvalidate: It takes a range.";
    CHECK(rules_of("memory: flushed bytes arrive", rules) == Texts{flush});
    CHECK(rules_of("memory: invalidated bytes arrive", rules) == Texts{invalidate});
    CHECK(rules_of("memory: a flush is cheap", rules) == Texts{flush, invalidate});
    CHECK(rules_of("memory: a flush", rules).empty());
    CHECK(rules_of("memory: flushed bytes arrive", "").empty());
}
