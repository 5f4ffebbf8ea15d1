// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs on random machines, compared with a model: each byte has the value that an array
// of bytes would have, and no byte moves unnecessarily. A failing program is shrunk.
#include "program.hpp"
#include "round.hpp"
#include "runs.hpp"
#include "skip.hpp"
#include "soak.hpp"
#include "temporary.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <iostream>
#include <random>

namespace {

using namespace random_programs;
using namespace pi::runtime;

/// Rounds without --soak. Sanitizers take many times as long.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int rounds = 1;
#else
constexpr int rounds = 4;
#endif

/// Runs rounds with the seeds from --rng-seed on; with --soak, continues until its time has passed.
void run_law(const RunProgram &program, int count = rounds) {
    const auto end = std::chrono::steady_clock::now() + pi_test::soak_time();
    for (int round = 0; round < count || std::chrono::steady_clock::now() < end; ++round) {
        const unsigned seed = Catch::rngSeed() + round;
        std::cerr << "--rng-seed " << seed << std::endl; // the only trace of a hang
        const Outcome outcome = run_round(program, seed, shrink_time, [&](const std::string &text) {
            std::cerr << "fails; shrinking it: " << text.substr(text.rfind('\n') + 1) << std::endl;
        });
        if (!outcome.holds) {
            FAIL(outcome.text);
        }
    }
    SUCCEED();
}

RunProgram alone(Trouble trouble, const WrapTransport &wrap = {}) {
    return [=](Draw &shape, const std::vector<Step> &steps, std::string &text) {
        run_alone(shape, steps, trouble, wrap, text);
    };
}

RunProgram threads(const std::vector<Trouble> &troubles) {
    return [=](Draw &shape, const std::vector<Step> &steps, std::string &text) {
        run_threads(shape, steps, shape.one_of(troubles), text);
    };
}

RunProgram on_driver(const std::string &plugin) {
    return [=](Draw &shape, const std::vector<Step> &steps, std::string &text) {
        run_on_driver(plugin, shape, steps, text);
    };
}

/// An injected error: one byte of the N-th copy to the host's memory is wrong.
class OneWrongByte final : public Transport {
public:
    OneWrongByte(std::shared_ptr<Transport> inner, int copy)
        : inner_(std::move(inner)), copy_(copy) {}
    void start(const TransferRequest &request, TransferDone done) override {
        const MemoryEnd &to = request.destination;
        if (request.coherence_sync || to.mem != nullptr || to.host == nullptr ||
            ++copies_ != copy_) {
            inner_->start(request, std::move(done));
            return;
        }
        std::byte *const last =
            static_cast<std::byte *>(to.host) + request.ranges.ranges().back().end - 1;
        inner_->start(request, [last, done](pi_result result, const std::string &text) {
            *last ^= std::byte{1};
            done(result, text);
        });
    }

private:
    const std::shared_ptr<Transport> inner_;
    const int copy_;
    std::atomic<int> copies_{0};
};

WrapTransport one_wrong_byte(int copy) {
    return [copy](std::shared_ptr<Transport> inner) -> std::shared_ptr<Transport> {
        return std::make_shared<OneWrongByte>(std::move(inner), copy);
    };
}

/// The case in an outcome's text, or "".
std::string case_of(const Outcome &outcome) {
    const std::string line = "-----\n";
    const std::size_t begin = outcome.text.find(line);
    const std::size_t end = outcome.text.find("-----", begin + line.size());
    return begin == std::string::npos
               ? ""
               : outcome.text.substr(begin + line.size(), end - begin - line.size());
}

/// It passes where no byte is wrong, and says which bytes must be there.
void require_case(const std::string &text) {
    const pi_test::TextFile file(text);
    const pi_test::Ran ran = pi_test::run({PI_TEST_RUN, file.path()});
    INFO(ran.output);
    REQUIRE(ran.exit_code == 0);
    REQUIRE_THAT(text, Catch::Contains(" read <") || Catch::Contains(" reads=<"));
}

} // namespace

