// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensor_io on the host plugin and on simulated machines, and its parts.
#include "frame.hpp"
#include "kernels.hpp"
#include "native_functions.hpp"
#include "skip.hpp"
#include "tensor_io_report.hpp"

#include <algorithm>
#include <map>
#include <tuple>

using Catch::Matchers::Contains;
using nlohmann::json;
using namespace pi_test;

namespace {

std::string machine_file(const std::string &name) {
    return std::string(MACHINES) + "/" + name + ".json";
}

json on_machine(const std::string &name, const std::vector<std::string> &more = {}) {
    std::vector<std::string> arguments{"--machine", machine_file(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tensor_io_report(arguments);
}

} // namespace

TEST_CASE("the frames have pixels of every label, and no two are alike") {
    const tensor_io::Shape shape{99, 61};
    std::vector<uint8_t> first(shape.pixels());
    std::vector<uint8_t> second(shape.pixels());
    tensor_io::take_picture(shape, 0, first.data());
    tensor_io::take_picture(shape, 1, second.data());
    CHECK(first != second);
    const tensor_io::Results results = tensor_io::reference(shape, first);
    REQUIRE(results.histogram.size() == tensor_io::label_count);
    for (const uint32_t count : results.histogram) {
        CHECK(count > 0);
    }
    CHECK(results != tensor_io::reference(shape, second));
}

TEST_CASE("a difference from the plain computation is printed with its index and both values") {
    const tensor_io::Results right{{1, 2, 3}, {0, 1, 1, 1, 0}};
    tensor_io::Results wrong = right;
    CHECK(tensor_io::first_difference(wrong, right).empty());
    wrong.histogram[4] = 7;
    CHECK(tensor_io::first_difference(wrong, right) == "histogram[4] is 7, expected 0");
    wrong.labels[1] = 0;
    CHECK(tensor_io::first_difference(wrong, right) == "labels[1] is 0, expected 2");
    wrong.labels.pop_back();
    CHECK(tensor_io::first_difference(wrong, right) == "labels has 2 elements, expected 3");
}

TEST_CASE(
    "frames of one row, one column or one pixel are classified as the plain computation does") {
    const auto [width, height] = GENERATE(std::pair(1, 1), std::pair(1, 40), std::pair(40, 1));
    const Ran ran =
        run({TENSOR_IO, "--devices", "host,application", "--width", std::to_string(width),
             "--height", std::to_string(height), "--frames", "4"});
    INFO(ran.output);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("results equal the plain computation: yes"));
}

TEST_CASE("PTX has all kernels, and calls no undefined function") {
    const std::string text(examples::ptx_kernels());
    if (text.empty()) {
        return skip("needs clang, to have PTX");
    }
    const pi_native_program &native = examples::native_kernels();
    CHECK(native.kernel_count == 3);
    for (uint32_t index = 0; index < native.kernel_count; ++index) {
        CHECK_THAT(text,
                   Contains(".visible .entry " + std::string(native.kernels[index].name) + "("));
    }
    CHECK(text.find(".extern") == std::string::npos);
}

TEST_CASE("the host plugin and the application itself use one memory: nothing moves") {
    const std::string memory = GENERATE("aligned", "unaligned");
    INFO(memory);
    check_nothing_moved(
        tensor_io_report({"--devices", "host,application", "--memory", memory, "--ring", "3"}));
}

TEST_CASE("rings of any number of slots give the same results") {
    const std::string ring = GENERATE("1", "2", "5", "12", "40");
    INFO(ring);
    const json report = on_machine("apu", {"--ring", ring});
    CHECK(report["ring"] == std::stoi(ring));
    check_nothing_moved(report);
}

TEST_CASE("where processor and device have one coherent memory, not one byte moves and no cache is "
          "flushed") {
    const std::string memory = GENERATE("aligned", "unaligned");
    INFO(memory);
    const json report = on_machine("apu", {"--memory", memory});
    check_nothing_moved(report);
    const json &zero = report["ways"]["zero_copy"];
    CHECK(zero["between"]["bytes_delivered"] == 0);
    CHECK(zero["input"]["hand_overs"] == 0);
    CHECK(zero["output"]["hand_overs"] == 0);
    CHECK(zero["flushes"] == 0);
    CHECK(zero["invalidates"] == 0);
}

TEST_CASE("without coherence not one byte moves, and each range that changes hands is flushed or "
          "invalidated once") {
    const json report = on_machine("cma-board");
    check_nothing_moved(report);
    const json &zero = report["ways"]["zero_copy"];
    const json &copy = report["ways"]["copy_in_copy_out"];
    // Of two frames one begins at the accelerator: the input is flushed for it; then the plane is
    // invalidated for the application, the features are flushed for the accelerator, and labels and
    // histogram are invalidated. In the other the plane is flushed, the features are invalidated,
    // and the rest is the application's own.
    constexpr uint64_t half = tensor_frames / 2;
    CHECK(zero["input"]["hand_overs"] == half);
    CHECK(zero["output"]["hand_overs"] == 2 * half);
    CHECK(zero["between"]["hand_overs"] == 4 * half);
    CHECK(zero["flushes"] == 3 * half);
    CHECK(zero["invalidates"] == 4 * half);
    // Copies in and out have memory of the accelerator's own for input and results.
    CHECK(copy["input"]["hand_overs"] == 0);
    CHECK(copy["output"]["hand_overs"] == 0);
    CHECK(copy["flushes"] == 2 * half);
    CHECK(copy["invalidates"] == 2 * half);
    uint64_t imports = 0;
    for (const json &transfer : transfers_of(zero, "input")) {
        if (transfer["stage"] == "normalise" && transfer["destination"] != "host") {
            CHECK(transfer["route"] == "import");
            CHECK_THAT(transfer["reason"].get<std::string>(), Contains("flush and invalidate"));
            ++imports;
        }
    }
    CHECK(imports == half);
}

TEST_CASE("slots that a device cannot import, or must not, are written to it and read from it, "
          "without a memcpy") {
    const auto [machine, memory] =
        GENERATE(std::pair("cma-board", "unaligned"), std::pair("cma-board", "unimportable"),
                 std::pair("apu", "unimportable"), std::pair("workstation", "aligned"));
    INFO(machine << " " << memory);
    const json report = on_machine(machine, {"--memory", memory});
    CHECK(report["memory"] == memory);
    const json &zero = report["ways"]["zero_copy"];
    CHECK(zero["input"]["bytes_delivered"] == frames_at_devices(zero, "normalise") * tensor_input);
    CHECK(zero["output"]["bytes_delivered"] ==
          frames_at_devices(zero, "classify") * tensor_results);
    CHECK(zero["input"]["hand_overs"] == 0);
    for (const json &transfer : transfers_of(zero, "input")) {
        if (transfer["bytes"] != 0) {
            CHECK(transfer["style"] ==
                  "write"); // each byte once, from where the application has it
        }
    }
}

TEST_CASE(
    "on every simulated machine the results are right, and the same in each run, times included") {
    const std::string machine =
        GENERATE("workstation", "dual-socket", "bounce-faster", "dsp", "cma-board", "switch-8gpu");
    INFO(machine);
    const json report = on_machine(machine);
    CHECK(report["simulated"] == true);
    CHECK(report["ratio"]["median"] > 0);
    CHECK(report["ways"]["zero_copy"]["milliseconds_median"] > 0);
    const bool same = on_machine(machine) == report;
    CHECK(same);
}

TEST_CASE("each use has its route and its reason, and both ways are printed side by side") {
    const Ran ran = run_tensor_io({"--machine", machine_file("cma-board")});
    INFO(ran.output);
    REQUIRE(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("normalise at sim:0:0") && Contains("import from host") &&
                               Contains("synchronised by flush and invalidate"));
    CHECK_THAT(ran.output, Contains("copy in at host") && Contains("memcpy") &&
                               Contains("host bounce, write from host"));
    CHECK_THAT(ran.output, Contains("calls: flush + invalidate") && Contains("18 + 24"));
    CHECK_THAT(ran.output,
               Contains("copy in, copy out takes") && Contains("neighbours; quartiles"));
}

TEST_CASE("errors have a clear message and exit code 1, or 2 for the command line") {
    using Case = std::tuple<std::vector<std::string>, int, std::string>;
    const auto [arguments, code, text] =
        GENERATE(Case{{"--machine", "/nowhere.json"}, 1, "/nowhere.json"},
                 Case{{"--devices", "nowhere:0:0"}, 1, "nowhere:0:0"},
                 Case{{"--devices", "application,,host"}, 1, "element 2 names no device"},
                 Case{{"--memory", "soft"}, 2, "soft"}, Case{{"--report", "xml"}, 2, "xml"},
                 Case{{"--ring", "0"}, 2, "--ring"}, Case{{"--frames", "none"}, 2, "--frames"});
    const Ran ran = run_tensor_io(arguments);
    INFO(ran.output);
    CHECK(ran.exit_code == code);
    CHECK_THAT(ran.output, Contains(text));
}

TEST_CASE("the application itself needs no device for the chain") {
    const json report = tensor_io_report({"--devices", "application"});
    CHECK(report["places"] == json::array({"host"}));
    CHECK(report["ways"]["copy_in_copy_out"]["input"]["bytes_delivered"] == 0);
}
