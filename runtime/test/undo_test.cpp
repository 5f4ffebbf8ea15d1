// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Failures of calls that undo something: unmaps, flushes, invalidates and releases, every such
// function of pi.h. The next user of the bytes gets the newest ones or an error, each reference is
// released once, and afterwards everything works, on simulated memory of every kind.
#include "fault_sweep.hpp"
#include "mapped_page.hpp"
#include "scenario.hpp"
#include "simulated.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace runtime_test;

namespace {

constexpr uint64_t bytes_in_all = 4096;
constexpr PlaceIndex mapped = 1, far = 2;

/// A device whose memory is mapped in place because reads from it are slow, and one whose memory is
/// not mapped.
std::string machine_of(const std::string &flags, const std::string &device_members = {},
                       uint64_t flush_atom = 64) {
    const auto scope = [&](const std::string &of) {
        return R"("scopes": [{"name": "global", "capacity": "64 MiB", "flags": [)" + of +
               R"(], "flush_atom": )" + std::to_string(flush_atom) + "}]";
    };
    return R"({"pi_machine": 1, "name": "undo", "host": {"bandwidth": "20 GB/s", "latency": "100 ns"},
        "devices": [{"name": "mapped", "type": "gpu", )" +
           device_members + scope(flags) + R"(}, {"name": "far", "type": "gpu", )" +
           scope("\"poolable\"") + R"(}], "links": [
        {"from": "host", "to": "mapped", "bandwidth": "2 GB/s", "latency": "200 us"},
        {"from": "mapped", "to": "host", "bandwidth": "2 GB/s", "latency": "200 us"},
        {"between": ["host", "far"], "bandwidth": "20 GB/s", "latency": "2 us"}]})";
}

const std::string in_place = R"("host_visible", "maps_in_place")";

pi_result fill(const Simulated &machine, const Buffer &buffer, PlaceIndex place, uint8_t value) {
    Acquisition use = buffer.acquire(place, Access::discard_write);
    const Event filled = machine.fill(use, value);
    use.release(filled.get());
    return wait(filled);
}

std::vector<uint8_t> all(uint8_t value) {
    return std::vector<uint8_t>(bytes_in_all, value);
}

pi_result read_is(const Simulated &machine, const Buffer &buffer, PlaceIndex place, uint8_t value) {
    return code_of([&] { CHECK(device_read(machine, buffer, place) == all(value)); });
}

struct Memory {
    const char *name;
    std::string machine;
};

std::vector<Memory> every_memory() {
    const std::string imports =
        R"("integrated": true, "host_pointer_import": true, "host_pointer_alignment": 1, )";
    std::vector<Memory> memories;
    for (const std::string &device :
         {std::string(), imports, imports + R"("host_pointer_copies": true, )"}) {
        for (const uint64_t atom : {1, 64}) {
            const auto add = [&](const char *name, const char *flags) {
                memories.push_back({name, machine_of(flags, device, atom)});
            };
            add("not visible", "");
            add("visible", R"("host_visible")");
            add("visible, mapped in place", R"("host_visible", "maps_in_place")");
            add("coherent", R"("host_visible", "coherent")");
            add("coherent, mapped in place", R"("host_visible", "coherent", "maps_in_place")");
        }
    }
    return memories;
}

Ways ways_of(const Simulated &machine, RouteMask routes) {
    return {routes, all_styles, false, true, find_may_share(*machine.topology(), routes)};
}

} // namespace

TEST_CASE("an unmap that fails once is tried again, and the bytes are the newest everywhere",
          "[runtime][sim]") {
    const TextFile file(machine_of(in_place));
    const std::string how = GENERATE("fail(BACKEND)", "fail_event(BACKEND)");
    const Simulated machine(file.path(), 1, "piEnqueueMemUnmap:1=" + how);
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = bytes_in_all});
    const Buffer buffer = storage.buffer();
    CHECK(fill(machine, buffer, mapped, 10) == PI_SUCCESS);
    CHECK(read_is(machine, buffer, far, 10) == PI_SUCCESS);
    CHECK(fill(machine, buffer, far, 20) == PI_SUCCESS);
    CHECK(read_is(machine, buffer, mapped, 20) == PI_SUCCESS);
    CHECK(runtime.finish(patience));
    CHECK(machine.calls_of("piEnqueueMemUnmap") == 3);
    CHECK(storage.counters().bytes_delivered == 2 * bytes_in_all);
    CHECK(storage.counters().failed_attempts == 0);
}

