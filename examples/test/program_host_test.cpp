// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// image_pipeline as a user runs it on a machine without OpenCL: on the host plugin alone.
#include "made_png.hpp"
#include "picture.hpp"
#include "program.hpp"
#include "reference.hpp"
#include "skip.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using Catch::Matchers::Contains;
using nlohmann::json;
using pi_test::Ran;
using pi_test::run;

namespace fs = std::filesystem;

namespace {

json read_json(const fs::path &file) {
    std::ifstream stream(file);
    return json::parse(stream);
}

void check_written(const fs::path &folder, const fs::path &picture) {
    using namespace image_pipeline;
    const Results expected = reference(read_png(picture));
    const auto same = [&](const char *name, const std::vector<uint8_t> &pixels) {
        const Picture written = read_png(folder / name);
        return std::equal(pixels.begin(), pixels.end(), written.memory.bytes().begin(),
                          written.memory.bytes().end());
    };
    CHECK(same("blurred.png", expected.blurred));
    CHECK(same("overlay.png", expected.overlay));
    CHECK(same("histogram.png", expected.chart));
    CHECK(fs::exists(folder / "edges.png"));
}

} // namespace

TEST_CASE("with only the host plugin the shipped picture's results equal the reference") {
    const pi_test::TemporaryFolder folder;
    const fs::path output = folder.path() / "new" / "folder";
    const fs::path file = folder.path() / "report.json";
    const Ran ran = run({IMAGE_PIPELINE, "--output", output, "--json", file});
    INFO(ran.output);
    REQUIRE(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("equal the CPU reference: yes"));
    CHECK_THAT(ran.output, !Contains("\033["));
    check_written(output, SHIPPED_PICTURE);

    const json report = read_json(file);
    CHECK(report["equal"] == true);
    CHECK(report["picture"]["width"] == 640);
    CHECK(report["places"] == json{"host", "host:0:0", "host:0:0/own"});
    CHECK(report["rounds"].size() == 2);
    CHECK(report["routes"]["import"] > 0);
    CHECK(report["routes"]["direct_use"] > 0);
    CHECK(report["routes"]["migrate"] == 0);
    CHECK(report["routes"]["host_bounce"] == 0);
    CHECK(report["bytes_delivered"] == report["bytes_required"]);
    CHECK(report["bytes_delivered"] < report["bytes_copy_in_copy_out"]);
}

TEST_CASE("pictures of odd sizes equal the reference") {
    const auto [width, height] = GENERATE(table<uint32_t, uint32_t>({{1, 1}, {37, 23}, {1, 300}}));
    const pi_test::TemporaryFolder folder;
    const fs::path picture = folder.path() / "it's odd.png";
    pi_test::write_file(picture, pi_test::random_png(width, height, 7).bytes());
    const Ran ran = run({IMAGE_PIPELINE, picture, "--output", folder.path(), "--rounds", "3"});
    INFO(ran.output);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("equal the CPU reference: yes") && Contains("Round 3"));
    check_written(folder.path(), picture);
}

TEST_CASE("each stage runs at its place in --devices") {
    const pi_test::TemporaryFolder folder;
    const fs::path file = folder.path() / "report.json";
    const Ran ran = run({IMAGE_PIPELINE, "--devices", "host,host/own", "--rounds", "1", "--output",
                         folder.path(), "--json", file});
    INFO(ran.output);
    REQUIRE(ran.exit_code == 0);
    const json report = read_json(file);
    std::vector<std::string> places;
    for (const json &stage : report["rounds"][0]["stages"]) {
        places.push_back(stage["place"]);
    }
    CHECK(places == std::vector<std::string>{"host:0:0", "host:0:0/own", "host:0:0", "host:0:0/own",
                                             "host:0:0", "host"});
}

TEST_CASE("with all storages in host memory nothing moves") {
    const pi_test::TemporaryFolder folder;
    const fs::path file = folder.path() / "report.json";
    const Ran ran = run({IMAGE_PIPELINE, "--in-place", "--output", folder.path(), "--json", file});
    INFO(ran.output);
    REQUIRE(ran.exit_code == 0);
    const json report = read_json(file);
    CHECK(report["equal"] == true);
    CHECK(report["bytes_delivered"] == 0);
    CHECK(report["routes"]["import"] > 0);
}

