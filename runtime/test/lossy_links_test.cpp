// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links that lose pages and report success, on simulated machines and both vendors' simulated
// drivers (lossy-links.json, lossy-kernels.json): tests of the simulation itself, and of the
// runtime's reaction.
#include "equipment.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <future>
#include <string>

using namespace runtime_test;

namespace {

constexpr uint64_t size = 256 * 1024;
constexpr uint64_t page = 4096;

/// The machine's devices, in the file's order.
constexpr PlaceIndex first = 1, second = 2, third = 3, fourth = 4;

/// The result of such a link: every second page keeps the old bytes.
std::vector<uint8_t> lossy(const std::vector<uint8_t> &sent, std::vector<uint8_t> old) {
    for (uint64_t byte = 0; byte < sent.size(); ++byte) {
        if (byte / page % 2 == 0) {
            old[byte] = sent[byte];
        }
    }
    return old;
}

pi_test::Owned<pi_mem> make_buffer(const Machine &machine, PlaceIndex place) {
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = size;
    pi_test::Owned<pi_mem> mem;
    OK(piMemBufferCreate(machine.topology()->context(place), machine.topology()->device(place),
                         &desc, mem.out()));
    return mem;
}

void put(const Machine &machine, PlaceIndex by, pi_mem mem, const std::vector<uint8_t> &bytes) {
    const pi_region region = pi_test::range(0, 0, size);
    const auto desc = pi_test::write_desc(mem, bytes.data(), region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferWrite(machine.queue(by), &desc, 0, nullptr, nullptr));
}

std::vector<uint8_t> get(const Machine &machine, PlaceIndex by, pi_mem mem) {
    std::vector<uint8_t> bytes(size, 0xa5);
    const pi_region region = pi_test::range(0, 0, size);
    const auto desc = pi_test::read_desc(mem, bytes.data(), region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferRead(machine.queue(by), &desc, 0, nullptr, nullptr));
    return bytes;
}

void copy(const Machine &machine, PlaceIndex by, pi_mem src, pi_mem dst) {
    const pi_region region = pi_test::range(0, 0, size);
    const auto desc = pi_test::copy_desc(src, dst, region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferCopy(machine.queue(by), &desc, 0, nullptr, nullptr));
}

std::string plugin_of(const Machine &machine) {
    const std::string &key = machine.topology()->info(first).key;
    return key.substr(0, key.find(':'));
}

/// "copy_words" or "count_up" of the native library, in the plugin's program format.
pi_test::Owned<pi_kernel> make_kernel(const Machine &machine, PlaceIndex place, const char *name) {
    const std::string lines = "library " PI_TEST_KERNELS "\nfunction copy_words pointer pointer\n"
                              "function count_up pointer 4\n";
    std::string data = PI_TEST_KERNELS;
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_NATIVE_LIBRARY;
    if (plugin_of(machine) == "cuda") {
        desc.format = PI_PROGRAM_FORMAT_CUBIN;
        data = "PI simulated CUDA module 1\n" + lines;
    } else if (plugin_of(machine) == "level_zero") {
        desc.format = PI_PROGRAM_FORMAT_DEVICE_BINARY;
        data = "PI simulated Level Zero module 1\n" + lines;
    }
    desc.data = data.c_str();
    desc.size = data.size();
    pi_test::Owned<pi_program> program;
    OK(piProgramCreate(machine.topology()->context(place), &desc, program.out()));
    OK(piProgramBuild(program, nullptr));
    pi_test::Owned<pi_kernel> kernel;
    OK(piKernelCreate(program, name, nullptr, kernel.out()));
    return kernel;
}

/// One work-item for each word of the buffers.
void launch(const Machine &machine, PlaceIndex place, const char *name,
            const std::vector<pi_kernel_argument> &arguments,
            const std::vector<pi_event> &waits = {}) {
    const auto kernel = make_kernel(machine, place, name);
    auto desc = pi::desc<pi_kernel_launch_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.kernel = kernel;
    desc.dimensions = 1;
    desc.global_size[0] = size / 4;
    desc.argument_count = static_cast<uint32_t>(arguments.size());
    desc.arguments = arguments.data();
    OK(piEnqueueKernelLaunch(machine.queue(place), &desc, static_cast<uint32_t>(waits.size()),
                             waits.empty() ? nullptr : waits.data(), nullptr));
}

pi_kernel_argument buffer_argument(pi_mem mem) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_BUFFER;
    argument.mem = mem;
    return argument;
}

