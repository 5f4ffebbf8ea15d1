// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <pi/sdk/build_log.hpp>

#include <catch2/catch.hpp>

using pi::sdk::build_log_excerpt;

namespace {

std::string lines(const std::string &line, int count) {
    std::string all;
    for (int i = 0; i < count; ++i)
        all += line + "\n";
    return all;
}

} // namespace

TEST_CASE("a short log is shown unchanged") {
    CHECK(build_log_excerpt("") == "");
    CHECK(build_log_excerpt("no line end") == "no line end");
    const std::string log = "warning\n1:2: error: no such thing\nend\n";
    CHECK(build_log_excerpt(log) == log);
}

TEST_CASE("a long log is shown from its first error") {
    const std::string stages = lines("stage", 9), rest = lines("note", 20);
    CHECK(build_log_excerpt(stages + "JIT Error: f\n" + rest) ==
          "JIT Error: f\n" + lines("note", 7));
    CHECK(build_log_excerpt("error: f\n" + rest) == "error: f\n" + lines("note", 7));
    CHECK(build_log_excerpt(stages + rest) == lines("stage", 8)); // no line has the word "error"
    const std::string wide(1000, 'x');
    CHECK(build_log_excerpt(wide + "\nerror: f\n") == "error: f\n");
    CHECK(build_log_excerpt("error: " + wide).size() == 600);
}
