// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rules.hpp"

#include <catch2/catch.hpp>

namespace {

using pi::suite::Rules;

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
    const std::string flush = "piMemFlush: Flush publishes what the host wrote.";
    const std::string invalidate = "piMemInvalidate: It takes a range.";
    CHECK(pi::suite::rules_by_test(rules) ==
          std::map<std::string, Rules, std::less<>>{
              {"memory: flushed bytes arrive", {flush}},
              {"memory: invalidated bytes arrive", {invalidate}},
              {"memory: a flush is cheap", {flush, invalidate}}});
    CHECK(pi::suite::rules_by_test("").empty());
    CHECK(pi::suite::rules_of("memory: no such test").empty());
}