/// The bytes that "count_up" writes.
std::vector<uint8_t> counted(uint32_t begin) {
    std::vector<uint8_t> bytes(size);
    for (uint32_t word = 0; word < size / 4; ++word) {
        const uint32_t number = word + begin;
        std::memcpy(bytes.data() + word * 4, &number, 4);
    }
    return bytes;
}

uint64_t differences(const std::vector<uint8_t> &a, const std::vector<uint8_t> &b) {
    uint64_t count = 0;
    for (uint64_t byte = 0; byte < a.size(); ++byte) {
        count += a[byte] != b[byte] ? 1 : 0;
    }
    return count;
}

/// Writes at one place, as a program does.
void device_write(const Machine &machine, const Buffer &buffer, PlaceIndex place,
                  const std::vector<uint8_t> &bytes) {
    Acquisition use = buffer.acquire(place, Access::discard_write);
    const Event written = machine.write(use, bytes.data());
    use.release(written.get());
    REQUIRE(wait(written) == PI_SUCCESS);
}

struct Way {
    PlaceIndex from, to;
};
std::ostream &operator<<(std::ostream &out, const Way &way) {
    return out << way.from << " -> " << way.to;
}

} // namespace

TEST_CASE("copies over a link that loses pages leave every second page as it was, in its direction "
          "alone, by queues of either end",
          "[runtime][lossy]") {
    const Machine machine(1);
    const auto old = pattern(size, 1), sent = pattern(size, 2);
    const auto arrived = [&](PlaceIndex from, PlaceIndex to, PlaceIndex by) {
        const auto src = make_buffer(machine, from), dst = make_buffer(machine, to);
        put(machine, from, src, sent);
        put(machine, to, dst, old);
        copy(machine, by, src, dst);
        return get(machine, to, dst);
    };
    for (const PlaceIndex by : {first, second}) {
        CHECK(differences(arrived(first, second, by), lossy(sent, old)) == 0);
        CHECK(differences(arrived(second, first, by), sent) == 0);
    }
    CHECK(differences(arrived(third, second, second), lossy(sent, old)) == 0);
    CHECK(differences(arrived(first, third, third), sent) == 0);
    CHECK(differences(arrived(first, first, first), sent) == 0);
}

TEST_CASE("a link that loses pages of copies does so where the other device's queue reads",
          "[runtime][lossy]") {
    const Machine machine(1);
    const auto sent = pattern(size, 3);
    const auto mem = make_buffer(machine, first);
    put(machine, first, mem, sent);
    CHECK(differences(get(machine, first, mem), sent) == 0);
    const auto seen = get(machine, second, mem);
    CHECK(differences(lossy(seen, sent), sent) == 0); // the pages in between have arrived
    CHECK(differences(seen, sent) > size / 2 - size / 64);
    put(machine, second, mem, pattern(size, 4)); // the link from second to first loses nothing
    CHECK(differences(get(machine, first, mem), pattern(size, 4)) == 0);
}

TEST_CASE("kernels over a link that loses their pages see other memory in every second one",
          "[.kernels]") {
    const Machine machine(1);
    const auto sent = pattern(size, 5);
    const auto far = make_buffer(machine, first), near = make_buffer(machine, second);
    put(machine, first, far, sent);
    launch(machine, second, "copy_words", {buffer_argument(near), buffer_argument(far)});
    const auto seen = get(machine, second, near);
    CHECK(differences(lossy(seen, sent), sent) == 0);
    CHECK(differences(seen, sent) > size / 2 - size / 64);
    CHECK(differences(get(machine, first, far), sent) == 0);

    // Bytes that kernels write there are lost.
    const uint32_t begin = 7;
    pi_kernel_argument value{};
    value.kind = PI_ARGUMENT_VALUE;
    value.value = &begin;
    value.size = sizeof begin;
    launch(machine, second, "count_up", {buffer_argument(far), value});
    CHECK(differences(get(machine, first, far), lossy(counted(begin), sent)) == 0);
}

