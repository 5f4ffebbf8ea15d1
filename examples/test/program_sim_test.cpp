// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// image_pipeline on simulated machines.
#include "kernels.hpp"
#include "machine.hpp"
#include "made_png.hpp"
#include "picture.hpp"
#include "places.hpp"
#include "program.hpp"
#include "reference.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <pi/runtime/calibrate.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

using Catch::Matchers::Contains;
using nlohmann::json;
using pi_test::Ran;
using pi_test::run;

namespace fs = std::filesystem;

namespace {

std::string machine_file(const std::string &name) {
    return std::string(MACHINES) + "/" + name + ".json";
}

bool same(const fs::path &png, const std::vector<uint8_t> &pixels) {
    const image_pipeline::Picture written = image_pipeline::read_png(png);
    const auto bytes = written.memory.bytes();
    return std::equal(pixels.begin(), pixels.end(), bytes.begin(), bytes.end());
}

} // namespace

TEST_CASE(
    "on a simulated machine the picture's results equal the reference, and transfers have times") {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    const std::string machine = GENERATE("workstation", "cma-board");
#else
    const std::string machine = GENERATE("apu", "workstation", "switch-8gpu", "dual-socket",
                                         "bounce-faster", "cma-board", "dsp");
#endif
    const pi_test::TemporaryFolder folder;
    const fs::path file = folder.path() / "report.json";
    const Ran ran = run({IMAGE_PIPELINE, "--machine", machine_file(machine), "--output",
                         folder.path(), "--json", file});
    INFO(machine << '\n' << ran.output);
    REQUIRE(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("equal the CPU reference: yes"));
    CHECK_THAT(ran.output, Contains("predicted") && Contains("virtual") && Contains("required"));
    const image_pipeline::Results expected =
        image_pipeline::reference(image_pipeline::read_png(SHIPPED_PICTURE));
    CHECK(same(folder.path() / "blurred.png", expected.blurred));
    CHECK(same(folder.path() / "overlay.png", expected.overlay));
    CHECK(same(folder.path() / "histogram.png", expected.chart));

    std::ifstream stream(file);
    const json report = json::parse(stream);
    CHECK(report["equal"] == true);
    uint64_t required = 0;
    uint64_t moved = 0;
    for (const json &round : report["rounds"]) {
        for (const json &stage : round["stages"]) {
            for (const json &use : stage["uses"]) {
                required += use["bytes_required"].get<uint64_t>();
                uint64_t of_use = 0;
                double predicted = 0;
                for (const json &transfer : use["transfers"]) {
                    of_use += transfer["bytes"].get<uint64_t>();
                    predicted += transfer["predicted_milliseconds"].get<double>();
                    INFO(stage["name"] << " " << use["storage"] << " " << transfer);
                    if (transfer["bytes"] >
                        0) { // a coherence sync without bytes may take time, too
                        CHECK(transfer["predicted_milliseconds"] > 0);
                    }
                }
                INFO(stage["name"] << " " << use);
                if (of_use > 0) {
                    CHECK(use["virtual_milliseconds"].get<double>() ==
                          Approx(predicted).epsilon(0.05));
                }
                if (use["transfers"].empty()) {
                    CHECK(use["virtual_milliseconds"] == 0);
                }
                moved += of_use;
            }
        }
    }
    CHECK(required == report["bytes_required"]);
    CHECK(moved == report["bytes_delivered"]);
    CHECK(moved == required);
}

TEST_CASE("routes, predictions and times of a simulated machine are the same in every run") {
    const std::string machine =
        GENERATE("workstation", "dual-socket"); // with transfers that wait for others
    INFO(machine);
    const auto report = [&] {
        const pi_test::TemporaryFolder folder;
        const fs::path file = folder.path() / "report.json";
        const Ran ran = run({IMAGE_PIPELINE, "--machine", machine_file(machine), "--output",
                             folder.path(), "--json", file});
        REQUIRE(ran.exit_code == 0);
        std::ifstream stream(file);
        return json::parse(stream);
    };
    const json first = report();
    CHECK(report() == first);
    CHECK(report() == first);
}

TEST_CASE(
    "the demo's routes follow a file of measured costs, and those of another machine are refused "
    "with a message") {
    // Where direct copies are the slower way, a file calls them the faster one.
    const std::string machine = machine_file("bounce-faster");
    const pi_test::TemporaryFolder folder;
    const std::string costs = folder.path() / "costs.json";
    {
        const image_pipeline::Loader loader(machine);
        const auto work =
            image_pipeline::choose_places(loader.get(), "", examples::kernel_forms(""), "sim");
        const auto &topology = work.topology->description();
        pi::runtime::CostTable table = pi::runtime::CostTable::estimate(topology);
        for (pi::runtime::PlaceIndex from = 1; from < topology.places.size(); ++from) {
            for (pi::runtime::PlaceIndex to = 1; to < topology.places.size(); ++to) {
                if (table.linked(from, to)) {
                    table.set(from, to, {1e-9, 1e12});
                }
            }
        }
        pi::runtime::save_costs(table, topology, costs);
    }
    const auto ways = [&](const std::string &on, const std::vector<std::string> &arguments,
                          std::string &output) {
        const fs::path file = folder.path() / "report.json";
        std::vector<std::string> command{IMAGE_PIPELINE, "--machine", on,  "--output",
                                         folder.path(),  "--json",    file};
        command.insert(command.end(), arguments.begin(), arguments.end());
        const Ran ran = run(command);
        INFO(ran.output);
        REQUIRE(ran.exit_code == 0);
        output = ran.output;
        std::ifstream stream(file);
        const json report = json::parse(stream);
        CHECK(report["equal"] == true);
        return report["routes"];
    };
    std::string output;
    const json estimated = ways(machine, {}, output);
    CHECK(estimated["host_bounce"] > 0);
    CHECK_THAT(output, !Contains("measured costs"));

    const json measured = ways(machine, {"--costs", costs}, output);
    CHECK(measured["host_bounce"] == 0);
    CHECK(measured["migrate"] > estimated["migrate"]);
    CHECK_THAT(output, Contains("Routes go by the measured costs of"));

    const std::string other = machine_file("workstation");
    const json elsewhere = ways(other, {}, output);
    CHECK(ways(other, {"--costs", costs}, output) == elsewhere);
    CHECK_THAT(output, Contains("was measured on another machine") && Contains("not used"));
    CHECK(ways(machine, {"--costs", "/nowhere.json"}, output) == estimated);
    CHECK_THAT(output, Contains("/nowhere.json: cannot be read; its costs are not used"));
}

TEST_CASE("a machine file that cannot be used is a clear message and exit code 1") {
    const Ran missing = run({IMAGE_PIPELINE, "--machine", "/nowhere.json"});
    INFO(missing.output);
    CHECK(missing.exit_code == 1);
    CHECK_THAT(missing.output, Contains("no simulated machine") && Contains("/nowhere.json"));

    const pi_test::TemporaryFolder folder;
    const fs::path broken = folder.path() / "broken.json";
    pi_test::write_file(broken, R"({"pi_machine": 1,
        "name": "broken", "devices": []})");
    const Ran refused = run({IMAGE_PIPELINE, "--machine", broken});
    INFO(refused.output);
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.output, Contains("broken.json:2: devices is empty"));
}
