// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Read, write and fill as the loader builds them from map and unmap, on a plugin that has only
// those.

#include "fixture.hpp"
#include "plugins/memory_plugin.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>

using namespace loader_test;
using Catch::Matchers::Contains;
using Bytes = std::vector<unsigned char>;

namespace {

constexpr uint64_t patience = UINT64_C(30) * 1000 * 1000 * 1000;

/// A buffer of the memory plugin and a queue.
struct Machine {
    CapturedLog log;
    Loader loader;
    pi_context context = nullptr;
    pi_queue queue = nullptr;
    pi_mem mem = nullptr;
    uint64_t size;
    const memory_plugin_table *plugin = nullptr;

    explicit Machine(uint64_t bytes = 64, uint64_t queue_flags = 0)
        : loader(Description{
              .plugins = {plugin_file("memory")}, .teardown_timeout = 20000, .log = &log}),
          size(bytes) {
        context = loader.context();
        const void *table = nullptr;
        REQUIRE(piPluginGetExtension(loader.plugins()[0], memory_plugin_extension,
                                     sizeof(memory_plugin_table), &table) == PI_SUCCESS);
        plugin = static_cast<const memory_plugin_table *>(table);
        auto queue_desc = pi::desc<pi_queue_desc>();
        queue_desc.flags = queue_flags;
        REQUIRE(piQueueCreate(context, loader.device(), &queue_desc, &queue) == PI_SUCCESS);
        auto mem_desc = pi::desc<pi_mem_buffer_desc>();
        mem_desc.size = bytes;
        REQUIRE(piMemBufferCreate(context, loader.device(), &mem_desc, &mem) == PI_SUCCESS);
    }
    // Everything must end: nothing parked, nothing mapped.
    ~Machine() {
        release_objects();
        loader.reset();
        CHECK(log.count("parked") == 0);
        CHECK(log.count("", PI_LOG_WARNING) == 0);
    }
    void release_objects() {
        if (mem != nullptr) {
            piMemRelease(std::exchange(mem, nullptr));
            piQueueRelease(std::exchange(queue, nullptr));
            piContextRelease(std::exchange(context, nullptr));
        }
    }
    pi_event host_event() const {
        pi_event event = nullptr;
        REQUIRE(piEventCreateHost(context, nullptr, &event) == PI_SUCCESS);
        return event;
    }
    uint64_t mapped() const { return plugin->mapped_ranges(loader.plugins()[0]); }
    uint64_t map_calls() const { return plugin->map_calls(loader.plugins()[0]); }

    pi_result write(const Bytes &bytes, const std::vector<pi_region> &regions, uint64_t flags,
                    pi_event wait = nullptr, pi_event *out_event = nullptr) const {
        auto desc = pi::desc<pi_buffer_write_desc>();
        desc.flags = flags;
        desc.mem = mem;
        desc.host_ptr = bytes.data();
        desc.regions = regions.data();
        desc.region_count = static_cast<uint32_t>(regions.size());
        return piEnqueueMemBufferWrite(queue, &desc, wait != nullptr ? 1 : 0,
                                       wait != nullptr ? &wait : nullptr, out_event);
    }
    pi_result read(Bytes &bytes, const std::vector<pi_region> &regions, uint64_t flags,
                   pi_event wait = nullptr, pi_event *out_event = nullptr) const {
        auto desc = pi::desc<pi_buffer_read_desc>();
        desc.flags = flags;
        desc.mem = mem;
        desc.host_ptr = bytes.data();
        desc.regions = regions.data();
        desc.region_count = static_cast<uint32_t>(regions.size());
        return piEnqueueMemBufferRead(queue, &desc, wait != nullptr ? 1 : 0,
                                      wait != nullptr ? &wait : nullptr, out_event);
    }
    pi_result fill(const Bytes &pattern, uint64_t offset, uint64_t bytes, uint64_t flags,
                   pi_event wait = nullptr, pi_event *out_event = nullptr) const {
        auto desc = pi::desc<pi_buffer_fill_desc>();
        desc.flags = flags;
        desc.mem = mem;
        desc.pattern = pattern.data();
        desc.pattern_size = pattern.size();
        desc.offset = offset;
        desc.size = bytes;
        return piEnqueueMemBufferFill(queue, &desc, wait != nullptr ? 1 : 0,
                                      wait != nullptr ? &wait : nullptr, out_event);
    }
    void set(const Bytes &bytes) const {
        REQUIRE(write(bytes, {{0, 0, {bytes.size(), 0, 0}, {}, {}, 0}}, PI_COMMAND_BLOCKING) ==
                PI_SUCCESS);
    }
    Bytes get() const {
        Bytes bytes(size);
        REQUIRE(read(bytes, {{0, 0, {size, 0, 0}, {}, {}, 0}}, PI_COMMAND_BLOCKING) == PI_SUCCESS);
        return bytes;
    }
};

Bytes counting(uint64_t size) {
    Bytes bytes(size);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(1));
    return bytes;
}

