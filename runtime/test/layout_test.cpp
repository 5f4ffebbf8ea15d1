// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storages with a layout: places that support layouts allocate memory with it, and the bytes equal
// those of any storage.
#include "simulated.hpp"

#include <catch2/catch.hpp>

using namespace runtime_test;
using Catch::Matchers::Contains;

namespace {

/// 24 rows of 100 bytes in a 2-D scratchpad.
MemoryLayout rows_of_100() {
    return {.element_size = 4, .extents = {4, 6, 25}, .axis_separators = {2}};
}
constexpr uint64_t size = 2400;

/// The pitches of memory that has a layout; else empty.
std::vector<uint64_t> pitches(pi_mem mem) {
    size_t bytes = 0;
    if (piMemGetInfo(mem, PI_MEM_INFO_PITCHES, 0, nullptr, &bytes) != PI_SUCCESS) {
        return {};
    }
    std::vector<uint64_t> found(bytes / sizeof(uint64_t));
    check(piMemGetInfo(mem, PI_MEM_INFO_PITCHES, bytes, found.data(), nullptr),
          "piMemGetInfo(PITCHES)");
    return found;
}

std::vector<uint64_t> pitches_at(const Storage &storage, PlaceIndex place) {
    Acquisition use = storage.buffer().acquire(place, Access::read);
    use.wait(patience);
    return pitches(use.mem());
}

constexpr const char *none = R"("none")";
constexpr const char *migratable = R"("migratable", "bandwidth": "1 GB/s", "latency": "10 us")";
constexpr const char *unified = R"("unified", "residency": "same_memory", "coherence": "coherent",
            "concurrent_writers": "disjoint_bytes")";

/// Two devices with the given memory flags and connection.
std::string two_devices(const std::string &first, const std::string &second,
                        const std::string &connection, const std::string &more = "",
                        const std::string &capacity = "16 MiB") {
    const auto device = [&](const std::string &name, const std::string &flags) {
        return R"({"name": ")" + name + R"(", "type": "accelerator", )" + more +
               R"("scopes": [{"name": "global", "capacity": ")" + capacity + R"(", "flags": [)" +
               flags + "]}]}";
    };
    return R"({"pi_machine": 1, "name": "two devices", "devices": [)" + device("a", first) + "," +
           device("b", second) + R"(], "links": [
        {"between": ["host", "a"], "bandwidth": "1 GB/s", "latency": "10 us"},
        {"between": ["host", "b"], "bandwidth": "1 GB/s", "latency": "10 us"},
        {"between": ["a", "b"], "connection": )" +
           connection + "}]}";
}

/// Moves whole storages and views over the host, from and to each device; checks all bytes.
void check_bytes(const Simulated &machine, const Storage &storage) {
    std::vector<uint8_t> expected = pattern(size, 5);
    host_write(storage.buffer(), 0, expected);
    for (PlaceIndex place = 1; place < machine.topology()->size(); ++place) {
        INFO("place " << place);
        CHECK(device_read(machine, storage.buffer(), place) == expected);
        // From the middle of one row to the middle of another.
        const Buffer view = storage.buffer(130, 1000);
        Acquisition writer = view.acquire(place, Access::write, 77, 333);
        const auto value = static_cast<uint8_t>(place);
        writer.release(machine.fill(writer, value).get());
        std::fill_n(expected.begin() + 130 + 77, 333, value);
        const PlaceIndex other = place % (machine.topology()->size() - 1) + 1;
        CHECK(device_read(machine, view, other) ==
              std::vector<uint8_t>(expected.begin() + 130, expected.begin() + 1130));
        CHECK(host_read(view, 50, 500) ==
              std::vector<uint8_t>(expected.begin() + 180, expected.begin() + 680));
    }
    CHECK(host_read(storage.buffer()) == expected);
}

} // namespace