TEST_CASE("a standing map for reading is undone before a command writes its bytes",
          "[runtime][sim]") {
    const TextFile file(machine_of(in_place));
    // Both unmaps of the first transfer fail.
    const Simulated machine(file.path(), 1, "piEnqueueMemUnmap:1..2=fail(BACKEND)", {"validate"});
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = bytes_in_all});
    const Buffer buffer = storage.buffer();
    CHECK(fill(machine, buffer, mapped, 10) == PI_SUCCESS);
    CHECK(read_is(machine, buffer, far, 10) == PI_SUCCESS);
    CHECK(machine.calls_of("piEnqueueMemUnmap") == 2);
    SECTION("of the application") {
        CHECK(read_is(machine, buffer, mapped, 10) == PI_SUCCESS); // the map permits reads
        CHECK(machine.calls_of("piEnqueueMemUnmap") == 2);
        CHECK(fill(machine, buffer, mapped, 20) == PI_SUCCESS);
    }
    SECTION("of a transfer") {
        CHECK(fill(machine, buffer, far, 20) == PI_SUCCESS);
        CHECK(read_is(machine, buffer, mapped, 20) == PI_SUCCESS);
    }
    CHECK(machine.calls_of("piEnqueueMemUnmap") >= 3);
    CHECK(read_is(machine, buffer, far, 20) == PI_SUCCESS);
    CHECK(host_read(buffer) == all(20));
    CHECK(runtime.finish(patience));
}

TEST_CASE("a write command waits for the unmap of a transfer that was under way when its use began",
          "[runtime][sim]") {
    const std::string imports = R"("integrated": true, "host_pointer_import": true, )";
    const bool imported = GENERATE(false, true);
    const int failing = GENERATE(2, 3); // two: the transfer's
    const TextFile file(imported ? machine_of("", imports + R"("host_pointer_copies": true, )")
                                 : machine_of(in_place));
    const Simulated machine(file.path(), 1,
                            "piEnqueueMemUnmap:1.." + std::to_string(failing) + "=fail(BACKEND)",
                            {"validate"});
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = bytes_in_all});
    const Buffer buffer = storage.buffer();
    Event gate;
    REQUIRE(piEventCreateHost(machine.topology()->context(mapped), nullptr, gate.out()) ==
            PI_SUCCESS);
    Acquisition first = buffer.acquire(mapped, Access::discard_write);
    const Event filled = machine.fill(first, 10, gate.get());
    first.release(filled.get());
    buffer.prefetch(imported ? host_place : far);
    Acquisition second = buffer.acquire(mapped, Access::discard_write);
    const Event behind = machine.fill(second, 20);
    second.release(behind.get());
    REQUIRE(piEventSignalHost(gate.get(), PI_SUCCESS) == PI_SUCCESS);
    CHECK(wait(behind) == (failing == 2 ? PI_SUCCESS : PI_ERROR_DEPENDENCY_FAILED));
    CHECK(storage.finish(patience));
    CHECK(machine.calls_of("piEnqueueMemUnmap") == 3);
    const uint8_t newest = failing == 2 ? 20 : 10;
    CHECK(host_read(buffer) == all(newest));
    CHECK(read_is(machine, buffer, far, newest) == PI_SUCCESS);
    CHECK(runtime.finish(patience));
}

TEST_CASE("bytes under a map that cannot be undone are an error where they are written, and right "
          "elsewhere",
          "[runtime][sim]") {
    const TextFile file(machine_of(in_place));
    const Simulated machine(file.path(), 1, "piEnqueueMemUnmap:1..4=fail(BACKEND)");
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = bytes_in_all});
    const Buffer buffer = storage.buffer();
    CHECK(fill(machine, buffer, mapped, 10) == PI_SUCCESS);
    CHECK(read_is(machine, buffer, far, 10) == PI_SUCCESS);
    CHECK(fill(machine, buffer, mapped, 20) == PI_ERROR_DEPENDENCY_FAILED);
    CHECK(storage.finish(patience));
    CHECK(read_is(machine, buffer, far, 10) == PI_SUCCESS);
    CHECK(fill(machine, buffer, mapped, 30) == PI_ERROR_DEPENDENCY_FAILED);
    CHECK(fill(machine, buffer, mapped, 40) == PI_SUCCESS);
    CHECK(read_is(machine, buffer, far, 40) == PI_SUCCESS);
    CHECK(runtime.finish(patience));
    CHECK(storage.lost().empty());
}

