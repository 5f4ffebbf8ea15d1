// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <algorithm>

#include <cstring>

using namespace sim_test;

namespace {

/// A board whose accelerator is not coherent with the host.
std::string board(const std::string &flags = R"("host_visible", "maps_in_place", "contiguous")") {
    return R"({"pi_machine": 1, "name": "board", "devices": [{"name": "accelerator",
        "type": "accelerator", "integrated": true, "host_pointer_import": true,
        "scopes": [{"name": "global", "flags": [)" +
           flags + R"(], "capacity": "64 KiB", "min_alignment": 64, "flush_atom": 64,
                    "bus_address": "1 GiB"}]}]})";
}

std::byte *pointer_to(pi_mem mem) {
    void *pointer = nullptr;
    OK(piMemGetHostPointer(mem, &pointer));
    return static_cast<std::byte *>(pointer);
}

} // namespace

TEST_CASE("full memory is refused with the requested and the free size, and can be freed",
          "[sim]") {
    const Simulation machine(two_gpus());
    auto first = machine.buffer(0, 768 << 10);
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.size = 512 << 10;
    pi_mem mem = nullptr;
    REFUSED(PI_ERROR_OUT_OF_DEVICE_MEMORY,
            "512 KiB (524288 bytes) requested, 256 KiB (262144 bytes) free of 1 MiB in scope "
            "\"global\" of a",
            piMemBufferCreate(machine.context, machine.device(0), &d, &mem));
    const auto elsewhere = machine.buffer(1, 512 << 10);
    first.reset();
    const auto second = machine.buffer(0, 1 << 20);
}

TEST_CASE("free memory is the capacity of scope 0 without what is allocated", "[sim]") {
    const Simulation machine(two_gpus());
    const auto available = [&] {
        return info<uint64_t>(piDeviceGetInfo, machine.device(0), PI_DEVICE_INFO_FREE_MEMORY);
    };
    CHECK(available() == 1 << 20);
    {
        const auto mem = machine.buffer(0, 768 << 10);
        const auto elsewhere = machine.buffer(1, 512 << 10);
        CHECK(available() == 256 << 10);
    }
    CHECK(available() == 1 << 20);
}

TEST_CASE("host memory that goes past the end of the address space is refused", "[sim]") {
    const Simulation machine(two_gpus());
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.flags = PI_MEM_USE_HOST_PTR;
    d.size = 8192;
    d.host_ptr = reinterpret_cast<void *>(~uintptr_t{4095});
    pi_mem mem = nullptr;
    REFUSED(PI_ERROR_INVALID_SIZE, "past the end of the address space",
            piMemBufferCreate(machine.context, machine.device(0), &d, &mem));
}

TEST_CASE("the host cannot address a discrete device's memory", "[sim]") {
    const Simulation machine(two_gpus());
    const auto mem = machine.buffer(0, 64);
    void *pointer = nullptr;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "not host visible", piMemGetHostPointer(mem, &pointer));
    CHECK(info<pi_coherence>(piMemGetInfo, mem, PI_MEM_INFO_COHERENCE) == PI_COHERENCE_MAP_UNMAP);
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "not host visible", piMemFlush(mem, 0, 64));
}

TEST_CASE("a device's writes are stale to the host until it invalidates", "[sim]") {
    const Simulation machine(board());
    const auto queue = machine.queue();
    const auto mem = machine.buffer(0, 256);
    CHECK(info<pi_coherence>(piMemGetInfo, mem, PI_MEM_INFO_COHERENCE) ==
          PI_COHERENCE_FLUSH_INVALIDATE);
    const Bytes bytes = some_bytes(256);
    OK(piEventWait(write(queue, mem, bytes), patience));
    const std::byte *host = pointer_to(mem);
    CHECK(Bytes(host, host + 256) == Bytes(256));
    OK(piMemInvalidate(mem, 64, 1));
    CHECK(Bytes(host + 64, host + 128) == Bytes(bytes.begin() + 64, bytes.begin() + 128));
    CHECK(Bytes(host, host + 64) == Bytes(64));
    CHECK(Bytes(host + 128, host + 256) == Bytes(128));
}