TEST_CASE("the scratchpad of dsp.json has the rows that a storage requires, and its bytes",
          "[runtime]") {
    const Simulated machine(shipped_machine("dsp"), 2);
    const Runtime runtime(machine.topology());
    const Storage storage(runtime,
                          {.size = size, .scope = "dsp.scratchpad", .layout = rows_of_100()});
    check_bytes(machine, storage);
    const std::vector<uint64_t> found = pitches_at(storage, 1);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == 128); // an aligned row
    CHECK(found[1] == 4);   // an element
    // Both contexts use one memory.
    CHECK(storage.memory_of(1) == storage.memory_of(2));
    CHECK(pitches_at(storage, 2) == found);

    const Storage dense(runtime, {.size = size, .scope = "dsp.scratchpad"});
    CHECK(pitches_at(dense, 1) == std::vector<uint64_t>{1});
    const Storage elsewhere(runtime, {.size = size, .layout = rows_of_100()});
    check_bytes(machine, elsewhere);
    CHECK(pitches_at(elsewhere, 1) ==
          std::vector<uint64_t>{1}); // its memory does not support layouts
}

TEST_CASE("bytes between a device with layouts and one without are right on every route, and "
          "neither uses the "
          "other's memory",
          "[runtime]") {
    const std::string connection = GENERATE(none, migratable, unified);
    const bool both = GENERATE(true, false);
    INFO(connection << (both ? ", both" : ", one") << " with layouts");
    const TextFile file(
        two_devices(R"("layout")", both ? R"("layout")" : R"("poolable")", connection));
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size, .layout = rows_of_100()});
    host_write(storage.buffer(), 0, pattern(size, 1));
    storage.buffer().acquire(1, Access::read).release();
    const std::string text = storage.buffer().explain(2).text;
    const bool refused = text.find("in the storage's layout") != std::string::npos;
    CHECK(refused == !both);
    check_bytes(machine, storage);
    CHECK(pitches_at(storage, 1).size() == 2);
    CHECK(pitches_at(storage, 2).size() == (both ? 2 : 1));
    const bool shared = storage.memory_of(1) == storage.memory_of(2);
    CHECK(shared == (both && connection == unified));
}

TEST_CASE("memory with a layout is neither the host's memory nor mapped in place", "[runtime]") {
    // Without a layout, both places use the host's memory: "global" is scope 0.
    const TextFile file(two_devices(
        R"("layout", "host_visible", "coherent", "maps_in_place")",
        R"("layout", "host_visible", "coherent", "maps_in_place")", none,
        R"("integrated": true, "host_pointer_import": true, "host_pointer_alignment": 64, )"));
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    const Storage plain(runtime, {.size = size});
    check_bytes(machine, plain);
    CHECK(plain.memory_of(1) == plain.memory_of(host_place));

    const Storage storage(runtime, {.size = size, .layout = rows_of_100()});
    check_bytes(machine, storage);
    CHECK(storage.memory_of(1) != storage.memory_of(host_place));
    CHECK(storage.memory_of(1) != storage.memory_of(2));
    CHECK(pitches_at(storage, 1).size() == 2);
    storage.buffer().acquire(1, Access::read).release();
    for (const TransferRecord &record : runtime.log()) {
        CHECK(record.style != BounceStyle::map_source);
        CHECK(record.style != BounceStyle::map_destination);
    }
}

TEST_CASE("memory of one layout never serves another", "[runtime][pool]") {
    const TextFile file(two_devices(R"("layout", "poolable")", R"("poolable")", none));
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    constexpr uint64_t square = 4096;
    // All of the same size.
    const std::vector<MemoryLayout> layouts{
        MemoryLayout(),
        MemoryLayout{1, {64, 64}, {1}},
        MemoryLayout{1, {64, 64}, {}},
        MemoryLayout{2, {64, 32}, {1}},
        MemoryLayout{1, {128, 32}, {1}},
        MemoryLayout{1, {128, 4, 8}, {1}},
        MemoryLayout{1, {128, 4, 8}, {2}},
    };
    const auto statistics = [&] { return runtime.pool_statistics(1); };
    std::vector<std::vector<uint64_t>> first;
    for (size_t round = 0; round < 3; ++round) {
        for (size_t index = 0; index < layouts.size(); ++index) {
            INFO("round " << round << ", layout " << index);
            const Storage storage(runtime, {.size = square, .layout = layouts[index]});
            Acquisition writer = storage.buffer().acquire(1, Access::discard_write);
            const std::vector<uint64_t> found = pitches(writer.mem());
            writer.release();
            if (round == 0) {
                first.push_back(found);
            }
            CHECK(found == first[index]);
            CHECK(found.size() == layouts[index].axis_separators.size() + 1);
            CHECK(statistics().misses == (round == 0 ? index + 1 : layouts.size()));
        }
    }
    CHECK(statistics().hits == 2 * layouts.size());
    CHECK(statistics().blocks_kept == layouts.size());
    // Where memory does not support layouts, all pooled memory is alike.
    for (const MemoryLayout &layout : layouts) {
        const Storage storage(runtime, {.size = square, .layout = layout});
        storage.buffer().acquire(2, Access::discard_write).release();
    }
    CHECK(runtime.pool_statistics(2).misses == 1);
}

