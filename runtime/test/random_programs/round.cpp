// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "round.hpp"

#include <pi/runtime/error.hpp>

#include <rapidcheck.h>

#include <optional>
#include <sstream>

namespace rc {
// All sizes from the first program on: only the length grows.
template <class Numbers>
Gen<Numbers> arbitrary_numbers() {
    return gen::build<Numbers>(
        gen::set(&Numbers::numbers,
                 gen::resize(kNominalSize, gen::arbitrary<decltype(Numbers::numbers)>())));
}
template <>
struct Arbitrary<random_programs::Step> {
    static Gen<random_programs::Step> arbitrary() {
        return arbitrary_numbers<random_programs::Step>();
    }
};
template <>
struct Arbitrary<random_programs::Shape> {
    static Gen<random_programs::Shape> arbitrary() {
        return arbitrary_numbers<random_programs::Shape>();
    }
};
} // namespace rc

namespace random_programs {
namespace {

using Steps = std::vector<Step>;

/// Number of programs of random length up to the longest; one more has that length.
constexpr int programs = 9;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int longest = 1000; // each step takes many times as long
#else
constexpr int longest = 3000;
#endif

/// Thrown when shrinking has taken long enough.
struct ShortEnough {};

class Silent final : public rc::detail::TestListener {
public:
    using Clock = std::chrono::steady_clock;
    std::optional<Clock::time_point> shrinking_until;

private:
    void onTestCaseFinished(const rc::detail::CaseDescription &) override {}
    void onShrinkTried(const rc::detail::CaseDescription &, bool) override {
        if (Clock::now() > *shrinking_until) {
            throw ShortEnough{};
        }
    }
    void onTestFinished(const rc::detail::TestMetadata &, const rc::detail::TestResult &) override {
    }
};

class Round {
public:
    Round(const RunProgram &program, unsigned seed, std::chrono::seconds time,
          const std::function<void(const std::string &)> &on_break)
        : program_(program), seed_(seed), time_(time), on_break_(on_break) {}

    /// Runs programs whose steps `generator` makes.
    Outcome run(int count, const rc::Gen<Steps> &generator) {
        rc::detail::TestParams params;
        params.seed = seed_;
        params.maxSuccess = count;
        params.maxSize = longest;
        const auto run_one = [&] {
            const Shape shape = *rc::gen::arbitrary<Shape>();
            run_program(shape, *generator);
        };
        Outcome outcome;
        std::ostringstream text;
        try {
            const auto result =
                rc::detail::checkTestable(run_one, rc::detail::TestMetadata{}, params, silent_,
                                          std::unordered_map<std::string, rc::detail::Reproduce>{});
            outcome.holds = result.is<rc::detail::SuccessResult>();
            rc::detail::printResultMessage(result, text);
        } catch (const ShortEnough &) {
            outcome.holds = false; // the shortest one until then is reported
        }
        if (!outcome.holds) {
            outcome.steps = steps_;
            outcome.text = "--rng-seed " + std::to_string(seed_) +
                           "; the shortest failing program found, " +
                           (shortest_.empty() ? text.str() : shortest_);
        }
        return outcome;
    }

private:
    void run_program(const Shape &first, const Steps &steps) {
        std::string text;
        try {
            Draw shape(first.numbers);
            program_(shape, steps, text);
        } catch (const Failure &failure) {
            fail(steps, text + "\n" + failure.text);
        } catch (const pi::runtime::Error &error) {
            fail(steps, text + "\n" + error.what());
        }
    }

    /// A failing program is shrunk: the last failure is that of the shortest program.
    void fail(const Steps &steps, const std::string &text) {
        shortest_ = text;
        steps_ = steps.size();
        if (!silent_.shrinking_until) {
            if (on_break_) {
                on_break_(text);
            }
            silent_.shrinking_until = Silent::Clock::now() + time_;
        }
        RC_FAIL();
    }

    const RunProgram &program_;
    const unsigned seed_;
    const std::chrono::seconds time_;
    const std::function<void(const std::string &)> &on_break_;
    Silent silent_;
    std::string shortest_;
    std::size_t steps_ = 0;
};

/// A generator of a fixed length does not shrink the length, so this function does.
rc::Gen<Steps> of_greatest_length() {
    return rc::gen::shrink(
        rc::gen::noShrink(rc::gen::container<Steps>(longest, rc::gen::arbitrary<Step>())),
        [](const Steps &steps) { return rc::shrink::removeChunks(steps); });
}

} // namespace

Outcome run_round(const RunProgram &program, unsigned seed, std::chrono::seconds time,
                  const std::function<void(const std::string &)> &on_break) {
    Round round(program, seed, time, on_break);
    const Outcome outcome = round.run(programs, rc::gen::arbitrary<Steps>());
    return outcome.holds ? round.run(1, of_greatest_length()) : outcome;
}

} // namespace random_programs