TEST_CASE("memory under a map that could not be undone is freed where another storage needs room",
          "[runtime][sim]") {
    std::string text = machine_of(in_place);
    text.replace(text.find("64 MiB"), 6, "6 KiB");
    const TextFile file(text);
    const Simulated machine(file.path(), 1, "piEnqueueMemUnmap:1..2=fail(BACKEND)");
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = bytes_in_all});
    CHECK(fill(machine, storage.buffer(), mapped, 10) == PI_SUCCESS);
    CHECK(read_is(machine, storage.buffer(), far, 10) == PI_SUCCESS);
    const Storage other(runtime, {.size = bytes_in_all});
    CHECK(code_of([&] { CHECK(fill(machine, other.buffer(), mapped, 20) == PI_SUCCESS); }) ==
          PI_SUCCESS);
    CHECK(storage.counters().evictions == 1);
    CHECK(machine.calls_of("piEnqueueMemUnmap") == 3);
    CHECK(read_is(machine, storage.buffer(), mapped, 10) == PI_SUCCESS);
    CHECK(runtime.finish(patience));
}

TEST_CASE("memory that stays mapped is not reused", "[runtime][sim]") {
    const TextFile file(machine_of(in_place + R"(, "poolable")"));
    const Simulated machine(file.path(), 1, "piEnqueueMemUnmap:1..3=fail(BACKEND)");
    const Runtime runtime(machine.topology());
    {
        const Storage storage(runtime, {.size = bytes_in_all});
        CHECK(fill(machine, storage.buffer(), mapped, 10) == PI_SUCCESS);
        CHECK(read_is(machine, storage.buffer(), far, 10) == PI_SUCCESS);
    }
    CHECK(runtime.finish(patience));
    CHECK(machine.calls_of("piEnqueueMemUnmap") == 3);
    CHECK(runtime.pool_statistics(mapped).blocks_kept == 0);
    const Storage storage(runtime, {.size = bytes_in_all});
    CHECK(fill(machine, storage.buffer(), far, 20) == PI_SUCCESS);
    CHECK(read_is(machine, storage.buffer(), mapped, 20) == PI_SUCCESS);
    CHECK(runtime.finish(patience));
}

#ifdef PI_TEST_BATCHING_SIM_PLUGIN
TEST_CASE("a command of a queue that cannot be flushed ends its use nonetheless",
          "[runtime][sim]") {
    const TextFile file(machine_of(in_place));
    const Simulated machine(file.path(), 1, "piQueueFlush:1=fail(BACKEND)", {}, true,
                            PI_TEST_BATCHING_SIM_PLUGIN);
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = bytes_in_all});
    const Buffer buffer = storage.buffer();
    Acquisition use = buffer.acquire(mapped, Access::discard_write);
    const Event filled = machine.fill(use, 10);
    use.release(filled.get());
    CHECK(storage.finish(patience));
    CHECK(host_read(buffer) == all(10));
}
#endif

// ----- Every function that undoes ----------------------------------------------------------------

namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool children_start_threads = false; // a process with threads must not do so
#else
constexpr bool children_start_threads = true;
#endif
// Under a sanitizer, starting a child is slow: run for some memories only.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr size_t memory_stride = 7;
#else
constexpr size_t memory_stride = 1;
#endif

bool undoes(std::string_view function) {
    static constexpr std::string_view endings[] = {"Release", "Free",       "Unregister", "Unmap",
                                                   "Flush",   "Invalidate", "Trim"};
    return std::any_of(std::begin(endings), std::end(endings),
                       [&](std::string_view ending) { return function.ends_with(ending); });
}

std::vector<std::string> undoing_functions() {
    std::vector<std::string> found;
    for (const char *function : {
#define PI_FUNCTION(name, group, needs, since) #name,
#include <pi/pi_functions.def>
         }) {
        if (undoes(function)) {
            found.emplace_back(function);
        }
    }
    return found;
}