TEST_CASE("an impossible layout is refused by the constructor, with argument and value",
          "[runtime]") {
    const Simulated machine(shipped_machine("dsp"));
    const Runtime runtime(machine.topology());
    struct Bad {
        MemoryLayout layout;
        pi_result code;
        std::string text;
    };
    const std::vector<Bad> all{
        {{4, {}, {}}, PI_ERROR_INVALID_VALUE, "layout.extents are 0; 1 to 8"},
        {{4, {1, 1, 1, 1, 1, 1, 1, 1, 600}, {}},
         PI_ERROR_INVALID_VALUE,
         "layout.extents are 9; 1 to 8"},
        {{4, {}, {1}}, PI_ERROR_INVALID_VALUE, "layout.extents are 0; 1 to 8"},
        {{0, {600}, {}}, PI_ERROR_INVALID_SIZE, "layout.element_size is 0"},
        {{4, {24, 0}, {}}, PI_ERROR_INVALID_SIZE, "layout.extents[1] is 0"},
        {{4, {24, 24}, {}}, PI_ERROR_INVALID_SIZE, "layout.extents hold 2304 bytes; size is 2400"},
        {{4, {UINT64_MAX / 2, 24}, {}}, PI_ERROR_INVALID_SIZE, "layout.extents[0] is"},
        {{4, {24, 25}, {0}}, PI_ERROR_INVALID_VALUE, "layout.axis_separators[0] is 0"},
        {{4, {24, 25}, {2}}, PI_ERROR_INVALID_VALUE, "layout.axis_separators[0] is 2"},
        {{4, {4, 6, 25}, {1, 1}}, PI_ERROR_INVALID_VALUE, "layout.axis_separators[1] is 1"},
        {{4, {4, 6, 25}, {2, UINT32_MAX}},
         PI_ERROR_INVALID_VALUE,
         "layout.axis_separators[1] is 4294967295"},
    };
    for (const Bad &bad : all) {
        INFO(bad.text);
        pi_result code = PI_SUCCESS;
        std::string text;
        try {
            Storage(runtime, {.size = size, .scope = "dsp.scratchpad", .layout = bad.layout});
        } catch (const Error &error) {
            code = error.code();
            text = error.what();
        }
        CHECK(code == bad.code);
        CHECK_THAT(text, Contains(bad.text));
    }
    CHECK(runtime.pool_statistics(1).misses == 0);
    CHECK(runtime.finish(std::chrono::seconds(0)));
}

TEST_CASE("a layout whose rows do not fit fails the acquire, and leaves every byte where it was",
          "[runtime]") {
    const TextFile file(two_devices(R"("layout")", R"("poolable")", none, "", "64 KiB"));
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    // Each byte is a row of its own; rows are 64 bytes apart.
    const Storage storage(runtime, {.size = size, .layout = MemoryLayout{1, {size, 1}, {1}}});
    const std::vector<uint8_t> bytes = pattern(size, 9);
    host_write(storage.buffer(), 0, bytes);
    for (int attempt = 0; attempt < 2; ++attempt) {
        CHECK(code_of([&] { storage.buffer().acquire(1, Access::read_write); }) ==
              PI_ERROR_OUT_OF_DEVICE_MEMORY);
        CHECK_FALSE(storage.memory_of(1));
        CHECK(storage.valid(host_place) == RangeSet({0, size}));
        CHECK(runtime.pool_statistics(1).bytes_in_use == 0);
    }
    CHECK(host_read(storage.buffer()) == bytes);
    CHECK(device_read(machine, storage.buffer(), 2) == bytes); // dense there
}
