// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --require: a device that is absent is a failure.

#include "run_suite.hpp"

#include <catch2/catch.hpp>

TEST_CASE("a required device that is tested changes nothing") {
    for (const char *selector : {"template", "template:0:0", "template:*", "*"}) {
        const Run run = run_toy("honest", {std::string("--require=") + selector});
        INFO(selector << ": " << run.output);
        CHECK(run.exit_code == 0);
        CHECK(run.output.find("--require") == std::string::npos);
    }
}

TEST_CASE("a required device that is absent is a failure that names it and those that are there") {
    const Run run =
        run_toy("honest", {"--require=template:0:0,template:0:7", "--require=template:3"});
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK(run.output.find("--require template:0:7: ") != std::string::npos);
    CHECK(run.output.find("--require template:3: ") != std::string::npos);
    CHECK(run.output.find("--require template:0:0: ") == std::string::npos);
    CHECK(run.output.find("the devices are: template:0:0") != std::string::npos);
    CHECK(run.output.find(" passed, ") == std::string::npos);
}

TEST_CASE("a plugin without a device has no required one either") {
    const Run run = run_toy("has_no_device", {"--require=template:0:0"});
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK(run.output.find("--require template:0:0: there is no device at all") !=
          std::string::npos);
}

TEST_CASE("an invalid required selector is refused, with a valid one in the text") {
    const Run run = run_toy("honest", {"--require=template:x"});
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK(run.output.find("template:x") != std::string::npos);
    CHECK(run.output.find("should be") != std::string::npos);
    const Run empty = run_toy("honest", {"--require", ""});
    INFO(empty.output);
    CHECK(empty.exit_code == 2);
    CHECK(empty.output.find("a selector is empty, should be like opencl:0:1") != std::string::npos);
}