std::string error_text(pi_event event) {
    char text[256] = {};
    REQUIRE(piEventGetInfo(event, PI_EVENT_INFO_ERROR_TEXT, sizeof text, text, nullptr) ==
            PI_SUCCESS);
    return text;
}

// A region, copied byte by byte.
void copy_region(const pi_region &region, const Bytes &src, Bytes &dst) {
    const uint64_t rows = std::max<uint64_t>(region.extent[1], 1);
    const uint64_t slices = std::max<uint64_t>(region.extent[2], 1);
    const auto pitches = [&](const uint64_t *pitch) {
        const uint64_t row = pitch[0] != 0 ? pitch[0] : region.extent[0];
        return std::pair(row, pitch[1] != 0 ? pitch[1] : row * rows);
    };
    const auto [src_row, src_slice] = pitches(region.src_pitch);
    const auto [dst_row, dst_slice] = pitches(region.dst_pitch);
    for (uint64_t z = 0; z < slices; ++z)
        for (uint64_t y = 0; y < rows; ++y)
            for (uint64_t x = 0; x < region.extent[0]; ++x)
                dst[region.dst_offset + z * dst_slice + y * dst_row + x] =
                    src[region.src_offset + z * src_slice + y * src_row + x];
}

pi_region random_region(std::mt19937_64 &random) {
    const auto below = [&](uint64_t limit) { return random() % limit; };
    pi_region region{};
    region.src_offset = below(20);
    region.dst_offset = below(20);
    region.extent[0] = 1 + below(9);
    region.extent[1] = below(5);
    region.extent[2] = below(4);
    const uint64_t rows = std::max<uint64_t>(region.extent[1], 1);
    for (uint64_t *pitch : {region.src_pitch, region.dst_pitch}) {
        if (below(2) == 0)
            pitch[0] = region.extent[0] + below(4);
        const uint64_t row = pitch[0] != 0 ? pitch[0] : region.extent[0];
        if (below(2) == 0)
            pitch[1] = row * rows + below(5);
    }
    return region;
}

} // namespace

TEST_CASE("random regions are written and read as byte by byte") {
    const uint64_t seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const Machine machine(400);
    Bytes model = counting(400);
    machine.set(model);
    for (int round = 0; round < 60; ++round) {
        Bytes host(400);
        for (unsigned char &byte : host)
            byte = static_cast<unsigned char>(random());
        const pi_region region = random_region(random);
        if (round % 2 == 0) {
            REQUIRE(machine.write(host, {region}, PI_COMMAND_BLOCKING) == PI_SUCCESS);
            copy_region(region, host, model);
        } else {
            Bytes expected = host;
            copy_region(region, model, expected);
            REQUIRE(machine.read(host, {region}, PI_COMMAND_BLOCKING) == PI_SUCCESS);
            REQUIRE(host == expected);
        }
        REQUIRE(machine.get() == model);
    }
    CHECK(machine.mapped() == 0);
}