TEST_CASE("the host's writes are stale to the device until it flushes, in units of flush_atom",
          "[sim]") {
    const Simulation machine(board());
    const auto queue = machine.queue();
    const auto mem = machine.buffer(0, 256);
    OK(piEventWait(write(queue, mem, Bytes(256, std::byte{9})), patience));
    std::memset(pointer_to(mem), 5, 256);
    CHECK(read(queue, mem, 256) == Bytes(256, std::byte{9}));
    OK(piMemFlush(mem, 100, 10));
    Bytes expected(256, std::byte{9});
    std::fill(expected.begin() + 64, expected.begin() + 128, std::byte{5});
    CHECK(read(queue, mem, 256) == expected);
}

TEST_CASE("only commands move bytes of application memory that a device copies", "[sim]") {
    const Simulation machine(R"({"pi_machine": 1, "name": "copies", "devices": [
        {"name": "a", "type": "gpu", "integrated": true, "host_pointer_import": true,
         "host_pointer_copies": true, "scopes": [{"name": "global", "capacity": "64 KiB"}]}]})");
    const auto queue = machine.queue();
    Bytes bytes(256, std::byte{1});
    Owned<pi_mem> mem;
    SECTION("by PI_MEM_USE_HOST_PTR") {
        auto used = pi::desc<pi_mem_buffer_desc>();
        used.flags = PI_MEM_USE_HOST_PTR;
        used.size = bytes.size();
        used.host_ptr = bytes.data();
        OK(piMemBufferCreate(machine.context, machine.device(), &used, mem.out()));
    }
    SECTION("by an import") {
        auto imported = pi::desc<pi_mem_import_desc>();
        imported.size = bytes.size();
        imported.handle.type = PI_EXTERNAL_HOST_POINTER;
        imported.handle.pointer = bytes.data();
        OK(piMemImport(machine.context, machine.device(), &imported, mem.out()));
    }
    CHECK(info<pi_coherence>(piMemGetInfo, mem, PI_MEM_INFO_COHERENCE) == PI_COHERENCE_MAP_UNMAP);
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "PI_COHERENCE_MAP_UNMAP", piMemFlush(mem, 0, 256));
    CHECK(read(queue, mem, 256) == Bytes(256, std::byte{1}));
    OK(piEventWait(write(queue, mem, Bytes(256, std::byte{2})), patience));
    CHECK(bytes == Bytes(256, std::byte{1}));
    const auto map_and_unmap = [&](uint64_t flags, std::byte host_writes) {
        void *pointer = nullptr;
        const auto map = map_desc(mem, 64, 64, &pointer, flags | PI_COMMAND_BLOCKING);
        OK(piEnqueueMemBufferMap(queue, &map, 0, nullptr, nullptr));
        CHECK(pointer == bytes.data() + 64);
        const std::byte seen = bytes[64];
        bytes[64] = host_writes;
        const auto unmap = unmap_desc(mem, pointer, PI_COMMAND_BLOCKING);
        OK(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr));
        return seen;
    };
    bytes[64] = std::byte{3}; // outside a map: lost
    CHECK(map_and_unmap(PI_MAP_WRITE, std::byte{4}) == std::byte{2});
    CHECK(read(queue, mem, 256)[64] == std::byte{4});
    CHECK(read(queue, mem, 256)[65] == std::byte{2});
    CHECK(map_and_unmap(PI_MAP_WRITE_DISCARD, std::byte{5}) == std::byte{0xDB});
    CHECK(read(queue, mem, 256)[64] == std::byte{5});
    CHECK(map_and_unmap(PI_MAP_READ, std::byte{6}) == std::byte{5});
    CHECK(read(queue, mem, 256)[64] == std::byte{5});
    std::fill(bytes.begin(), bytes.end(), std::byte{7});
    OK(piEventWait(write(queue, mem, bytes), patience)); // from the same memory, or a copy of it
    CHECK(read(queue, mem, 256) == Bytes(256, std::byte{7}));
}