/// The bytes that a kernel of the place reads from the buffer.
std::vector<uint8_t> kernel_read(const Machine &machine, const Buffer &buffer, PlaceIndex place) {
    const auto near = make_buffer(machine, place);
    Acquisition use = buffer.acquire(place, Access::read);
    launch(machine, place, "copy_words", {buffer_argument(near), use.argument()}, use.events());
    use.release(nullptr);
    return get(machine, place, near);
}

TEST_CASE("a kernel sees the bytes of another place, whatever its link loses of kernels",
          "[.kernels]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    const Way way = GENERATE(Way{first, second}, Way{second, first}, Way{second, third},
                             Way{third, second}, Way{first, third}, Way{third, first});
    const RouteMask routes =
        GENERATE(as<RouteMask>{}, all_routes,
                 mask_of(RouteKind::direct_use) | mask_of(RouteKind::host_bounce));
    CAPTURE(way, routes);
    const Storage storage(runtime, {.size = size, .routes = routes});
    for (uint32_t round = 0; round < 2; ++round) {
        const auto sent = pattern(size, 50 + round);
        device_write(machine, storage.buffer(), way.from, sent);
        CHECK(differences(kernel_read(machine, storage.buffer(), way.to), sent) == 0);
        // A kernel's writes arrive as well.
        const uint32_t begin = 100 + round;
        pi_kernel_argument value{};
        value.kind = PI_ARGUMENT_VALUE;
        value.value = &begin;
        value.size = sizeof begin;
        {
            Acquisition use = storage.buffer().acquire(way.to, Access::discard_write);
            launch(machine, way.to, "count_up", {use.argument(), value}, use.events());
            use.release(nullptr);
        }
        CHECK(differences(device_read(machine, storage.buffer(), way.from), counted(begin)) == 0);
    }
    REQUIRE(runtime.finish(patience));
}

TEST_CASE("memory that kernels of another place see wrong is copied there, and everything says why",
          "[.kernels]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size}), back(runtime, {.size = size});
    const auto sent = pattern(size, 60);
    device_write(machine, storage.buffer(), first, sent);
    device_write(machine, back.buffer(), second, sent);
    const Verification &known = machine.topology()->verification();
    const MemoryPair copies{.src = first, .dst = second};
    const MemoryPair kernels{.src = first, .dst = second, .kernels = true};

    CHECK(storage.buffer().explain(second).parts.at(0).candidates.at(0).unverified ==
          std::vector{copies, kernels});
    CHECK(known.of(kernels) == Verified::unknown);
    CHECK(differences(kernel_read(machine, storage.buffer(), second), sent) == 0);
    CHECK(known.of(copies) == Verified::yes);
    CHECK(known.of(kernels) == Verified::failed);
    const std::string seen = known.text(kernels);
    CHECK(seen.find("read by a kernel of dst") != std::string::npos);
    CHECK(storage.memory_of(second) != storage.memory_of(first));
    REQUIRE(runtime.finish(patience));
    const TransferRecord record = runtime.log().back();
    CHECK(record.hops == std::vector<Hop>{{first, second}});
    CHECK(record.reason.find(seen) != std::string::npos);
    CHECK(machine.topology()->to_string().find(seen) != std::string::npos);
    CHECK(machine.topology()->to_string().find("copies +") != std::string::npos);
    CHECK(storage.buffer().explain(second).text.find(seen) != std::string::npos);

    // The opposite direction loses nothing.
    CHECK(differences(kernel_read(machine, back.buffer(), first), sent) == 0);
    CHECK(back.memory_of(first) == back.memory_of(second));
    CHECK(known.of({.src = second, .dst = first, .kernels = true}) == Verified::yes);
}

