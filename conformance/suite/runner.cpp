// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runner.hpp"

#include "config.hpp"
#include "frames.hpp"
#include "process.hpp"
#include "text.hpp"

#include <pi/describe/printable.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

namespace pi::suite {
namespace {

using nlohmann::json;

std::vector<std::string> arguments_of(const Options &options, const TestCase &test_case,
                                      uint64_t seed) {
    std::vector<std::string> arguments{"--plugin=" + options.plugin,
                                       "--device=" + test_case.device};
    if (!test_case.peer.empty()) {
        arguments.push_back("--peer=" + test_case.peer);
        arguments.push_back(join("--contexts=", test_case.one_context ? 1 : 2));
    }
    arguments.push_back("--run-test=" + test_case.test.id());
    arguments.push_back(join("--seed=", seed));
    return arguments;
}

// Removes the lines that begin with the mark from a program's output; returns the rest of the last
// one.
std::string take_marked(std::string &output, std::string_view mark) {
    std::string rest;
    std::string marked;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(mark))
            marked = line.substr(mark.size());
        else
            rest += line + "\n";
    }
    output = std::move(rest);
    return marked;
}

// ", ThreadSanitizer: data race acme.c:31 in submit", or "": what a sanitizer reported last.
std::string sanitizer_summary(const std::string &output) {
    constexpr std::string_view mark = "SUMMARY: ";
    const std::size_t at = output.rfind(mark);
    if (at == std::string::npos || output.find("Sanitizer: ", at) == std::string::npos)
        return "";
    return ", " + first_line(output.substr(at + mark.size()));
}

std::string how_it_died(const Options &options, Ended &ended, const std::string &unlike) {
    if (!ended.started)
        return ended.output;
    if (ended.timed_out) {
        const std::string function = take_marked(ended.output, hang_mark);
        return join(
            "hang: ", function.empty() ? join("not done after ", options.timeout, " s") : function,
            " (--timeout ", options.timeout, ")", unlike);
    }
    if (ended.signal != 0)
        return join("crash: ", signal_text(ended.signal), sanitizer_summary(ended.output), unlike);
    return join("ended with exit code ", ended.exit_code, sanitizer_summary(ended.output), unlike);
}

// The result that the test's process wrote, if it is valid: the plugin in it can write there, too.
std::optional<Verdict> verdict_of(const std::string &result) {
    try {
        const json answer = json::parse(result);
        const std::string outcome = answer.at("result");
        const std::string reason = answer.at("reason");
        for (const Outcome one : {Outcome::passed, Outcome::failed, Outcome::skipped}) {
            if (outcome == outcome_name(one))
                return Verdict{one, reason};
        }
    } catch (const json::exception &) {
        // It is invalid.
    }
    return std::nullopt;
}

Verdict judge(const Options &options, Ended &ended) {
    const std::string broken = take_marked(ended.output, broken_mark);
    const std::optional<Verdict> written = verdict_of(ended.result);
    if (!written)
        return {Outcome::failed,
                how_it_died(
                    options, ended,
                    join(ended.result.empty() ? ", without a result" : ", with an invalid result",
                         broken.empty() ? "" : ", after this did not hold: ", broken)),
                true};
    Verdict verdict = *written;
    verdict.broke_off = verdict.reason.starts_with(hang_mark);
    const char *outcome = outcome_name(verdict.outcome);
    const int right_code = verdict.outcome == Outcome::failed ? 1 : 0;
    if (ended.timed_out || ended.signal != 0 || ended.exit_code != right_code)
        verdict = {Outcome::failed,
                   how_it_died(options, ended,
                               join(" at exit, after it had ", outcome,
                                    verdict.reason.empty() ? "" : ": " + verdict.reason)),
                   true};
    return verdict;
}

/// Nothing if it was stopped.
std::optional<TestResult> run_once(const Options &options, const TestCase &test_case,
                                   unsigned repetition, const std::stop_token &stop) {
    const uint64_t seed = options.seed + (repetition - 1);
    std::vector<std::string> arguments = arguments_of(options, test_case, seed);
    arguments.push_back(join("--timeout=", options.timeout));
    Ended ended;
    Verdict verdict;
    try {
        ended = run_self(arguments, std::chrono::seconds(options.timeout), stop);
        if (ended.stopped)
            return std::nullopt;
        verdict = judge(options, ended);
        if (verdict.broke_off)
            ended.output = with_names(ended.output);
    } catch (const std::exception &exception) {
        // Other tests still run.
        verdict = {Outcome::failed, join("it could not be run: ", exception.what()), true};
    }
    // A plugin's texts are shown on terminals and in pages.
    verdict.reason = printable(verdict.reason);
    return TestResult{test_case,
                      verdict,
                      printable(ended.output),
                      ended.seconds,
                      repetition,
                      seed,
                      verdict.outcome == Outcome::failed ? 1u : 0u,
                      ""};
}