TEST_CASE("of any program, each byte is what one array of bytes holds, and just the bytes that "
          "must move do, over the cheapest ways",
          "[random]") {
    run_law(alone(Trouble::none));
}

TEST_CASE(
    "programs on several threads, on bytes of one storage too, have the bytes that they wrote",
    "[random]") {
    run_law(threads({Trouble::none, Trouble::pressure}));
}

TEST_CASE("programs on several threads, on a machine with faults, lose no byte, but those that are "
          "reported lost",
          "[random]") {
    run_law(threads({Trouble::faults, Trouble::pressure_and_faults}), 1);
}

TEST_CASE("programs on machines with too little memory lose no byte", "[random]") {
    run_law(alone(Trouble::pressure));
}

TEST_CASE("programs on machines with faults lose no byte, but those that are reported lost",
          "[random]") {
    run_law(alone(Trouble::faults));
}

TEST_CASE("programs on machines with faults and too little memory lose no byte, but those that are "
          "reported lost",
          "[random]") {
    run_law(alone(Trouble::pressure_and_faults));
}

#ifdef PI_TEST_OPENCL_PLUGIN
TEST_CASE("programs on real OpenCL devices have the bytes that they wrote", "[.][opencl]") {
    run_law(on_driver(PI_TEST_OPENCL_PLUGIN), 1);
}
#endif

#ifdef PI_TEST_CUDA_PLUGIN
TEST_CASE("programs on CUDA devices have the bytes that they wrote", "[.][cuda]") {
    run_law(on_driver(PI_TEST_CUDA_PLUGIN), 1);
}
#endif

#ifdef PI_TEST_LEVEL_ZERO_PLUGIN
TEST_CASE("programs on Level Zero devices have the bytes that they wrote", "[.][level_zero]") {
    run_law(on_driver(PI_TEST_LEVEL_ZERO_PLUGIN), 1);
}
#endif

TEST_CASE("programs on devices whose links lose pages have the bytes that they wrote",
          "[.][lossy]") {
    run_law(on_driver(PI_TEST_SIM_PLUGIN), 2);
}

#ifdef PI_TEST_BATCHING_HOST_PLUGIN
TEST_CASE(
    "programs on devices that keep their commands until a flush have the bytes that they wrote",
    "[.][batching]") {
    run_law(on_driver(
        GENERATE(as<std::string>{}, PI_TEST_BATCHING_HOST_PLUGIN, PI_TEST_BATCHING_SIM_PLUGIN)));
}
#endif

TEST_CASE("one wrong byte of one copy is found, with its seed and a program of a few steps",
          "[random]") {
#if defined(__SANITIZE_THREAD__)
    return pi_test::skip("shrinking takes a minute and a half under the thread sanitizer");
#endif
    // A seed whose programs shrink quickly.
    const unsigned seed = 7;
    // Shrinks without a time limit: the test checks the shortest program.
    const Outcome outcome =
        run_round(alone(Trouble::none, one_wrong_byte(2)), seed, std::chrono::hours(24));
    INFO(outcome.text);
    CHECK_FALSE(outcome.holds);
    CHECK(outcome.steps > 0);
    CHECK(outcome.steps <= 6);
    CHECK_THAT(outcome.text, Catch::StartsWith("--rng-seed " + std::to_string(seed) + ";"));
    require_case(case_of(outcome));
}

TEST_CASE("a program that fails is printed as a case, which has the bytes of each step",
          "[random]") {
    int cases = 0;
    for (unsigned seed = 1; seed <= 6; ++seed) {
        const Outcome outcome = run_round(alone(Trouble::none, one_wrong_byte(25)), seed,
                                          std::chrono::seconds(0)); // not shrunk
        INFO(outcome.text.substr(0, 1000));
        if (const std::string text = case_of(outcome); !text.empty()) {
            require_case(text);
            ++cases;
        }
    }
    CHECK(cases >= 2); // others have several contexts, or copy little to the host
}