TEST_CASE("the loader reports for each direction whether kernels see the bytes of copies",
          "[.kernels]") {
    const Machine machine(1);
    const auto verified = [&](PlaceIndex src, PlaceIndex dst, uint64_t flags) {
        auto desc = pi::desc<pi_memory_verification_desc>();
        desc.flags = flags;
        auto info = pi::desc<pi_memory_connection_info>();
        OK(piVerifyMemoryConnection(
            machine.topology()->device(src), machine.topology()->context(src),
            machine.topology()->device(dst), machine.topology()->context(dst), &desc, &info));
        INFO(src << " -> " << dst << ": " << info.verified_text);
        CHECK((info.verified_text[0] != 0) == (info.verified == PI_VERIFIED_FAILED));
        return info.verified;
    };
    CHECK(verified(first, second, 0) == PI_VERIFIED_YES);
    CHECK(verified(first, second, PI_VERIFY_KERNELS) == PI_VERIFIED_FAILED);
    CHECK(verified(first, second, 0) == PI_VERIFIED_YES);
    CHECK(verified(second, first, PI_VERIFY_KERNELS) == PI_VERIFIED_YES);
    CHECK(verified(second, third, PI_VERIFY_KERNELS) == PI_VERIFIED_FAILED);
    CHECK(verified(third, second, PI_VERIFY_KERNELS | PI_VERIFY_AGAIN) == PI_VERIFIED_FAILED);
}

TEST_CASE("a runtime that believes the driver delivers the bytes that a lossy link leaves",
          "[runtime][lossy]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology(), {.verify_connections = false});
    const auto old = pattern(size, 6), sent = pattern(size, 7);
    const Storage storage(
        runtime,
        {.size = size, .routes = mask_of(RouteKind::migrate) | mask_of(RouteKind::host_bounce)});
    device_write(machine, storage.buffer(), second, old);
    device_write(machine, storage.buffer(), first, sent);
    const auto seen = device_read(machine, storage.buffer(), second);
    CHECK(differences(seen, lossy(sent, old)) == 0);
    CHECK(differences(seen, sent) > size / 2 - size / 64);
}

TEST_CASE("whatever a link loses, each byte arrives: by the next route", "[runtime][lossy]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    const Way way = GENERATE(Way{first, second}, Way{second, first}, Way{third, second},
                             Way{fourth, third}, Way{first, third}, Way{first, fourth});
    const RouteMask routes = GENERATE(
        as<RouteMask>{}, all_routes, mask_of(RouteKind::migrate) | mask_of(RouteKind::host_bounce),
        mask_of(RouteKind::direct_use) | mask_of(RouteKind::host_bounce));
    CAPTURE(way, routes);
    const Storage storage(runtime, {.size = size, .routes = routes});
    for (uint32_t round = 0; round < 3; ++round) {
        const auto old = pattern(size, 10 + round), sent = pattern(size, 20 + round);
        device_write(machine, storage.buffer(), way.to, old);
        device_write(machine, storage.buffer(), way.from, sent);
        CHECK(differences(device_read(machine, storage.buffer(), way.to), sent) == 0);
        CHECK(differences(host_read(storage.buffer()), sent) == 0);
    }
    REQUIRE(runtime.finish(patience));
}