/// Functions that the runtime does not call on simulated machines, and why.
const std::map<std::string, std::string> uncalled{
    {"piUsmFree", "the runtime allocates no USM"},
    {"piEnqueueUsmFree", "the runtime allocates no USM"},
    {"piUsmPoolRelease", "the runtime allocates no USM"},
    {"piUsmHostUnregister", "simulated devices pin nothing"},
    {"piDeviceRelease", "the devices are the plugin's own, and no partitions"},
    {"piProgramRelease", "the test has no kernels"},
    {"piKernelRelease", "the test has no kernels"},
    {"piSamplerRelease", "the runtime makes no images"}};

/// Number of unreleased references by kind of object: created or retained, and not passed to a
/// release, whether or not the release succeeded.
std::map<std::string, int64_t> references(const Simulated &machine) {
    const auto calls = [&](const std::string &function) {
        return static_cast<int64_t>(machine.calls_of(function));
    };
    std::map<std::string, int64_t> left;
    for (const std::string kind : {"Mem", "Queue", "Event", "Context", "Device"}) {
        left[kind] = calls("pi" + kind + "Retain") - calls("pi" + kind + "Release");
    }
    left["Mem"] += calls("piMemBufferCreate") + calls("piMemImport");
    left["Queue"] += calls("piQueueCreate");
    left["Event"] += calls("piEventCreateHost");
    for (const char *command :
         {"piEnqueueMemBufferRead", "piEnqueueMemBufferWrite", "piEnqueueMemBufferCopy",
          "piEnqueueMemBufferFill", "piEnqueueMemBufferMap", "piEnqueueMemUnmap",
          "piEnqueueEventsWait"}) {
        left["Event"] += calls(command);
    }
    return left;
}

/// Number of calls by function.
std::map<std::string, uint64_t> undoing_calls(const Simulated &machine) {
    std::map<std::string, uint64_t> calls;
    for (const std::string &function : undoing_functions()) {
        if (const uint64_t count = machine.calls_of(function)) {
            calls[function] = count;
        }
    }
    return calls;
}

/// A function's calls that fail, from the N-th on.
struct FailingCalls {
    std::string function;
    uint64_t first;
    int count;
    std::string how;

    std::string text() const {
        return function + ":" + std::to_string(first) + ".." + std::to_string(first + count - 1) +
               "=" + how;
    }
    /// Commands that were refused and so have no event.
    int64_t refused(const Simulated &machine) const {
        const auto calls = static_cast<int64_t>(machine.calls_of(function));
        const auto before = static_cast<int64_t>(first) - 1;
        return function.starts_with("piEnqueue") && how.starts_with("fail(")
                   ? std::clamp<int64_t>(calls - before, 0, count)
                   : 0;
    }
};

/// The references left by a run without faults are the test's own.
void run_with(const Simulated &machine, RouteMask routes, const FailingCalls &failing,
              std::map<std::string, int64_t> left) {
    Scenario<Simulated>(machine, ways_of(machine, routes), failing.count).run();
    left["Event"] += failing.refused(machine);
    for (const auto &[kind, count] : references(machine)) {
        INFO(kind);
        REQUIRE(count == left.at(kind));
    }
}

/// Runs in a process of its own: a failed release keeps the plugin and its threads alive.
void run_apart(const std::string &file, RouteMask routes, const FailingCalls &failing,
               const std::map<std::string, int64_t> &left) {
    std::fflush(nullptr);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(120); // a hang is a failure
        int status = 1;
        try {
            const Simulated machine(file, 1, failing.text());
            run_with(machine, routes, failing, left);
            _exit(0);
        } catch (const std::exception &error) {
            std::fprintf(stderr, "%s\n", error.what());
        } catch (...) {
            status = 2; // a failed assertion, already reported
        }
        std::fflush(nullptr);
        _exit(status);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

/// Fails all calls of one function in turn. A call's error does not affect the next run, so the
/// kinds of errors take turns.
void fail_calls(const std::string &file, RouteMask routes, const std::string &function,
                uint64_t calls, const std::map<std::string, int64_t> &left) {
    std::vector<std::string> ways{"fail(BACKEND)", "fail(DEVICE_LOST)", "fail(OUT_OF_HOST_MEMORY)"};
    if (function.starts_with("piEnqueue")) {
        ways.insert(ways.end(), {"fail_event(BACKEND)", "fail_event(DEVICE_LOST)"});
    }
    size_t turn = 0;
    for (const uint64_t call : pi_test::calls_to_fail(calls, false)) {
        for (const int count : {1, 2, 5}) {
            const FailingCalls failing{function, call, count, ways[turn++ % ways.size()]};
            INFO(failing.text());
            if (!function.ends_with("Release")) {
                run_with(Simulated(file, 1, failing.text()), routes, failing, left);
            } else if (children_start_threads) {
                run_apart(file, routes, failing, left);
            }
        }
    }
}

} // namespace

