// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// image_pipeline as scripts/demo runs it: two PoCL devices, rusticl and the host plugin. Where one
// of them is not on this machine the tests that need it are skipped.
#include "pipeline_report.hpp"
#include "skip.hpp"

#include <fstream>
#include <regex>

using Catch::Matchers::Contains;
using nlohmann::json;
using pi_test::Ran;
using pi_test::run;

namespace {

bool has_devices(const std::string &what) {
    return run({IMAGE_PIPELINE, "--list"}).output.find(what) != std::string::npos;
}

/// Two devices on one OpenCL platform and one on another.
bool can_run_demo() {
    if (has_devices("opencl:0:1") && has_devices("opencl:1:0")) {
        return true;
    }
    pi_test::skip("needs two devices of one OpenCL platform and one of a second");
    return false;
}

/// The lines of README.md's blocks of output, "..." left out.
std::vector<std::string> readme_output(size_t block) {
    std::ifstream readme(README);
    std::vector<std::string> lines;
    size_t seen = 0;
    bool inside = false;
    for (std::string line; std::getline(readme, line);) {
        if (line == "```text") {
            inside = seen++ == block;
        } else if (line == "```") {
            inside = false;
        } else if (inside && line != "...") {
            lines.push_back(line);
        }
    }
    REQUIRE_FALSE(lines.empty());
    return lines;
}

/// Without times, and with one blank between words: columns depend on their widest cells.
std::string without_times(const std::string &text) {
    const std::string timeless = std::regex_replace(text, std::regex("[0-9.]+ ms"), "ms");
    return std::regex_replace(timeless, std::regex(" +"), " ");
}

json report_of(const std::vector<std::string> &arguments) {
    return pi_test::run_pipeline(arguments).report;
}

/// The transfers of one use, by the stage's and the storage's names.
json transfers(const json &round, const std::string &stage_name, const std::string &storage) {
    for (const json &stage : round["stages"]) {
        for (const json &use : stage["uses"]) {
            if (stage["name"] == stage_name && use["storage"] == storage) {
                return use["transfers"];
            }
        }
    }
    FAIL("no use of " + storage + " in stage " + stage_name);
    return {};
}

} // namespace

TEST_CASE("over two OpenCL devices, a second vendor and the host every route is taken") {
    if (!can_run_demo()) {
        return;
    }
    const json report = report_of({"--rounds", "1"});
    INFO(report.dump(2));
    CHECK(report["equal"] == true);
    const json &round = report["rounds"][0];

    const json imported = transfers(round, "blur", "picture")[0];
    CHECK(imported["route"] == "import");
    CHECK(imported["bytes"] == 0);
    const json direct = transfers(round, "edges", "blurred")[0];
    CHECK(direct["route"] == "direct_use");
    CHECK(direct["bytes"] == 0);
    const json copied = transfers(round, "histogram", "edges")[0];
    CHECK(copied["route"] == "migrate");
    CHECK(copied["bytes"] == 640 * 480);
    const json bounced = transfers(round, "overlay", "blurred")[0];
    CHECK(bounced["route"] == "host_bounce");
    CHECK(bounced["bytes"] == 4 * 640 * 480);
    CHECK_FALSE(bounced["reason"].get<std::string>().empty());

    CHECK(report["bytes_delivered"] == report["bytes_required"]);
    CHECK(2 * report["bytes_delivered"].get<uint64_t>() <
          report["bytes_copy_in_copy_out"].get<uint64_t>());
}

TEST_CASE("every stage computes the same bits at every place") {
    if (!can_run_demo()) {
        return;
    }
    // As many rounds as places: each stage is everywhere once.
    const json report = report_of({"--rounds", "5"});
    INFO(report.dump(2));
    CHECK(report["equal"] == true);
    CHECK(report["rounds"].size() == 5);
    for (const char *route : {"direct_use", "import", "migrate", "host_bounce"}) {
        CHECK(report["routes"][route] > 0);
    }
    CHECK(report["bytes_delivered"] == report["bytes_required"]);
}

TEST_CASE("odd sizes equal the reference on all devices") {
    const auto [width, height] = GENERATE(table<uint32_t, uint32_t>({{1, 1}, {37, 23}}));
    const pi_test::TemporaryFolder folder;
    const std::filesystem::path picture = folder.path() / "odd.png";
    pi_test::write_file(picture, pi_test::random_png(width, height, 7).bytes());
    const json report = report_of({picture, "--rounds", "3"});
    INFO(report.dump(2));
    CHECK(report["equal"] == true);
    CHECK(report["bytes_delivered"] == report["bytes_required"]);
}

TEST_CASE("the message about an unknown device lists the existing ones") {
    const pi_test::TemporaryFolder folder;
    const Ran ran = run({IMAGE_PIPELINE, "--devices", "abacus:0", "--output", folder.path()});
    INFO(ran.output);
    CHECK(ran.exit_code == 1);
    CHECK_THAT(ran.output, Contains("abacus") && Contains("host:0:0"));

    const Ran number = run({IMAGE_PIPELINE, "--devices", "host:0:99", "--output", folder.path()});
    INFO(number.output);
    CHECK(number.exit_code == 1);
    CHECK_THAT(number.output, Contains("host:0:99") && Contains("host:0:0"));

    const Ran empty = run({IMAGE_PIPELINE, "--devices", "host,", "--output", folder.path()});
    INFO(empty.output);
    CHECK(empty.exit_code == 1);
    CHECK_THAT(empty.output, Contains("names no device"));
}

TEST_CASE("the first program moves its buffer over all devices") {
    const Ran ran = run({FIRST_PROGRAM});
    INFO(ran.output);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("opencl:0:0") && Contains("3 kernels"));
}

TEST_CASE("README.md's lines of the demo are printed by it") {
    if (!can_run_demo()) {
        return;
    }
    const pi_test::TemporaryFolder folder;
    const Ran ran = run({IMAGE_PIPELINE, "--output", folder.path()});
    CHECK(ran.exit_code == 0);
    for (const std::string &line : readme_output(0)) {
        CHECK_THAT(without_times(ran.output), Contains(without_times(line)));
    }
}

TEST_CASE("README.md's output of the first program is printed by it") {
    if (!has_devices("opencl:0:0")) {
        pi_test::skip("needs an OpenCL device");
        return;
    }
    const Ran ran = run({"/usr/bin/env", "PI_DEVICE_SELECTOR=host,opencl:0:0", FIRST_PROGRAM});
    CHECK(ran.exit_code == 0);
    std::string shown;
    for (const std::string &line : readme_output(1)) {
        shown += line + "\n";
    }
    CHECK_THAT(ran.output, Contains(shown));
}