TEST_CASE("--explain prints refused routes, and --list devices") {
    const pi_test::TemporaryFolder folder;
    const Ran explained =
        run({IMAGE_PIPELINE, "--explain", "--rounds", "1", "--output", folder.path()});
    const Ran plain = run({IMAGE_PIPELINE, "--rounds", "1", "--output", folder.path()});
    INFO(explained.output);
    CHECK(explained.exit_code == 0);
    CHECK(explained.output.size() > plain.output.size());

    const Ran list = run({IMAGE_PIPELINE, "--list"});
    INFO(list.output);
    CHECK(list.exit_code == 0);
    CHECK_THAT(list.output, Contains("host:0:0"));
#ifdef HAS_PLUGIN_opencl
    CHECK_THAT(list.output, Contains("plugin opencl is not used: "));
#endif
}

TEST_CASE("a wrong picture is a clear message and exit code 1") {
    const pi_test::TemporaryFolder folder;
    const fs::path picture = folder.path() / "wrong.png";
    const auto refused = [&](const std::string &reason) {
        const Ran ran = run({IMAGE_PIPELINE, picture, "--output", folder.path()});
        INFO(ran.output);
        CHECK(ran.exit_code == 1);
        CHECK_THAT(ran.output,
                   Contains("image_pipeline: cannot read " + picture.string()) && Contains(reason));
    };
    const std::string whole = pi_test::random_png(37, 23, 7).bytes();
    refused("there is no such file");
    pi_test::write_file(picture, "P6 a picture, but not of this kind");
    refused("Not a PNG");
    pi_test::write_file(picture, whole.substr(0, whole.size() / 2));
    refused("cut short");
    pi_test::MadePng huge;
    huge.width = 100000;
    huge.height = 100000;
    pi_test::write_file(picture, huge.bytes());
    refused("10000000000 pixels");
}

TEST_CASE("an output folder that cannot be used is a clear message and exit code 1") {
    const pi_test::TemporaryFolder folder;
    SECTION("because it is a file") {
        const Ran ran = run({IMAGE_PIPELINE, "--output", SHIPPED_PICTURE});
        INFO(ran.output);
        CHECK(ran.exit_code == 1);
        CHECK_THAT(ran.output, Contains("output folder"));
    }
    SECTION("because no folder can be created there") {
        const Ran ran = run({IMAGE_PIPELINE, "--output", "/proc/image_pipeline_output"});
        INFO(ran.output);
        CHECK(ran.exit_code == 1);
        CHECK_THAT(ran.output, Contains("cannot make the output folder /proc/"));
    }
    SECTION("because it is read-only") {
        fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
        const std::string place = geteuid() == 0 ? "/proc" : folder.path().string();
        const Ran ran = run({IMAGE_PIPELINE, "--output", place});
        fs::permissions(folder.path(), fs::perms::owner_all);
        INFO(ran.output);
        CHECK(ran.exit_code == 1);
        CHECK_THAT(ran.output, Contains("cannot write to the output folder " + place));
    }
    SECTION("because the disk is full") {
        fs::create_symlink("/dev/full", folder.path() / "blurred.png");
        const Ran ran = run({IMAGE_PIPELINE, "--output", folder.path(), "--rounds", "1"});
        INFO(ran.output);
        CHECK(ran.exit_code == 1);
        CHECK_THAT(ran.output, Contains("cannot write " + folder.path().string()));
    }
}

TEST_CASE("a wrong command line is exit code 2, help is 0") {
    CHECK(run({IMAGE_PIPELINE, "--no-such-option"}).exit_code == 2);
    CHECK(run({IMAGE_PIPELINE, "--rounds", "0"}).exit_code == 2);
    CHECK(run({IMAGE_PIPELINE, "--rounds", "many"}).exit_code == 2);
    const Ran help = run({IMAGE_PIPELINE, "--help"});
    CHECK(help.exit_code == 0);
    CHECK_THAT(help.output, Contains("Exit codes: 0") && Contains("--devices"));
}

TEST_CASE("the first program runs with only the host plugin") {
    const Ran ran = run({FIRST_PROGRAM});
    INFO(ran.output);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output,
               Contains("host -> host:0:0") && Contains("1 kernels, and the last number is 1"));
}