TEST_CASE("failing calls that undo something lose no byte and no object, whatever the memory",
          "[runtime][sim]") {
    const RouteMask routes = GENERATE(RouteMask{all_routes}, mask_of(RouteKind::host_bounce));
    std::set<std::string> called;
    const std::vector<Memory> memories = every_memory();
    for (size_t index = 0; index < memories.size(); index += memory_stride) {
        const Memory &memory = memories[index];
        INFO(memory.name << ", routes " << routes << ": " << memory.machine);
        const TextFile file(memory.machine);
        const Simulated machine(file.path(), 1, "piQueueFinish:1000000=fail(BACKEND)");
        Scenario<Simulated>(machine, ways_of(machine, routes)).run();
        const auto left = references(machine);
        CHECK(left.at("Mem") == 0);
        CHECK(left.at("Event") == 0);
        for (const auto &[function, calls] : undoing_calls(machine)) {
            called.insert(function);
            fail_calls(file.path(), routes, function, calls, left);
        }
    }
    if (routes == all_routes && memory_stride == 1) {
        for (const std::string &function : undoing_functions()) {
            INFO(function);
            CHECK(called.count(function) + uncalled.count(function) == 1);
        }
    }
}

TEST_CASE("finish() waits for maps that are undone after the end of their storage",
          "[runtime][sim]") {
    const TextFile file(machine_of(in_place));
    const Simulated machine(file.path(), 1,
                            "piEnqueueMemUnmap:1..2=fail(BACKEND);piEnqueueMemUnmap:3=delay(1s)");
    const Runtime runtime(machine.topology());
    {
        const Storage storage(runtime, {.size = bytes_in_all});
        CHECK(fill(machine, storage.buffer(), mapped, 10) == PI_SUCCESS);
        CHECK(read_is(machine, storage.buffer(), far, 10) == PI_SUCCESS);
        REQUIRE(runtime.finish(patience));
    }
    CHECK(machine.calls_of("piEnqueueMemUnmap") == 3);
    runtime.trim(0);
    CHECK(references(machine).at("Mem") == 1);
    CHECK(runtime.finish(patience));
    CHECK(references(machine).at("Mem") == 0);
}

TEST_CASE("the host's bytes live as long as a map of an import of them stands", "[runtime][sim]") {
    const TextFile file(machine_of("", R"("integrated": true, "host_pointer_import": true,
        "host_pointer_alignment": 1, "host_pointer_copies": true, )"));
    const Simulated machine(file.path(), 1, "piEnqueueMemUnmap:1..99=fail(BACKEND)");
    std::byte *bytes = nullptr;
    {
        const Runtime runtime(machine.topology());
        {
            const Storage storage(runtime, {.size = 40 << 20}); // unmapped when it is freed
            host_write(storage.buffer(), 0, all(10));
            CHECK(fill(machine, storage.buffer(), mapped, 20) == PI_SUCCESS);
            Acquisition use = storage.buffer().acquire(host_place, Access::read);
            bytes = use.pointer();
            CHECK(bytes[bytes_in_all] == std::byte{20});
            use.release();
            REQUIRE(runtime.finish(patience));
            REQUIRE(machine.calls_of("piEnqueueMemUnmap") == 2);
        }
        REQUIRE(runtime.finish(patience));
        CHECK(machine.calls_of("piEnqueueMemUnmap") == 3);
        CHECK(is_mapped(bytes));
    }
}
