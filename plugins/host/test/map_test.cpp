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

TEST_CASE("one unmap too many is refused while the first is delayed") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(100);
    const Owned<pi_event> gate = host.make_host_event();
    const pi_event wait = gate;
    void *pointer = nullptr;
    const auto map = map_desc(mem, 0, 50, &pointer, uint64_t{PI_COMMAND_BLOCKING} | PI_MAP_READ);
    OK(piEnqueueMemBufferMap(queue, &map, 0, nullptr, nullptr));
    const auto unmap = unmap_desc(mem, pointer);
    OK(piEnqueueMemUnmap(queue, &unmap, 1, &wait, nullptr));
    REFUSED(PI_ERROR_INVALID_VALUE, "unmapped already",
            piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr));
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piQueueFinish(queue));
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
