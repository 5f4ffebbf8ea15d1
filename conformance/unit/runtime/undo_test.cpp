// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that undo something fail: unmaps, flushes, invalidates, releases. Whoever uses the bytes
// next gets the newest ones or an error, and afterwards everything works, on simulated memory of
// every kind.
#include "fault_sweep.hpp"
#include "scenario.hpp"
#include "simulated.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace runtime_test;

namespace {

constexpr uint64_t bytes_in_all = 4096;
constexpr PlaceIndex mapped = 1, far = 2;

/// A device whose memory is mapped in place, as reads from it are slow, and one whose memory is
/// not.
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

TEST_CASE("a map for reading that stands is undone before a command writes its bytes",
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
        CHECK(read_is(machine, buffer, mapped, 10) == PI_SUCCESS); // may go on while it stands
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

TEST_CASE("memory that stays mapped serves no other storage", "[runtime][sim]") {
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

TEST_CASE("calls that undo something may fail: no byte is lost, whatever the memory",
          "[runtime][sim]") {
    const RouteMask routes = GENERATE(RouteMask{all_routes}, mask_of(RouteKind::host_bounce));
    for (const Memory &memory : every_memory()) {
        INFO(memory.name << ", routes " << routes << ": " << memory.machine);
        const TextFile file(memory.machine);
        for (const std::string function :
             {"piEnqueueMemUnmap", "piMemFlush", "piMemInvalidate", "piQueueFlush"}) {
            uint64_t calls = 0;
            {
                const Simulated machine(file.path(), 1, "piQueueFinish:1000000=fail(BACKEND)");
                Scenario<Simulated>(machine, ways_of(machine, routes)).run();
                calls = machine.calls_of(function);
            }
            if (calls == 0) {
                continue;
            }
            for (const uint64_t call : pi_test::calls_to_fail(calls, false)) {
                for (const int count : {1, 2, 5}) {
                    for (const std::string how : {"fail(BACKEND)", "fail_event(BACKEND)"}) {
                        if (how != "fail(BACKEND)" && function != "piEnqueueMemUnmap") {
                            continue;
                        }
                        const std::string fault = function + ":" + std::to_string(call) + ".." +
                                                  std::to_string(call + count - 1) + "=" + how;
                        INFO(fault);
                        const Simulated machine(file.path(), 1, fault);
                        Scenario<Simulated>(machine, ways_of(machine, routes), count).run();
                    }
                }
            }
        }
    }
}

// Few: what stays keeps its plugin, with its threads.
TEST_CASE("a release that fails leaves an object, and no wrong byte", "[runtime][sim]") {
    const TextFile file(machine_of(in_place));
    const std::string function = GENERATE("piMemRelease", "piEventRelease", "piQueueRelease");
    const Simulated machine(file.path(), 1, function + ":1..2=fail(BACKEND)");
    Scenario<Simulated>(machine, ways_of(machine, all_routes), 2).run();
}
