// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <array>

using namespace pi_test;

TEST_CASE("a map returns the buffer's own address") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(100);
    void *base = nullptr, *pointer = nullptr;
    OK(piMemGetHostPointer(mem, &base));
    const auto map =
        map_desc(mem, 10, 20, &pointer, uint64_t{PI_COMMAND_BLOCKING} | PI_MAP_READ | PI_MAP_WRITE);
    OK(piEnqueueMemBufferMap(queue, &map, 0, nullptr, nullptr));
    REQUIRE(pointer == static_cast<std::byte *>(base) + 10);
    std::memset(pointer, 5, 20);
    const auto unmap = unmap_desc(mem, pointer, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr));
    CHECK(contents(host, mem)[29] == std::byte{5});
}

TEST_CASE("a delayed map writes its pointer when it completes, and may be unmapped before") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(100);
    void *base = nullptr, *pointer = nullptr;
    OK(piMemGetHostPointer(mem, &base));
    const Owned<pi_event> gate = host.make_host_event();
    const pi_event wait = gate;
    Owned<pi_event> mapped, unmapped;
    const auto map = map_desc(mem, 0, 100, &pointer);
    OK(piEnqueueMemBufferMap(queue, &map, 1, &wait, mapped.out()));
    CHECK(pointer == nullptr);
    const auto unmap = unmap_desc(mem, base);
    OK(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, unmapped.out()));
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piEventWait(unmapped, patience));
    CHECK(pointer == base);
    OK(piEventWait(mapped, 0));
}

TEST_CASE("a failed map writes no pointer, and its unmap fails") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(100);
    void *base = nullptr, *pointer = nullptr;
    OK(piMemGetHostPointer(mem, &base));
    const Owned<pi_event> gate = host.make_host_event();
    const pi_event wait = gate;
    Owned<pi_event> mapped, unmapped;
    const auto map = map_desc(mem, 0, 100, &pointer);
    OK(piEnqueueMemBufferMap(queue, &map, 1, &wait, mapped.out()));
    const auto unmap = unmap_desc(mem, base);
    OK(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, unmapped.out()));
    OK(piEventSignalHost(gate, PI_ERROR_OUT_OF_RESOURCES));
    REFUSED(PI_ERROR_INVALID_VALUE, "was not mapped", piEventWait(unmapped, patience));
    REFUSED(PI_ERROR_DEPENDENCY_FAILED, "signalled", piEventWait(mapped, patience));
    CHECK(pointer == nullptr);
    REFUSED(PI_ERROR_INVALID_VALUE, "not what a map of mem gave",
            piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr));
}

TEST_CASE("each map needs its own unmap") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(100);
    void *pointers[3] = {};
    for (void *&pointer : pointers) {
        const auto map =
            map_desc(mem, 0, 50, &pointer, uint64_t{PI_COMMAND_BLOCKING} | PI_MAP_READ);
        OK(piEnqueueMemBufferMap(queue, &map, 0, nullptr, nullptr));
    }
    CHECK(pointers[0] == pointers[2]);
    const auto unmap = unmap_desc(mem, pointers[0], PI_COMMAND_BLOCKING);
    for (int i = 0; i < 3; ++i)
        OK(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr));
    REFUSED(PI_ERROR_INVALID_VALUE, "unmapped already",
            piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr));
}

namespace {

/// A buffer that is mapped for reading, and an unmap of it that waits for the gate.
struct HeldUnmap {
    Host host{};
    Owned<pi_queue> queue = host.make_queue();
    Owned<pi_mem> mem = host.make_buffer(100);
    Owned<pi_event> gate = host.make_host_event();
    pi_unmap_desc unmap{};
    Owned<pi_event> first{};

    HeldUnmap() {
        void *pointer = nullptr;
        const auto map =
            map_desc(mem, 0, 50, &pointer, uint64_t{PI_COMMAND_BLOCKING} | PI_MAP_READ);
        OK(piEnqueueMemBufferMap(queue, &map, 0, nullptr, nullptr));
        unmap = unmap_desc(mem, pointer);
        const pi_event wait = gate;
        OK(piEnqueueMemUnmap(queue, &unmap, 1, &wait, first.out()));
    }
    pi_result again() const { return piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr); }
};

} // namespace

TEST_CASE("one unmap too many is refused, also while the first is delayed") {
    const HeldUnmap held;
    REFUSED(PI_ERROR_INVALID_VALUE, "unmapped already", held.again());
    OK(piEventSignalHost(held.gate, PI_SUCCESS));
    OK(piEventWait(held.first, patience));
}