// The smaller one is reported.
int rank(Outcome outcome) {
    return outcome == Outcome::failed ? 0 : outcome == Outcome::skipped ? 2 : 1;
}

// Whether this repetition of a case is reported rather than the other.
bool is_reported_before(const TestResult &one, const TestResult &other) {
    return std::make_tuple(rank(one.verdict.outcome), one.repetition) <
           std::make_tuple(rank(other.verdict.outcome), other.repetition);
}

// Adds a repetition to those before, in any order. Stores the output of one only, as there may be
// many.
void merge(TestResult &all, TestResult one) {
    const double seconds = all.seconds + one.seconds;
    const unsigned failures = all.failures + one.failures;
    if (is_reported_before(one, all))
        all = std::move(one);
    all.seconds = seconds;
    all.failures = failures;
}

// Adds the repetition to the reason.
void add_repetition(const Options &options, TestResult &result) {
    if (options.repeat == 1 || result.failures == 0)
        return;
    result.verdict.reason =
        join("repetition ", result.repetition, " of ", options.repeat, ", seed ", result.seed,
             result.failures > 1 ? join(", the first of ", result.failures, " that failed") : "",
             ": ", result.verdict.reason);
}

// All repetitions of all cases, in order, which threads run.
class Schedule {
public:
    Schedule(const Options &options, const Expectations &expectations,
             const std::vector<TestCase> &cases, RunListener &listener, std::stop_token stop)
        : stop_(std::move(stop)), options_(options), expectations_(expectations), cases_(cases),
          listener_(listener), slots_(cases.size()) {}

    // The loop of each thread.
    void work() {
        std::unique_lock lock(mutex_);
        while (next_ < cases_.size() * options_.repeat && !stop_.stop_requested()) {
            const std::size_t i = next_++;
            const TestCase &test_case = cases_[i / options_.repeat];
            const auto repetition = static_cast<unsigned>(i % options_.repeat) + 1;
            if (repetition == 1)
                listener_.started(test_case);
            lock.unlock();
            std::optional<TestResult> result = run_once(options_, test_case, repetition, stop_);
            lock.lock();
            if (result)
                give_back(slots_[i / options_.repeat], std::move(*result));
        }
    }

    // After all threads; includes cases that were cut short after their own failure.
    std::vector<TestResult> results() {
        std::vector<TestResult> results;
        for (Slot &slot : slots_) {
            if (!slot.finished && slot.failed)
                finish(slot);
            if (slot.finished)
                results.push_back(std::move(*slot.result));
        }
        return results;
    }

private:
    struct Slot {
        std::optional<TestResult> result; // of the repetitions that are done
        unsigned repetitions = 0;
        bool failed = false;
        bool finished = false;
    };

    void finish(Slot &slot) {
        TestResult &result = *slot.result;
        add_repetition(options_, result);
        expectations_.judge(result);
        // The output of a passed test is not reported.
        if (result.verdict.outcome == Outcome::passed || result.verdict.outcome == Outcome::skipped)
            std::string().swap(result.output);
        slot.finished = true;
        listener_.ended(result);
    }

    void give_back(Slot &slot, TestResult result) {
        // Unexpected passes are known only after the last repetition.
        slot.failed |= result.verdict.outcome == Outcome::failed;
        const bool unexpected =
            result.verdict.outcome == Outcome::failed && !expectations_.may_fail(result.test_case);
        if (slot.result)
            merge(*slot.result, std::move(result));
        else
            slot.result = std::move(result);
        bool stop = unexpected;
        if (++slot.repetitions == options_.repeat) {
            finish(slot);
            stop |= slot.result->verdict.outcome == Outcome::failed;
        }
        if (options_.fail_fast && stop)
            next_ = cases_.size() * options_.repeat;
    }

    const std::stop_token stop_;
    const Options &options_;
    const Expectations &expectations_;
    const std::vector<TestCase> &cases_;
    RunListener &listener_;
    std::mutex mutex_; // of all that follow
    std::vector<Slot> slots_;
    std::size_t next_ = 0;
};

