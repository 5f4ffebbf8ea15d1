// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "child.hpp"

#include "../support/open_calls.hpp"
#include "children.hpp"
#include "crash.hpp"
#include "driver_call.hpp"
#include "fixture.hpp"
#include "leftovers.hpp"
#include "process.hpp"
#include "verdict.hpp"

#include <pi/describe/printable.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace pi::suite {
namespace {

using nlohmann::json;

// The time that the loader waits for objects before it parks the plugin: commands may still run
// after a failure.
constexpr uint32_t teardown_milliseconds = 5000;

// The prefix of messages of the loader about a plugin. Messages of the plugin begin with its own
// name, which has no blank.
constexpr std::string_view of_a_plugin = "plugin ";
// Messages about leaked objects: of the loader, and of the layers that know each object.
constexpr std::string_view of_leaks[] = {" of its objects are still alive", " was never released (",
                                         " was never freed (", " more objects were never released"};
// The beginning and the possible ends of a message about a function that has not returned yet.
constexpr std::string_view of_stalls = "still waiting for ";
constexpr const char *stalling[] = {"piPluginMain", "piPlatformsGet", "piDevicesGet", "teardown"};
constexpr uint32_t stall_warning_milliseconds = 1000;
// Messages about an exception of the teardown.
constexpr std::string_view of_teardown = ": teardown threw an exception";

// Warnings of the loader and the plugin, printed with a failure. Some warnings of the loader are
// failures.
class Log {
public:
    static void PI_CALL write(uint32_t, const char *message, void *user_data) {
        auto &log = *static_cast<Log *>(user_data);
        const std::string_view text = message;
        const auto contains = [&](std::string_view part) {
            return text.starts_with(of_a_plugin) && text.find(part) != std::string_view::npos;
        };
        const std::scoped_lock lock(log.mutex_);
        if (std::any_of(std::begin(of_leaks), std::end(of_leaks), contains))
            log.leak_ = text;
        if (contains(of_teardown))
            log.teardown_ = text;
        if (text.starts_with(of_stalls)) {
            for (const char *function : stalling)
                if (text.ends_with(function))
                    pi_test::stalled_function = function;
        } else if (contains(" has returned, after ")) {
            pi_test::stalled_function = nullptr;
        }
        std::cerr << "log: " << message << std::endl;
    }
    /// The last message about leaked objects, or "".
    std::string leak() const {
        const std::scoped_lock lock(mutex_);
        return leak_;
    }
    /// The error of the plugin's teardown, or "".
    std::string teardown() const {
        const std::scoped_lock lock(mutex_);
        return teardown_;
    }

private:
    mutable std::mutex mutex_;
    std::string leak_;
    std::string teardown_;
};

pi_loader make_loader(const Options &options, Log &log) {
    const char *plugin = options.plugin.c_str();
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = &plugin;
    desc.plugin_count = 1;
    desc.log = &Log::write;
    desc.log_user_data = &log;
    desc.log_level = PI_LOG_WARNING;
    desc.teardown_timeout = teardown_milliseconds;
    desc.stall_warning_delay = stall_warning_milliseconds;
    pi_loader loader = nullptr;
    require_success(piLoaderCreate(&desc, &loader), "piLoaderCreate");
    return loader;
}

std::string selector_of(pi_loader loader, pi_device device) {
    uint64_t size = 0;
    require_success(piLoaderGetDeviceSelector(loader, device, 0, nullptr, &size),
                    "piLoaderGetDeviceSelector");
    std::string text(size, '\0');
    require_success(piLoaderGetDeviceSelector(loader, device, size, text.data(), nullptr),
                    "piLoaderGetDeviceSelector");
    text.resize(text.find('\0'));
    return text;
}

// For messages only: a device whose name cannot be read is still tested.
std::string name_of(pi_device device) {
    char name[256] = "";
    const pi_result result =
        piDeviceGetInfo(device, PI_DEVICE_INFO_NAME, sizeof name, name, nullptr);
    name[sizeof name - 1] = '\0';
    return result == PI_SUCCESS ? name : "?";
}

std::vector<pi_device> select(pi_loader loader, const std::string &selector) {
    uint32_t count = 0;
    require_success(piLoaderSelectDevices(loader, selector.empty() ? "*" : selector.c_str(), 0,
                                          nullptr, &count),
                    "selecting devices");
    std::vector<pi_device> devices(count);
    require_success(piLoaderSelectDevices(loader, selector.empty() ? "*" : selector.c_str(), count,
                                          devices.data(), &count),
                    "selecting devices");
    devices.resize(
        std::min<std::size_t>(count, devices.size())); // the plugin may have failed since
    return devices;
}

void write_result(int fd, const json &result) {
    const std::string text = result.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t written = write(fd, text.data() + done, text.size() - done);
        if (written <= 0)
            return;
        done += static_cast<std::size_t>(written);
    }
}

