// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// image_pipeline while one call of a plugin fails, for every function that it calls. It shows the
// right pictures all the same, or ends with its exit code for that and a message that names the
// function.
#include "fault_sweep.hpp"
#include "kernels.hpp"
#include "machine.hpp"
#include "made_png.hpp"
#include "picture.hpp"
#include "pipeline.hpp"
#include "places.hpp"
#include "program.hpp"
#include "reference.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <optional>
#include <random>

namespace fs = std::filesystem;

namespace {

using namespace image_pipeline;
using pi_test::Fault;

constexpr uint32_t rounds = 2;
/// Looks for the effects of a fault as a user would.
constexpr const char *layers = "validate,fault";

/// The input of the runs.
class Subject {
public:
    explicit Subject(const std::string &machine)
        : machine_(machine.empty() ? "" : MACHINES "/" + machine + ".json"),
          file_(folder_.path() / "picture.png") {
        pi_test::write_file(file_, pi_test::random_png(37, 23, 7).bytes());
        picture_.emplace(read_png(file_));
        expected_ = reference(*picture_);
    }

    /// The work of main() between the loader and its end, in this process.
    pi_test::CallCounts count_calls() const {
        setenv("PI_LAYERS", layers, 1);
        const Loader loader(machine_);
        unsetenv("PI_LAYERS");
        {
            PipelineOptions options;
            std::optional<VirtualClock> clock;
            if (!machine_.empty()) {
                clock.emplace(loader.get());
                options.virtual_time = [&] { return clock->pass_time(); };
            }
            const Work work =
                choose_places(loader.get(), "", kernel_forms(""), clock ? "sim" : nullptr);
            Results results;
            Pipeline pipeline(work, *picture_, options);
            for (uint32_t round = 0; round < rounds; ++round) {
                pipeline.run_round(round, results);
            }
            REQUIRE(first_difference(results, expected_) == "");
        }
        return pi_test::call_counts(loader.get());
    }

    /// Runs the program; returns a message if its reaction to the fault is wrong, else "". Counts
    /// runs that ended with an error.
    std::string run_with(const Fault &fault, std::atomic<unsigned> &errors) const {
        const pi_test::TemporaryFolder output;
        // An object of a failed release is not a leak of the program.
        std::vector<std::string> command{"env", std::string("PI_LAYERS=") + layers,
                                         "PI_FAULT=" + fault.text()};
        if (fault.is_release()) {
            command.emplace_back("ASAN_OPTIONS=detect_leaks=0");
        }
        command.insert(command.end(), {IMAGE_PIPELINE, file_, "--output", output.path(), "--rounds",
                                       std::to_string(rounds)});
        if (!machine_.empty()) {
            command.insert(command.end(), {"--machine", machine_});
        }
        const pi_test::Ran ran = pi_test::run(command);
        errors += ran.exit_code == 1 ? 1 : 0;
        const std::string problem = judge(fault, ran, output.path());
        return problem.empty() ? "" : fault.text() + ": " + problem + "\n" + ran.output;
    }

private:
    std::string judge(const Fault &fault, const pi_test::Ran &ran, const fs::path &output) const {
        const auto says = [&](const char *words) {
            return ran.output.find(words) != std::string::npos;
        };
        if (ran.exit_code != 0 && ran.exit_code != 1) {
            return "exit code " + std::to_string(ran.exit_code) +
                   (ran.exit_code == 124 ? ", it did not end" : "");
        }
        if (!fault.is_release() && (says("was never released") || says("are still alive"))) {
            return "it left objects";
        }
        if (ran.exit_code == 0) {
            return !says("equal the CPU reference: yes") ? "success without a right picture"
                   : !same_pictures(output)              ? "a wrong picture was called right"
                                                         : "";
        }
        if (says("equal the CPU reference: no")) {
            return "a wrong picture";
        }
        return says("image_pipeline: ") && names(fault, ran.output)
                   ? ""
                   : "no message that names the function";
    }

    /// Waiters of a host event that could not be signalled report that it was abandoned; commands
    /// after one that failed name the result that the layer signalled instead.
    static bool names(const Fault &fault, const std::string &output) {
        const bool by_event =
            fault.function == "piEventSignalHost" || !fault.what.starts_with("fail(");
        return output.find(fault.function) != std::string::npos ||
               (by_event && output.find("PI_ERROR_DEPENDENCY_FAILED") != std::string::npos);
    }

    bool same_pictures(const fs::path &output) const {
        const auto same = [&](const char *name, const std::vector<uint8_t> &pixels) {
            const Picture written = read_png(output / name);
            const auto bytes = written.memory.bytes();
            return std::equal(pixels.begin(), pixels.end(), bytes.begin(), bytes.end());
        };
        return same("blurred.png", expected_.blurred) && same("overlay.png", expected_.overlay) &&
               same("histogram.png", expected_.chart);
    }

    pi_test::TemporaryFolder folder_;
    std::string machine_;
    fs::path file_;
    std::optional<Picture> picture_;
    Results expected_;
};

bool moves_bytes(const std::string &function) {
    return function.starts_with("piEnqueueMemBuffer") && !function.ends_with("Map");
}

/// Each function's calls, or some of them; with all faults of commands, or only failures.
std::vector<Fault> faults_of(const pi_test::CallCounts &counts, bool all) {
    std::vector<Fault> faults;
    for (const auto &[function, count] : counts) {
        if (count == 0) {
            continue;
        }
        // A failed query must not count as an unsupported feature.
        const bool every = all || function == "piDeviceGetInfo";
        for (const uint64_t call : pi_test::calls_to_fail(count, every)) {
            faults.push_back({function, call});
            if (all && function.starts_with("piEnqueue")) {
                faults.push_back({function, call, "fail_event(BACKEND)"});
            }
            if (all && moves_bytes(function)) {
                faults.push_back({function, call, "short"});
            }
            if (all && !faults.back().is_release()) {
                faults.push_back({function, call, "fail(OUT_OF_DEVICE_MEMORY)"});
                faults.push_back({function, call, "fail(DEVICE_LOST)"});
            }
        }
    }
    return faults;
}

void sweep(const std::string &machine, bool all) {
    INFO((machine.empty() ? "the host plugin" : machine));
    const Subject subject(machine);
    const std::vector<Fault> faults = faults_of(subject.count_calls(), all);
    std::vector<std::string> problems(faults.size());
    std::atomic<unsigned> errors{0};
    pi_test::in_parallel(faults.size(),
                         [&](size_t i) { problems[i] = subject.run_with(faults[i], errors); });
    for (const std::string &problem : problems) {
        CHECK(problem == "");
    }
    CHECK(faults.size() > 100);
    CHECK(errors > faults.size() / 3); // the faults were met
}

} // namespace

TEST_CASE("image_pipeline shows right pictures or names the function while one call fails") {
    sweep(GENERATE("", "cma-board", "workstation"), false);
}

TEST_CASE("image_pipeline shows right pictures or names the function while any call fails",
          "[.night]") {
    sweep(GENERATE("", "cma-board", "workstation", "bounce-faster", "apu"), true);
}