TEST_CASE("a map makes the device's bytes visible, its unmap the host's, and only in its range",
          "[sim]") {
    const Simulation machine(board());
    const auto queue = machine.queue();
    const auto mem = machine.buffer(0, 256);
    const Bytes bytes = some_bytes(256);
    OK(piEventWait(write(queue, mem, bytes), patience));
    void *pointer = nullptr;
    const auto map =
        map_desc(mem, 10, 20, &pointer, PI_MAP_READ | PI_MAP_WRITE | PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferMap(queue, &map, 0, nullptr, nullptr));
    auto *mapped = static_cast<std::byte *>(pointer);
    CHECK(mapped == pointer_to(mem) + 10);
    CHECK(Bytes(mapped, mapped + 20) == Bytes(bytes.begin() + 10, bytes.begin() + 30));
    CHECK(mapped[20] == std::byte{0});
    mapped[0] = std::byte{77};
    const auto unmap = unmap_desc(mem, pointer, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr));
    Bytes expected = bytes;
    expected[10] = std::byte{77};
    CHECK(read(queue, mem, 256) == expected);
}

TEST_CASE("a flush, an invalidate and a map in place take the time of their whole units", "[sim]") {
    // A byte takes 2 ns after 30 ns; by default 1 ns after 10 ns, as within the host's memory.
    const bool own = GENERATE(true, false);
    std::string json = board();
    json.insert(json.rfind('}'), R"(, "host": {"bandwidth": "1 GB/s", "latency": 10})");
    if (own)
        json.insert(json.find("\"flush_atom\""),
                    R"("maintenance": {"bandwidth": "500 MB/s", "latency": 30}, )");
    const auto time = [own](uint64_t bytes) { return own ? 30 + 2 * bytes : 10 + bytes; };
    const Simulation machine(json);
    const auto queue = machine.queue();
    const auto mem = machine.buffer(0, 256);
    uint64_t begin = machine.now();
    OK(piMemFlush(mem, 100, 10));
    CHECK(machine.now() == begin + time(64));
    OK(piMemInvalidate(mem, 60, 10));
    CHECK(machine.now() == begin + time(64) + time(128));
    begin = machine.now();
    void *pointer = nullptr;
    const auto map = map_desc(mem, 10, 20, &pointer, PI_MAP_READ | PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferMap(queue, &map, 0, nullptr, nullptr));
    CHECK(machine.now() == begin + time(20));
    const auto unmap = unmap_desc(mem, pointer, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr));
    CHECK(machine.now() == begin + time(20)); // it was only read
}

TEST_CASE("a flush in a callback delays only the rest of the callback", "[sim]") {
    std::string json = board();
    json.insert(json.rfind('}'), R"(, "host": {"bandwidth": "1 GB/s", "latency": 10})");
    const Simulation machine(json);
    const auto queue = machine.queue();
    const auto mem = machine.buffer(0, 256);
    const auto other = machine.buffer(0, 64);
    Owned<pi_event> go, after;
    OK(piEventCreateHost(machine.context, nullptr, go.out()));
    OK(piEventCreateHost(machine.context, nullptr, after.out()));
    struct Work {
        pi_mem mem;
        pi_event after;
    } work{mem, after};
    const uint64_t begin = machine.now();
    OK(piEventSetCallback(
        go,
        [](pi_event, pi_result, void *user_data) {
            const Work &todo = *static_cast<Work *>(user_data);
            piMemFlush(todo.mem, 0, 128);
            piEventSignalHost(todo.after, PI_SUCCESS);
        },
        &work));
    const auto behind = write(queue, other, Bytes(64), {after});
    OK(piEventSignalHost(go, PI_SUCCESS));
    CHECK(machine.now() == begin);
    CHECK(times_of(behind).start == begin + 138);
}

TEST_CASE("a coherent device flushes in no time", "[sim]") {
    const Simulation machine(board(R"("host_visible", "coherent", "contiguous")"));
    const auto mem = machine.buffer(0, 64);
    const uint64_t begin = machine.now();
    OK(piMemFlush(mem, 0, 64));
    OK(piMemInvalidate(mem, 0, 64));
    CHECK(machine.now() == begin);
}