TEST_CASE("several regions are one command, and the bytes between them survive") {
    const Machine machine(64);
    Bytes model = counting(64);
    machine.set(model);
    const Bytes host = {100, 101, 102, 103, 104, 105};
    const uint64_t before = machine.map_calls();
    REQUIRE(machine.write(host, {{0, 40, {2, 0, 0}, {}, {}, 0}, {2, 3, {4, 0, 0}, {}, {}, 0}},
                          PI_COMMAND_BLOCKING) == PI_SUCCESS);
    CHECK(machine.map_calls() == before + 1);
    std::copy_n(host.begin(), 2, model.begin() + 40);
    std::copy_n(host.begin() + 2, 4, model.begin() + 3);
    CHECK(machine.get() == model);
}

TEST_CASE("a fill repeats patterns of every size and touches nothing else") {
    const Machine machine(512);
    for (uint64_t unit = 1; unit <= 128; unit *= 2) {
        Bytes model = counting(512);
        machine.set(model);
        const Bytes pattern = [&] {
            Bytes bytes(unit);
            std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(77));
            return bytes;
        }();
        REQUIRE(machine.fill(pattern, unit, unit * 3, PI_COMMAND_BLOCKING) == PI_SUCCESS);
        for (uint64_t i = 0; i < unit * 3; ++i)
            model[unit + i] = pattern[i % unit];
        REQUIRE(machine.get() == model);
    }
}

TEST_CASE("a command behind an unsignalled host event does nothing before the signal") {
    Machine machine;
    const pi_event gate = machine.host_event();
    pi_event event = nullptr;
    REQUIRE(machine.fill({7}, 0, 64, 0, gate, &event) == PI_SUCCESS);
    CHECK(piEventWait(event, 0) == PI_ERROR_TIMEOUT);
    CHECK(machine.mapped() == 0);
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    REQUIRE(piEventWait(event, patience) == PI_SUCCESS);
    CHECK(machine.mapped() == 0);
    CHECK(machine.get() == Bytes(64, 7));
    piEventRelease(event);
    piEventRelease(gate);
}

TEST_CASE("in an in-order queue later commands begin after it, even if it is held back") {
    Machine machine;
    const pi_event gate = machine.host_event();
    REQUIRE(machine.fill({1}, 0, 64, 0, gate) == PI_SUCCESS);
    REQUIRE(machine.fill({2}, 0, 32, 0) == PI_SUCCESS);
    Bytes seen(64);
    pi_event read = nullptr;
    REQUIRE(machine.read(seen, {{0, 0, {64, 0, 0}, {}, {}, 0}}, 0, nullptr, &read) == PI_SUCCESS);
    // And a command of the plugin itself.
    auto map = pi::desc<pi_buffer_map_desc>();
    void *address = nullptr;
    map.flags = PI_MAP_READ;
    map.mem = machine.mem;
    map.size = 64;
    map.out_pointer = &address;
    pi_event mapped = nullptr;
    REQUIRE(piEnqueueMemBufferMap(machine.queue, &map, 0, nullptr, &mapped) == PI_SUCCESS);
    CHECK(piEventWait(mapped, 0) == PI_ERROR_TIMEOUT);
    CHECK(piEventWait(read, 0) == PI_ERROR_TIMEOUT);

    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    REQUIRE(piEventWait(read, patience) == PI_SUCCESS);
    REQUIRE(piEventWait(mapped, patience) == PI_SUCCESS);
    Bytes expected(64, 1);
    std::fill_n(expected.begin(), 32, static_cast<unsigned char>(2));
    CHECK(seen == expected);
    CHECK(std::memcmp(address, expected.data(), 64) == 0);

    auto unmap = pi::desc<pi_unmap_desc>();
    unmap.mem = machine.mem;
    unmap.pointer = address;
    unmap.flags = 0;
    pi_event unmapped = nullptr;
    REQUIRE(piEnqueueMemUnmap(machine.queue, &unmap, 0, nullptr, &unmapped) == PI_SUCCESS);
    CHECK(piEventWait(unmapped, patience) == PI_SUCCESS);
    for (pi_event event : {gate, read, mapped, unmapped})
        piEventRelease(event);
}