void prepare_process(const Options &options) {
    install_crash_handler();
    adopt_orphans();
    if (options.result_fd < 0)
        return;
    fcntl(options.result_fd, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
}

std::vector<std::string> elements_of(const std::string &selector) {
    std::vector<std::string> elements;
    std::istringstream list(selector);
    for (std::string element; std::getline(list, element, ',');)
        elements.push_back(element);
    return elements;
}

// Why no device of this element of a selector is tested, or "".
std::string why_missing(const Options &options, pi_loader loader, const std::string &element,
                        const std::vector<pi_device> &tested) {
    uint32_t count = 0;
    // The text lists the devices that exist.
    if (piLoaderSelectDevices(loader, element.c_str(), 0, nullptr, &count) != PI_SUCCESS)
        return last_error_text();
    const std::vector<pi_device> wanted = select(loader, element);
    const auto is_tested = [&](pi_device device) {
        return std::find(tested.begin(), tested.end(), device) != tested.end();
    };
    if (std::any_of(wanted.begin(), wanted.end(), is_tested))
        return "";
    std::string names;
    for (const pi_device device : tested)
        names += (names.empty() ? "" : ", ") + selector_of(loader, device);
    return join("it is there, but not tested, as --device ", options.device, " has only ",
                names.empty() ? "none" : names);
}

// A sentence for each required device that is not tested.
std::vector<std::string> missing_devices(const Options &options, pi_loader loader,
                                         const std::vector<pi_device> &tested) {
    std::vector<std::string> sentences;
    for (const std::string &selector : options.required) {
        std::vector<std::string> elements = elements_of(selector);
        if (elements.empty())
            elements.emplace_back(); // the loader refuses it with a reason
        for (const std::string &element : elements) {
            const std::string why = why_missing(options, loader, element, tested);
            if (!why.empty())
                sentences.push_back(join("--require ", element, ": ", why));
        }
    }
    return sentences;
}

json describe_plugin(const Options &options, pi_loader loader) {
    pi_plugin_report report{};
    uint32_t count = 0;
    require_success(piLoaderGetReports(loader, 1, &report, &count), "piLoaderGetReports");
    require(count >= 1, "the loader found no plugin \"", options.plugin, "\"");
    constexpr const char *names[] = {"?", "loaded", "unavailable", "refused", "shadowed"};
    json answer{{"status", names[report.status <= PI_PLUGIN_SHADOWED ? report.status : 0]},
                {"name", report.name},
                {"path", report.path},
                {"reason", report.reason},
                {"devices", json::array()}};
    if (report.plugin == nullptr)
        return answer;
    // Asked directly, as other tests check how the plugin answers the loader.
    uint32_t platforms = 0;
    if (piPlatformsGet(report.plugin, 0, nullptr, &platforms) != PI_SUCCESS) {
        answer["reason"] = last_error();
        return answer;
    }
    answer["status"] = names[PI_PLUGIN_LOADED];
    answer["reason"] = "";
    std::vector<pi_device> devices;
    try {
        devices = select(loader, options.device);
    } catch (const Failure &failure) {
        // A plugin may have a driver and no device.
        answer["reason"] = failure.text;
    }
    for (const pi_device device : devices)
        answer["devices"].push_back(
            {{"selector", selector_of(loader, device)}, {"name", name_of(device)}});
    answer["missing"] = missing_devices(options, loader, devices);
    return answer;
}

pi_device select_one(pi_loader loader, const std::string &selector) {
    const std::vector<pi_device> devices = select(loader, selector);
    require(!devices.empty(), "the selector \"", selector, "\" names no device");
    return devices[0];
}

// A seed for each test, which does not depend on the other tests that run.
uint64_t seed_of(const Options &options) {
    uint64_t hash = 14695981039346656037u;
    for (const char c : options.run_test + options.device + options.peer)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return hash ^ options.seed;
}

void run_body(const Options &options, const ConformanceTest &test, pi_loader loader,
              Callbacks &callbacks) {
    Setup setup;
    setup.loader = loader;
    require_success(piPluginsGet(loader, 1, &setup.plugin, nullptr), "piPluginsGet");
    require(setup.plugin != nullptr, "the loader has no plugin \"", options.plugin, "\"");
    setup.device = select_one(loader, options.device);
    if (!options.peer.empty())
        setup.peer = select_one(loader, options.peer);
    else if (test.of_pairs)
        setup.peer = setup.device;
    setup.one_context = options.contexts == 1;
    setup.callbacks = &callbacks;
    setup.seed = seed_of(options);
    // Less than the runner's timeout, so that the test can report what it waited for.
    setup.patience = std::chrono::seconds(std::max(1u, std::min(60u, options.timeout / 3)));
    Fixture fixture(setup);
    test.function(fixture);
}

Verdict run_test(const Options &options, const ConformanceTest &test) {
    Verdict verdict{Outcome::passed, ""};
    // Both outlive the loader; leaked with it if its objects are.
    auto log = std::make_unique<Log>();
    auto callbacks = std::make_unique<Callbacks>();
    const pi_loader loader = make_loader(options, *log);
    try {
        run_body(options, test, loader, *callbacks);
    } catch (const Failure &failure) {
        verdict = {Outcome::failed, failure.text};
    } catch (const Skip &reason) {
        verdict = {Outcome::skipped, reason.reason};
    } catch (const std::exception &exception) {
        verdict = {Outcome::failed, join("an exception: ", exception.what())};
    }
    const pi_result released = piLoaderRelease(loader);
    if (!log->leak().empty()) {
        const std::string leak = "leak: " + log->leak();
        // A command that is not complete keeps its objects.
        if (verdict.outcome == Outcome::failed && !verdict.reason.starts_with(hang_mark))
            verdict.reason += "; also a " + leak;
        if (verdict.outcome != Outcome::failed)
            verdict = {Outcome::failed, leak};
        static_cast<void>(log.release());
        static_cast<void>(callbacks.release());
        return verdict;
    }
    std::string problem = callbacks->problem();
    if (!log->teardown().empty())
        problem = log->teardown();
    if (released != PI_SUCCESS)
        problem = "piLoaderRelease: " + last_error();
    if (verdict.outcome != Outcome::failed && !problem.empty())
        verdict = {Outcome::failed, problem};
    return verdict;
}

// The same, and checks a passed test for leaked resources.
Verdict run_test_and_look(const Options &options, const ConformanceTest &test) {
    const Resources before = resources_now();
    const auto begin = std::chrono::steady_clock::now();
    const Verdict verdict = run_test(options, test);
    const auto released = std::chrono::steady_clock::now();
    // The two further uses, and the wait after each, must fit into the timeout.
    const std::chrono::milliseconds limit = std::chrono::seconds(options.timeout);
    if (verdict.outcome != Outcome::passed || std::chrono::steady_clock::now() - begin > limit / 4)
        return verdict;
    const std::string left = left_by_each_use(
        before, [&] { run_test(options, test); }, limit / 8);
    if (left.empty())
        return verdict;
    const std::string leak = "each use leaves more behind the loader's release: " + left;
    for (const auto &[thread, name] : resources_now().threads) {
        const std::string call = before.threads.contains(thread) ? "" : driver_call_of(thread);
        const std::chrono::duration<double> since = std::chrono::steady_clock::now() - released;
        if (!call.empty())
            return {Outcome::failed, join(hang_mark, call, " has not returned after ",
                                          std::lround(since.count()), " s; ", leak)};
    }
    return {Outcome::failed, "leak: " + leak};
}

void print_verdict(const Verdict &verdict) {
    std::cout << outcome_name(verdict.outcome)
              << (verdict.reason.empty() ? "" : ": " + printable(verdict.reason)) << std::endl;
}

} // namespace

int discover(const Options &options) {
    prepare_process(options);
    Log log;
    try {
        const pi_loader loader = make_loader(options, log);
        write_result(options.result_fd, describe_plugin(options, loader));
        piLoaderRelease(loader);
    } catch (const Failure &failure) {
        write_result(options.result_fd, {{"status", "refused"}, {"reason", failure.text}});
    }
    return 0;
}

int run_test(const Options &options) {
    const std::vector<ConformanceTest> tests = all_tests();
    const auto test = std::find_if(tests.begin(), tests.end(), [&](const ConformanceTest &one) {
        return one.id() == options.run_test;
    });
    if (test == tests.end()) {
        std::cerr << "there is no test \"" << options.run_test << "\"; --list prints all\n";
        return 2;
    }
    prepare_process(options);
    Verdict verdict;
    try {
        verdict = run_test_and_look(options, *test);
    } catch (const Failure &failure) {
        verdict = {Outcome::failed, failure.text};
    }
    if (options.result_fd >= 0)
        write_result(options.result_fd,
                     {{"result", outcome_name(verdict.outcome)}, {"reason", verdict.reason}});
    else
        print_verdict(verdict);
    return verdict.outcome == Outcome::failed ? 1 : 0;
}

} // namespace pi::suite