TEST_CASE("a link that loses pages is not used, and everything says why", "[runtime][lossy]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    const Buffer buffer = storage.buffer();
    const auto sent = pattern(size, 30);
    device_write(machine, buffer, first, sent);
    const Verification &known = machine.topology()->verification();
    const MemoryPair pair{.src = first, .dst = second};

    // Neither the runtime's start nor explain() verifies a connection; the first use does.
    CHECK(known.of(pair) == Verified::unknown);
    const Explanation before = buffer.explain(second);
    CHECK(before.parts.at(0).candidates.at(0).unverified.at(0) == pair);
    CHECK(known.of(pair) == Verified::unknown);

    CHECK(differences(device_read(machine, buffer, second), sent) == 0);
    CHECK(known.of(pair) == Verified::failed);
    CHECK_FALSE(known.text(pair).empty());
    CHECK(storage.memory_of(second) != storage.memory_of(first));
    CHECK(storage.counters().bytes_delivered == size);
    CHECK(storage.counters().bytes_required == size);
    REQUIRE(runtime.finish(patience));
    for (const TransferRecord &record : runtime.log()) {
        for (const Hop &hop : record.hops) {
            CHECK(hop != Hop{first, second});
        }
    }
    CHECK(runtime.log().back().reason.find(known.text(pair)) != std::string::npos);
    CHECK(machine.topology()->to_string().find(known.text(pair)) != std::string::npos);

    device_write(machine, buffer, first, sent);
    for (const ExplainedPart &part : buffer.explain(second).parts) {
        for (const Candidate &candidate : part.candidates) {
            if (candidate.route.hops == std::vector<Hop>{{first, second}}) {
                CHECK_FALSE(candidate.possible);
            }
        }
    }
}

TEST_CASE("all connections can be verified before any is used", "[runtime][lossy]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    runtime.verify_connections();
    INFO(machine.topology()->to_string());
    const Verification &known = machine.topology()->verification();
    const auto commands = [&](PlaceIndex src, PlaceIndex dst) {
        return known.of({.src = src, .dst = dst});
    };
    CHECK(commands(first, second) == Verified::failed);
    CHECK(commands(second, first) == Verified::yes);
    CHECK(commands(first, third) == Verified::yes);
    CHECK(commands(second, third) == Verified::failed);
    // A plugin that goes over the host itself has no link between the two.
    const bool over_host = machine.topology()->description().buffer(fourth, third).path ==
                           PI_COPY_PATH_STAGED_BY_PLUGIN;
    CHECK(commands(fourth, third) == (over_host ? Verified::yes : Verified::failed));
    CHECK(commands(third, fourth) == Verified::yes);
    CHECK(runtime.counters().link_bytes.empty());
    CHECK(runtime.log().empty());
}

TEST_CASE("inside a callback a connection that is not verified yet is not used, outside it is",
          "[runtime][lossy]") {
    const Machine machine(1);
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size}), later(runtime, {.size = size});
    const auto sent = pattern(size, 40);
    device_write(machine, storage.buffer(), first, sent);
    device_write(machine, later.buffer(), first, sent);
    REQUIRE(runtime.finish(patience));
    const Verification &known = machine.topology()->verification();
    const MemoryPair pair{.src = first, .dst = fourth};

    struct Callback {
        const Storage &storage;
        Acquisition use{};
        std::promise<pi_result> result{};
    } callback{storage};
    pi_test::Owned<pi_event> event;
    OK(piEventCreateHost(machine.topology()->context(first), nullptr, event.out()));
    OK(piEventSetCallback(
        event,
        [](pi_event, pi_result, void *data) {
            Callback &self = *static_cast<Callback *>(data);
            self.result.set_value(
                code_of([&] { self.use = self.storage.buffer().acquire(fourth, Access::read); }));
        },
        &callback));
    OK(piEventSignalHost(event, PI_SUCCESS));
    auto result = callback.result.get_future();
    REQUIRE(result.wait_for(patience) == std::future_status::ready);
    REQUIRE(result.get() == PI_SUCCESS);
    CHECK(known.of(pair) == Verified::unknown);
    CHECK(storage.memory_of(fourth) != storage.memory_of(first));
    std::vector<uint8_t> seen(size);
    const Event read = machine.read(callback.use, seen.data());
    callback.use.release(read.get());
    REQUIRE(wait(read) == PI_SUCCESS);
    CHECK(differences(seen, sent) == 0);

    CHECK(differences(device_read(machine, later.buffer(), fourth), sent) == 0);
    CHECK(known.of(pair) == Verified::yes);
    CHECK(later.memory_of(fourth) == later.memory_of(first));
    REQUIRE(runtime.finish(patience));
}