TEST_CASE("in an out-of-order queue it overtakes a held-back command") {
    Machine machine(64, PI_QUEUE_OUT_OF_ORDER);
    const pi_event gate = machine.host_event();
    pi_event held = nullptr;
    REQUIRE(machine.fill({1}, 0, 32, 0, gate, &held) == PI_SUCCESS);
    REQUIRE(machine.fill({2}, 32, 32, PI_COMMAND_BLOCKING) == PI_SUCCESS);
    CHECK(piEventWait(held, 0) == PI_ERROR_TIMEOUT);
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    CHECK(piEventWait(held, patience) == PI_SUCCESS);
    piEventRelease(held);
    piEventRelease(gate);
}

TEST_CASE("if its wait list fails the command does nothing and fails with the root's text") {
    Machine machine;
    machine.set(counting(64));
    const pi_event gate = machine.host_event();
    pi_event event = nullptr;
    pi_event later = nullptr;
    REQUIRE(machine.fill({7}, 0, 64, 0, gate, &event) == PI_SUCCESS);
    REQUIRE(machine.fill({9}, 60, 4, 0, nullptr, &later) == PI_SUCCESS);
    REQUIRE(piEventSignalHost(gate, PI_ERROR_DEVICE_LOST) == PI_SUCCESS);
    CHECK(piEventWait(event, patience) == PI_ERROR_DEPENDENCY_FAILED);
    CHECK(last_error() == "a host event signalled with an error");
    CHECK(error_text(event) == "a host event signalled with an error");
    // Only wait lists carry errors: later commands of the queue run.
    CHECK(piEventWait(later, patience) == PI_SUCCESS);
    Bytes expected = counting(64);
    std::fill_n(expected.begin() + 60, 4, static_cast<unsigned char>(9));
    CHECK(machine.get() == expected);
    for (pi_event each : {gate, event, later})
        piEventRelease(each);
}

TEST_CASE("a map that fails when it runs fails the command with its text") {
    Machine machine;
    machine.plugin->fail_map_commands(machine.loader.plugins()[0], 1);
    pi_event event = nullptr;
    REQUIRE(machine.fill({7}, 0, 64, 0, nullptr, &event) == PI_SUCCESS);
    CHECK(piEventWait(event, patience) < 0);
    CHECK(error_text(event) == "an injected failure: the map");
    piEventRelease(event);
    CHECK(machine.get() == Bytes(64, 0));

    machine.plugin->fail_map_commands(machine.loader.plugins()[0], 1);
    CHECK(machine.fill({7}, 0, 64, PI_COMMAND_BLOCKING) < 0);
    CHECK(last_error() == "an injected failure: the map");
}

TEST_CASE("regions and patterns are copied during the call") {
    Machine machine;
    const pi_event gate = machine.host_event();
    Bytes pattern = {5, 6};
    std::vector<pi_region> regions = {{0, 10, {4, 0, 0}, {}, {}, 0}};
    const Bytes host = {1, 2, 3, 4};
    pi_event written = nullptr;
    REQUIRE(machine.fill(pattern, 0, 8, 0, gate) == PI_SUCCESS);
    REQUIRE(machine.write(host, regions, 0, gate, &written) == PI_SUCCESS);
    pattern.assign(2, 99);
    regions[0] = {};
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    REQUIRE(piEventWait(written, patience) == PI_SUCCESS);
    Bytes expected(64);
    for (int i = 0; i < 8; ++i)
        expected[static_cast<std::size_t>(i)] = static_cast<unsigned char>(5 + i % 2);
    std::copy(host.begin(), host.end(), expected.begin() + 10);
    CHECK(machine.get() == expected);
    piEventRelease(written);
    piEventRelease(gate);
}

