// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runner.hpp"

#include "frames.hpp"
#include "process.hpp"
#include "text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <regex>
#include <thread>
#include <utility>

namespace pi::suite {
namespace {

using nlohmann::json;

std::vector<std::string> arguments_of(const Options &options, const Case &test) {
    std::vector<std::string> arguments{"--plugin=" + options.plugin, "--device=" + test.device};
    if (!test.peer.empty()) {
        arguments.push_back("--peer=" + test.peer);
        arguments.push_back(join("--contexts=", test.one_context ? 1 : 2));
    }
    arguments.push_back("--run-test=" + test.law.id());
    arguments.push_back(join("--seed=", options.seed));
    return arguments;
}

std::string how_it_died(const Ended &ended, const std::string &unlike) {
    if (!ended.started)
        return ended.output;
    if (ended.timed_out)
        return join("hang: not done after its time", unlike);
    if (ended.signal != 0)
        return join("crash: ", signal_text(ended.signal), unlike);
    return join("ended with exit code ", ended.exit_code, unlike);
}

Verdict judge(const Ended &ended) {
    const json told = json::parse(ended.result, nullptr, false);
    if (!told.is_object())
        return {Outcome::failed, how_it_died(ended, ", without a result"), true};
    const std::string outcome = told.value("result", "");
    Verdict verdict{Outcome::failed, told.value("reason", "")};
    if (outcome == "passed")
        verdict.outcome = Outcome::passed;
    else if (outcome == "skipped")
        verdict.outcome = Outcome::skipped;
    const int right_code = verdict.outcome == Outcome::failed ? 1 : 0;
    if (ended.timed_out || ended.signal != 0 || ended.exit_code != right_code)
        verdict = {Outcome::failed,
                   how_it_died(ended, join(" at exit, after it had ", outcome,
                                           verdict.reason.empty() ? "" : ": " + verdict.reason)),
                   true};
    return verdict;
}

TestResult run_case(const Options &options, const Case &test) {
    std::vector<std::string> arguments = arguments_of(options, test);
    arguments.push_back(join("--timeout=", options.timeout));
    const Ended ended = run_self(arguments, std::chrono::seconds(options.timeout));
    const Verdict verdict = judge(ended);
    return {test, verdict, verdict.broke_off ? with_names(ended.output) : ended.output,
            ended.seconds};
}

// "opencl:0:1" is of "opencl:0".
std::string platform_of(const std::string &selector) {
    return selector.substr(0, selector.rfind(':'));
}

void add_pairs(const Law &law, const std::vector<NamedDevice> &devices, std::vector<Case> &out) {
    for (const NamedDevice &src : devices) {
        for (const NamedDevice &dst : devices) {
            if (platform_of(src.selector) == platform_of(dst.selector))
                out.push_back({law, src.selector, dst.selector, true});
            out.push_back({law, src.selector, dst.selector, false});
        }
    }
}

std::string quoted(const std::string &text) {
    if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789-_=./:,") == std::string::npos)
        return text;
    return join("'", std::regex_replace(text, std::regex("'"), "'\\''"), "'");
}

} // namespace

Discovery discover_devices(const Options &options) {
    std::vector<std::string> arguments{"--plugin=" + options.plugin, "--discover"};
    if (!options.device.empty())
        arguments.push_back("--device=" + options.device);
    const Ended ended = run_self(arguments, std::chrono::seconds(options.timeout));
    const json told = json::parse(ended.result, nullptr, false);
    Discovery found;
    if (!told.is_object()) {
        found.problem = join(how_it_died(ended, ", while its devices were listed"), "\n",
                             with_names(ended.output));
        return found;
    }
    found.name = told.value("name", "");
    found.path = told.value("path", "");
    const std::string status = told.value("status", "?");
    const std::string reason = told.value("reason", "");
    for (const json &device : told.value("devices", json::array()))
        found.devices.push_back({device.value("selector", ""), device.value("name", "")});
    if (status != "loaded")
        found.problem = status + ": " + reason;
    else if (found.devices.empty())
        found.problem = "there is no device to test" + (reason.empty() ? "" : ": " + reason);
    return found;
}

std::vector<Law> wanted_laws(const Options &options) {
    const std::regex filter(options.filter);
    std::vector<Law> laws;
    for (const Law &law : all_laws()) {
        const bool of_area =
            options.areas.empty() ||
            std::find(options.areas.begin(), options.areas.end(), law.area) != options.areas.end();
        if (of_area && std::regex_search(law.id(), filter))
            laws.push_back(law);
    }
    return laws;
}

std::vector<Case> make_cases(const std::vector<Law> &laws,
                             const std::vector<NamedDevice> &devices) {
    std::vector<Case> cases;
    for (const Law &law : laws) {
        if (law.of_pairs) {
            add_pairs(law, devices, cases);
            continue;
        }
        for (const NamedDevice &device : devices)
            cases.push_back({law, device.selector, "", true});
    }
    return cases;
}

std::vector<TestResult> run_cases(const Options &options, const std::vector<Case> &cases,
                                  const std::function<void(const TestResult &)> &done) {
    std::vector<std::optional<TestResult>> slots(cases.size());
    std::atomic<std::size_t> next{0};
    std::mutex telling;
    const auto work = [&] {
        for (std::size_t i = next++; i < cases.size(); i = next++) {
            slots[i] = run_case(options, cases[i]);
            if (options.fail_fast && slots[i]->verdict.outcome == Outcome::failed)
                next = cases.size();
            const std::scoped_lock lock(telling);
            done(*slots[i]);
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::min<std::size_t>(options.jobs, cases.size()); ++i)
        threads.emplace_back(work);
    for (std::thread &thread : threads)
        thread.join();
    std::vector<TestResult> results;
    for (std::optional<TestResult> &slot : slots) {
        if (slot)
            results.push_back(std::move(*slot));
    }
    return results;
}

std::string command_of(const Options &options, const Case &test) {
    std::string command = "pi-conformance";
    for (const std::string &argument : arguments_of(options, test)) {
        const std::size_t equals = argument.find('=');
        command += join(" ", argument.substr(0, equals), " ", quoted(argument.substr(equals + 1)));
    }
    return command;
}

} // namespace pi::suite