TEST_CASE("an unmap ends a map that has run, while another one of the pointer is delayed") {
    const Host host;
    const Owned<pi_queue> held_queue = host.make_queue(), queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(100);
    const Owned<pi_event> gate = host.make_host_event();
    const pi_event wait = gate;
    void *held = nullptr, *pointer = nullptr;
    Owned<pi_event> mapped;
    const auto later = map_desc(mem, 0, 50, &held, PI_MAP_READ);
    OK(piEnqueueMemBufferMap(held_queue, &later, 1, &wait, mapped.out()));
    const auto map = map_desc(mem, 0, 50, &pointer, uint64_t{PI_COMMAND_BLOCKING} | PI_MAP_READ);
    OK(piEnqueueMemBufferMap(queue, &map, 0, nullptr, nullptr));
    const auto unmap = unmap_desc(mem, pointer, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr));
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piEventWait(mapped, patience));
    const auto last = unmap_desc(mem, held, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemUnmap(queue, &last, 0, nullptr, nullptr));
    REFUSED(PI_ERROR_INVALID_VALUE, "unmapped already",
            piEnqueueMemUnmap(queue, &last, 0, nullptr, nullptr));
}

TEST_CASE("an unmap that never runs leaves the map") {
    const HeldUnmap held;
    OK(piEventSignalHost(held.gate, PI_ERROR_BACKEND));
    CHECK(piEventWait(held.first, patience) == PI_ERROR_DEPENDENCY_FAILED);
    OK(held.again());
    OK(piQueueFinish(held.queue));
}

TEST_CASE("an unmap of a failed map fails when it runs") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    std::array<unsigned char, 100> memory{};
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.flags = PI_MEM_USE_HOST_PTR;
    d.size = memory.size();
    d.host_ptr = memory.data();
    Owned<pi_mem> mem;
    OK(piMemBufferCreate(host.context, host.device, &d, mem.out()));
    const Owned<pi_event> gate = host.make_host_event();
    const pi_event wait = gate;
    void *pointer = nullptr;
    Owned<pi_event> mapped, unmapped;
    const auto map = map_desc(mem, 0, 50, &pointer, PI_MAP_READ);
    OK(piEnqueueMemBufferMap(queue, &map, 1, &wait, mapped.out()));
    const auto unmap = unmap_desc(mem, memory.data());
    OK(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, unmapped.out()));
    OK(piEventSignalHost(gate, PI_ERROR_BACKEND));
    CHECK(piEventWait(mapped, patience) == PI_ERROR_DEPENDENCY_FAILED);
    REFUSED(PI_ERROR_INVALID_VALUE, "was not mapped", piEventWait(unmapped, patience));
    CHECK(pointer == nullptr);
    REFUSED(PI_ERROR_INVALID_VALUE, "unmapped already",
            piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr));
}

TEST_CASE("bad maps and unmaps are refused") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(100), other = host.make_buffer(100);
    void *pointer = nullptr;
    const auto map = [&](uint64_t offset, uint64_t size, void **out, uint64_t flags) {
        const auto d = map_desc(mem, offset, size, out, flags);
        return piEnqueueMemBufferMap(queue, &d, 0, nullptr, nullptr);
    };
    REFUSED(PI_ERROR_INVALID_SIZE, "past the end", map(50, 51, &pointer, PI_MAP_READ));
    REFUSED(PI_ERROR_INVALID_SIZE, "0 bytes", map(50, 0, &pointer, PI_MAP_READ));
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "out_pointer", map(0, 1, nullptr, PI_MAP_READ));
    REFUSED(PI_ERROR_INVALID_VALUE, "PI_MAP_WRITE_DISCARD", map(0, 1, &pointer, 0));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "flags", map(0, 1, &pointer, 1 << 20));
    CHECK(pointer == nullptr);
    const auto unmap = [&](pi_mem of, void *what) {
        const auto d = unmap_desc(of, what);
        return piEnqueueMemUnmap(queue, &d, 0, nullptr, nullptr);
    };
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "pointer", unmap(mem, nullptr));
    REFUSED(PI_ERROR_INVALID_VALUE, "not what a map of mem gave", unmap(mem, &pointer));
    OK(map(10, 1, &pointer, uint64_t{PI_COMMAND_BLOCKING} | PI_MAP_WRITE_DISCARD));
    REFUSED(PI_ERROR_INVALID_VALUE, "not what a map of mem gave", unmap(other, pointer));
    REFUSED(PI_ERROR_INVALID_VALUE, "not what a map of mem gave",
            unmap(mem, static_cast<std::byte *>(pointer) + 1));
    OK(unmap(mem, pointer));
    OK(piQueueFinish(queue));
}