TEST_CASE("everything may be released right after the call, and the command still ends") {
    Machine machine;
    const pi_event gate = machine.host_event();
    Bytes seen(64);
    REQUIRE(machine.fill({3}, 0, 64, 0, gate) == PI_SUCCESS);
    pi_event event = nullptr;
    REQUIRE(machine.read(seen, {{0, 0, {64, 0, 0}, {}, {}, 0}}, 0, nullptr, &event) == PI_SUCCESS);
    machine.release_objects();
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    piEventRelease(gate);
    REQUIRE(piEventWait(event, patience) == PI_SUCCESS);
    piEventRelease(event);
    CHECK(seen == Bytes(64, 3));
    // The machine's end waits for the last object and finds none left.
}

TEST_CASE("a blocking command in a callback is refused before anything is enqueued") {
    struct Seen {
        Machine machine;
        pi_result blocking = PI_SUCCESS;
        pi_result plain = PI_ERROR_INTERNAL;
        uint64_t maps = 99;
        pi_event event = nullptr;
    } seen;
    const pi_event gate = seen.machine.host_event();
    REQUIRE(piEventSetCallback(
                gate,
                [](pi_event, pi_result, void *user_data) {
                    auto *out = static_cast<Seen *>(user_data);
                    const uint64_t before = out->machine.map_calls();
                    out->blocking = out->machine.fill({1}, 0, 64, PI_COMMAND_BLOCKING);
                    out->maps = out->machine.map_calls() - before;
                    out->plain = out->machine.fill({2}, 0, 64, 0, nullptr, &out->event);
                },
                &seen) == PI_SUCCESS);
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    CHECK(seen.blocking == PI_ERROR_WOULD_BLOCK);
    CHECK(seen.maps == 0);
    REQUIRE(seen.plain == PI_SUCCESS);
    CHECK(piEventWait(seen.event, patience) == PI_SUCCESS);
    CHECK(seen.machine.get() == Bytes(64, 2));
    piEventRelease(seen.event);
    piEventRelease(gate);
}

TEST_CASE("when a step of the enqueue fails nothing is enqueued and nothing stays mapped") {
    Machine machine;
    const pi_plugin plugin = machine.loader.plugins()[0];
    const auto untouched = reinterpret_cast<pi_event>(&machine);
    pi_event event = untouched;
    SECTION("no queue for the unmap") {
        machine.plugin->fail_queue_creations(plugin, 1);
        CHECK(machine.fill({7}, 0, 64, 0, nullptr, &event) == PI_ERROR_OUT_OF_RESOURCES);
        CHECK_THAT(last_error(), Contains("piEnqueueMemBufferFill") && Contains("injected"));
    }
    SECTION("no event for the end, after the map is enqueued") {
        machine.plugin->fail_events_wait_calls(plugin, 1);
        CHECK(machine.fill({7}, 0, 64, 0, nullptr, &event) == PI_ERROR_OUT_OF_RESOURCES);
        CHECK_THAT(last_error(), Contains("piEnqueueMemBufferFill") && Contains("injected"));
    }
    SECTION("no callback, after the map is enqueued") {
        machine.plugin->fail_callbacks(plugin, 1);
        CHECK(machine.fill({7}, 0, 64, 0, nullptr, &event) == PI_ERROR_OUT_OF_RESOURCES);
        CHECK_THAT(last_error(), Contains("piEnqueueMemBufferFill") && Contains("injected"));
    }
    SECTION("a NULL wait list") {
        auto desc = pi::desc<pi_buffer_fill_desc>();
        desc.mem = machine.mem;
        desc.pattern = "p";
        desc.pattern_size = desc.size = 1;
        CHECK(piEnqueueMemBufferFill(machine.queue, &desc, 2, nullptr, &event) ==
              PI_ERROR_INVALID_WAIT_LIST);
    }
    SECTION("a range past the end") {
        CHECK(machine.fill({7}, 1, 64, 0, nullptr, &event) == PI_ERROR_INVALID_SIZE);
        CHECK_THAT(last_error(), Contains("piEnqueueMemBufferFill") && Contains("past the end"));
    }
    CHECK(event == untouched);
    CHECK(machine.get() == Bytes(64, 0));
    CHECK(machine.mapped() == 0);
}