TEST_CASE("imported memory is stale, too, if the device is not coherent", "[sim]") {
    const Simulation machine(board());
    const auto queue = machine.queue();
    Bytes memory = some_bytes(128);
    auto d = pi::desc<pi_mem_import_desc>();
    d.size = memory.size();
    d.handle.type = PI_EXTERNAL_HOST_POINTER;
    d.handle.pointer = memory.data();
    Owned<pi_mem> mem;
    OK(piMemImport(machine.context, machine.device(), &d, mem.out()));
    const Bytes before = memory;
    CHECK(read(queue, mem, 128) == before);
    memory[3] = std::byte{200};
    CHECK(read(queue, mem, 128) == before);
    OK(piMemFlush(mem, 3, 1));
    CHECK(read(queue, mem, 128) == memory);
    OK(piEventWait(write(queue, mem, Bytes(128, std::byte{4})), patience));
    CHECK(memory[100] == before[100]);
    OK(piMemInvalidate(mem, 0, 128));
    CHECK(memory == Bytes(128, std::byte{4}));
}

TEST_CASE("a coherent device has no stale bytes", "[sim]") {
    const Simulation machine(board(R"("host_visible", "coherent", "contiguous")"));
    const auto queue = machine.queue();
    const auto mem = machine.buffer(0, 64);
    const Bytes bytes = some_bytes(64);
    OK(piEventWait(write(queue, mem, bytes), patience));
    CHECK(Bytes(pointer_to(mem), pointer_to(mem) + 64) == bytes);
}

TEST_CASE("contiguous memory has bus addresses that do not overlap, and runs out of free ranges",
          "[sim]") {
    const Simulation machine(board());
    const auto address = [](pi_mem mem) {
        return info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_BUS_ADDRESS);
    };
    constexpr uint64_t piece = 16 << 10;
    std::vector<Owned<pi_mem>> pieces;
    for (int i = 0; i < 4; ++i)
        pieces.push_back(machine.buffer(0, piece, 0, PI_MEM_REQUIRE_CONTIGUOUS));
    for (uint64_t i = 0; i < 4; ++i)
        CHECK(address(pieces[i]) == (1u << 30) + i * piece);
    pieces[0].reset();
    pieces[2].reset();
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.size = 2 * piece;
    d.flags = PI_MEM_REQUIRE_CONTIGUOUS;
    pi_mem mem = nullptr;
    REFUSED(PI_ERROR_OUT_OF_DEVICE_MEMORY, "no free range",
            piMemBufferCreate(machine.context, machine.device(), &d, &mem));
    const auto scattered = machine.buffer(0, 2 * piece);
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_REQUIRE_CONTIGUOUS",
            piMemGetInfo(scattered, PI_MEM_INFO_BUS_ADDRESS, 0, nullptr, nullptr));
}

TEST_CASE("memory has the alignment of its scope, up to the largest in a file", "[sim]") {
    const Simulation machine(R"({"pi_machine": 1, "name": "aligned", "devices": [{"name": "a",
        "type": "gpu", "scopes": [{"name": "global", "flags": ["host_visible"],
        "capacity": "1 MiB", "min_alignment": "1 GiB"}]}]})");
    constexpr uint64_t largest = 1 << 30;
    pi_memory_scope scope{};
    OK(piDeviceGetMemoryScopes(machine.device(), 1, &scope, nullptr));
    CHECK(scope.min_alignment == largest);
    for (int i = 0; i < 2; ++i) { // the first may have it by chance
        const auto mem = machine.buffer(0, 4096);
        CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_ALIGNMENT) >= largest);
        CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_DEVICE_ADDRESS) % largest == 0);
        CHECK(reinterpret_cast<uintptr_t>(pointer_to(mem)) % largest == 0);
    }
}

TEST_CASE("a machine larger than this one can be simulated", "[sim]") {
    const Simulation machine(R"({"pi_machine": 1, "name": "large", "devices": [{"name": "large",
        "type": "gpu", "scopes": [{"name": "global", "capacity": "64 TiB"}]}]})");
    const auto mem = machine.buffer(0, uint64_t{256} << 30);
    const auto queue = machine.queue();
    const Bytes bytes = some_bytes(100);
    OK(piEventWait(write(queue, mem, bytes), patience));
    CHECK(read(queue, mem, 100) == bytes);
}