// "opencl:0:1" is of "opencl:0".
std::string platform_of(const std::string &selector) {
    return selector.substr(0, selector.rfind(':'));
}

void add_pairs(const ConformanceTest &test, const std::vector<NamedDevice> &devices,
               std::vector<TestCase> &out) {
    for (const NamedDevice &src : devices) {
        for (const NamedDevice &dst : devices) {
            if (platform_of(src.selector) == platform_of(dst.selector))
                out.push_back({test, src.selector, dst.selector, true});
            out.push_back({test, src.selector, dst.selector, false});
        }
    }
}

std::string quoted(const std::string &text) {
    if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789-_=./:,") == std::string::npos)
        return text;
    return join("'", std::regex_replace(text, std::regex("'"), "'\\''"), "'");
}

// The devices that the child process listed, if its answer is valid.
std::optional<Discovery> discovery_of(const std::string &result) {
    try {
        const json answer = json::parse(result);
        Discovery found;
        found.name = printable_line(answer.value("name", ""));
        found.path = printable_line(answer.value("path", ""));
        const std::string status = answer.value("status", "?");
        const std::string reason = printable(answer.value("reason", ""));
        for (const json &device : answer.value("devices", json::array()))
            found.devices.push_back({printable_line(device.value("selector", "")),
                                     printable_line(device.value("name", ""))});
        for (const std::string &sentence : answer.value("missing", std::vector<std::string>()))
            found.missing.push_back(printable(sentence));
        if (status != "loaded")
            found.problem = status + ": " + reason;
        else if (found.devices.empty())
            found.problem = "there is no device to test" + (reason.empty() ? "" : ": " + reason);
        return found;
    } catch (const json::exception &) {
        return std::nullopt;
    }
}

} // namespace

Discovery discover_devices(const Options &options, const std::stop_token &stop) {
    std::vector<std::string> arguments{"--plugin=" + options.plugin, "--discover"};
    if (!options.device.empty())
        arguments.push_back("--device=" + options.device);
    for (const std::string &selector : options.required)
        arguments.push_back("--require=" + selector);
    Ended ended = run_self(arguments, std::chrono::seconds(options.timeout), stop);
    if (const std::optional<Discovery> found = discovery_of(ended.result))
        return *found;
    Discovery nothing;
    nothing.problem = join(how_it_died(options, ended, ", while its devices were listed"), "\n",
                           printable(with_names(ended.output)));
    return nothing;
}

std::vector<ConformanceTest> wanted_tests(const Options &options) {
    const std::regex filter(options.filter);
    std::vector<ConformanceTest> tests;
    for (const ConformanceTest &test : all_tests()) {
        const bool of_area =
            options.areas.empty() ||
            std::find(options.areas.begin(), options.areas.end(), test.area) != options.areas.end();
        if (of_area && std::regex_search(test.id(), filter))
            tests.push_back(test);
    }
    return tests;
}

std::vector<TestCase> make_cases(const std::vector<ConformanceTest> &tests,
                                 const std::vector<NamedDevice> &devices) {
    std::vector<TestCase> cases;
    for (const ConformanceTest &test : tests) {
        if (test.of_pairs) {
            add_pairs(test, devices, cases);
            continue;
        }
        for (const NamedDevice &device : devices)
            cases.push_back({test, device.selector, "", true});
    }
    return cases;
}

std::vector<TestResult> run_cases(const Options &options, const Expectations &expectations,
                                  const std::vector<TestCase> &cases, RunListener &listener,
                                  const std::stop_token &stop) {
    Schedule schedule(options, expectations, cases, listener, stop);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::min<std::size_t>(options.jobs, cases.size() * options.repeat);
         ++i)
        threads.emplace_back([&] { schedule.work(); });
    for (std::thread &thread : threads)
        thread.join();
    return schedule.results();
}

std::string command_of(const Options &options, const TestResult &result) {
    std::string command;
    for (const auto &[name, value] : preloaded())
        command += join(name, "=", quoted(value), " ");
    command += "pi-conformance";
    for (const std::string &argument : arguments_of(options, result.test_case, result.seed)) {
        const std::size_t equals = argument.find('=');
        command += join(" ", argument.substr(0, equals), " ", quoted(argument.substr(equals + 1)));
    }
    return command;
}

} // namespace pi::suite