TEST_CASE("an unmap that cannot be enqueued fails the command") {
    Machine machine;
    machine.plugin->fail_unmap_calls(machine.loader.plugins()[0], 1);
    pi_event event = nullptr;
    REQUIRE(machine.fill({7}, 0, 64, 0, nullptr, &event) == PI_SUCCESS);
    CHECK(piEventWait(event, patience) == PI_ERROR_DEPENDENCY_FAILED);
    piEventRelease(event);
}

TEST_CASE("wrong arguments are refused with a text that names them") {
    Machine machine;
    Bytes bytes(64);
    const auto write = [&](pi_region region) { return machine.write(bytes, {region}, 0); };
    CHECK(write({0, 0, {0, 1, 1}, {}, {}, 0}) == PI_ERROR_INVALID_SIZE);
    CHECK_THAT(last_error(), Contains("regions[0].extent[0] is 0"));
    CHECK(write({0, 0, {8, 2, 1}, {4, 0}, {}, 0}) == PI_ERROR_INVALID_SIZE);
    CHECK_THAT(last_error(), Contains("src_pitch[0] is 4"));
    CHECK(write({0, 0, {8, 2, 2}, {}, {8, 15}, 0}) == PI_ERROR_INVALID_SIZE);
    CHECK_THAT(last_error(), Contains("dst_pitch[1] is 15"));
    CHECK(write({0, UINT64_MAX, {8, 1, 1}, {}, {}, 0}) == PI_ERROR_INVALID_SIZE);
    CHECK(write({0, 0, {UINT64_MAX, UINT64_MAX, 1}, {}, {}, 0}) == PI_ERROR_INVALID_SIZE);
    CHECK(write({0, 0, {8, UINT64_MAX, UINT64_MAX}, {}, {}, 0}) == PI_ERROR_INVALID_SIZE);
    CHECK(write({0, 0, {8, 1, 1}, {}, {}, 7}) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(machine.write(bytes, {}, 0) == PI_ERROR_INVALID_SIZE);
    CHECK_THAT(last_error(), Contains("region_count is 0"));
    CHECK(machine.write({}, {{0, 0, {8, 1, 1}, {}, {}, 0}}, 0) == PI_ERROR_INVALID_NULL_POINTER);
    CHECK(machine.write(bytes, {{0, 0, {8, 1, 1}, {}, {}, 0}}, 1 << 20) ==
          PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(machine.fill({1, 2, 3}, 0, 3, 0) == PI_ERROR_INVALID_SIZE);
    CHECK_THAT(last_error(), Contains("pattern_size is 3"));
    CHECK(machine.fill({1, 2}, 1, 2, 0) == PI_ERROR_INVALID_SIZE);
    CHECK(machine.fill({1, 2}, 0, 0, 0) == PI_ERROR_INVALID_SIZE);
    CHECK(machine.fill({}, 0, 4, 0) == PI_ERROR_INVALID_NULL_POINTER);
    CHECK(piEnqueueMemBufferFill(machine.queue, nullptr, 0, nullptr, nullptr) ==
          PI_ERROR_INVALID_NULL_POINTER);
    CHECK(last_error() == "piEnqueueMemBufferFill: desc is NULL");

    const Machine other;
    const pi_mem own = std::exchange(machine.mem, other.mem);
    CHECK(machine.fill({1}, 0, 4, 0) == PI_ERROR_INVALID_MEM_OBJECT);
    machine.mem = reinterpret_cast<pi_mem>(machine.queue);
    CHECK(machine.fill({1}, 0, 4, 0) == PI_ERROR_INVALID_MEM_OBJECT);
    machine.mem = own;
    const pi_event another = other.host_event();
    CHECK(machine.fill({1}, 0, 4, 0, another) == PI_ERROR_INVALID_EVENT);
    piEventRelease(another);
}
