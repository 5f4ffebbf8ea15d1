// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every invalid argument is refused with its own code and named, nothing is enqueued, and all
// objects stay usable.
#include "fixture.hpp"

#include <functional>

using namespace pi_test;

namespace {

struct Buffers {
    Host host;
    Owned<pi_queue> queue = host.make_queue();
    Owned<pi_mem> a = host.make_buffer(std::vector<std::byte>(256, std::byte{7}));
    Owned<pi_mem> b = host.make_buffer(256);
    std::byte bytes[256] = {};

    /// Everything is usable as before.
    void still_works() {
        const pi_region region = range(0, 0, 256);
        const auto copy = copy_desc(a, b, region);
        OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr));
        std::memset(bytes, 0, sizeof bytes);
        const auto read = read_desc(b, bytes, region, PI_COMMAND_BLOCKING);
        OK(piEnqueueMemBufferRead(queue, &read, 0, nullptr, nullptr));
        CHECK(bytes[0] == std::byte{7});
        CHECK(bytes[255] == std::byte{7});
    }
};

} // namespace

TEST_CASE("a bad context is refused") {
    const Host host;
    auto d = pi::desc<pi_context_desc>();
    Owned<pi_context> out;
    const auto create = [&] { return piContextCreate(host.platform, &d, out.out()); };
    REFUSED(PI_ERROR_INVALID_SIZE, "device_count is 0", create());
    d.device_count = 2;
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "devices is NULL", create());
    pi_device twice[] = {host.device, host.device};
    d.devices = twice;
    REFUSED(PI_ERROR_INVALID_DEVICE, "each may be listed once", create());
    twice[1] = nullptr;
    REFUSED(PI_ERROR_INVALID_DEVICE, "devices[1] is NULL", create());
    twice[1] = reinterpret_cast<pi_device>(host.platform);
    REFUSED(PI_ERROR_INVALID_DEVICE, "devices[1] is not a device", create());
    d.device_count = 1;
    d.flags = 4;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "0x4", create());
    d.flags = 0;
    d.reserved = 1;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "reserved", create());
    d.reserved = 0;
    d.type = PI_TYPE_QUEUE_DESC;
    REFUSED(PI_ERROR_INVALID_DESCRIPTOR, "type 3", create());
    d.type = PI_TYPE_CONTEXT_DESC;
    pi_struct_header chained = {sizeof chained, 77, nullptr};
    d.next = &chained;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "type 77", create());
    chained.type |= PI_TYPE_MAY_IGNORE_BIT;
    OK(create());
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "out_context",
            piContextCreate(host.platform, &d, nullptr));
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "desc",
            piContextCreate(host.platform, nullptr, out.out()));
}

TEST_CASE("a bad queue is refused") {
    const Host host;
    auto d = pi::desc<pi_queue_desc>();
    Owned<pi_queue> out;
    REFUSED(PI_ERROR_INVALID_DEVICE, "device is NULL",
            piQueueCreate(host.context, nullptr, &d, out.out()));
    d.flags = 1 << 20;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "0x100000",
            piQueueCreate(host.context, host.device, &d, out.out()));
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "out_queue",
            piQueueCreate(host.context, host.device, nullptr, nullptr));
    d.flags = PI_QUEUE_PRIORITY_HIGH | PI_QUEUE_OUT_OF_ORDER;
    OK(piQueueCreate(host.context, host.device, &d, out.out()));
    CHECK(info<uint64_t>(piQueueGetInfo, out, PI_QUEUE_INFO_FLAGS) == d.flags);
    OK(piQueueCreate(host.context, host.device, nullptr, out.out()));
    CHECK(info<pi_device>(piQueueGetInfo, out, PI_QUEUE_INFO_DEVICE) == host.device);
}

TEST_CASE("a bad buffer is refused") {
    const Host host;
    Owned<pi_mem> out;
    const auto with = [&](std::function<void(pi_mem_buffer_desc &)> change) {
        auto d = buffer_desc(64);
        change(d);
        return piMemBufferCreate(host.context, host.device, &d, out.out());
    };
    alignas(64) static std::byte bytes[64];
    REFUSED(PI_ERROR_INVALID_SIZE, "size is 0", with([](auto &d) { d.size = 0; }));
    REFUSED(PI_ERROR_INVALID_ALIGNMENT, "alignment is 48", with([](auto &d) { d.alignment = 48; }));
    REFUSED(PI_ERROR_INVALID_ALIGNMENT, "alignment is 3", with([](auto &d) { d.alignment = 3; }));
    REFUSED(PI_ERROR_INVALID_ALIGNMENT, "at most 2097152",
            with([](auto &d) { d.alignment = 4 << 20; }));
    REFUSED(PI_ERROR_INVALID_ALIGNMENT, "at most 2097152",
            with([](auto &d) { d.alignment = UINT64_C(1) << 63; }));
    REFUSED(PI_ERROR_INVALID_VALUE, "scope is 2", with([](auto &d) { d.scope = 2; }));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "scope 0 (global)", with([](auto &d) {
                d.scope = 1;
                d.flags = PI_MEM_REQUIRE_PINNED;
            }));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "memory of scope 0 is exported", with([](auto &d) {
                d.scope = 1;
                d.export_types = 1 << PI_EXTERNAL_OPAQUE_FD;
            }));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "export", with([](auto &d) { d.export_types = 2; }));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "0x400", with([](auto &d) { d.flags = 1 << 10; }));
    REFUSED(PI_ERROR_INVALID_VALUE, "PI_MEM_READ_ONLY and PI_MEM_WRITE_ONLY",
            with([](auto &d) { d.flags = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY; }));
    REFUSED(PI_ERROR_INVALID_VALUE, "PI_MEM_COPY_HOST_PTR and PI_MEM_USE_HOST_PTR",
            with([](auto &d) {
                d.flags = PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;
                d.host_ptr = bytes;
            }));
    REFUSED(PI_ERROR_INVALID_VALUE, "must be NULL", with([](auto &d) { d.host_ptr = bytes; }));
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "host_ptr is NULL",
            with([](auto &d) { d.flags = PI_MEM_COPY_HOST_PTR; }));
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "host_ptr is NULL",
            with([](auto &d) { d.flags = PI_MEM_USE_HOST_PTR; }));
    REFUSED(PI_ERROR_INVALID_SIZE, "end of the address space", with([](auto &d) {
                d.flags = PI_MEM_USE_HOST_PTR;
                d.host_ptr = bytes;
                d.size = UINT64_MAX;
            }));
    REFUSED(PI_ERROR_OUT_OF_DEVICE_MEMORY, "free",
            with([](auto &d) { d.size = UINT64_C(1) << 60; }));
    REFUSED(PI_ERROR_OUT_OF_DEVICE_MEMORY, "18446744073709551615 bytes) requested",
            with([](auto &d) { d.size = UINT64_MAX; }));
    auto layout = pi::desc<pi_mem_layout_desc>();
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "n-D layouts", with([&](auto &d) { d.next = &layout; }));
    auto d = buffer_desc(64);
    REFUSED(PI_ERROR_INVALID_DEVICE, "device is NULL",
            piMemBufferCreate(host.context, nullptr, &d, out.out()));
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "out_mem",
            piMemBufferCreate(host.context, host.device, &d, nullptr));
    OK(with([](auto &) {}));
}

TEST_CASE("a bad view is refused") {
    const Host host;
    const Owned<pi_mem> parent = host.make_buffer(100);
    const Owned<pi_mem> view = make_view(parent, 50, 50);
    auto d = pi::desc<pi_mem_partition_desc>();
    Owned<pi_mem> out;
    REFUSED(PI_ERROR_INVALID_SIZE, "0 bytes", piMemBufferPartition(parent, &d, out.out()));
    d.size = 51;
    d.offset = 50;
    REFUSED(PI_ERROR_INVALID_SIZE, "which has 100", piMemBufferPartition(parent, &d, out.out()));
    d.offset = 0;
    REFUSED(PI_ERROR_INVALID_SIZE, "which has 50", piMemBufferPartition(view, &d, out.out()));
    d.size = UINT64_MAX;
    d.offset = 2;
    REFUSED(PI_ERROR_INVALID_SIZE, "past the end", piMemBufferPartition(parent, &d, out.out()));
    d.size = 1;
    d.flags = PI_MEM_USE_HOST_PTR;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "flags", piMemBufferPartition(parent, &d, out.out()));
    d.flags = 0;
    OK(piMemBufferPartition(parent, &d, out.out()));
}

TEST_CASE("a bad import is refused") {
    const Host host;
    std::byte bytes[64];
    Owned<pi_mem> out;
    const auto with = [&](std::function<void(pi_mem_import_desc &)> change) {
        auto d = pi::desc<pi_mem_import_desc>();
        d.size = 64;
        d.handle.type = PI_EXTERNAL_HOST_POINTER;
        d.handle.pointer = bytes;
        change(d);
        return piMemImport(host.context, host.device, &d, out.out());
    };
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "handle.pointer",
            with([](auto &d) { d.handle.pointer = nullptr; }));
    REFUSED(PI_ERROR_INVALID_SIZE, "size is 0", with([](auto &d) { d.size = 0; }));
    REFUSED(PI_ERROR_INVALID_SIZE, "exceeds 64 bits", with([](auto &d) { d.offset = UINT64_MAX; }));
    REFUSED(PI_ERROR_INVALID_VALUE, "own", with([](auto &d) { d.own = 1; }));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "flags",
            with([](auto &d) { d.flags = PI_MEM_REQUIRE_PINNED; }));
    for (pi_external_type type : {PI_EXTERNAL_NATIVE, PI_EXTERNAL_CUDA_IPC, PI_EXTERNAL_ZE_IPC})
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "PI_EXTERNAL_HOST_POINTER",
                with([&](auto &d) { d.handle.type = type; }));
    REFUSED(PI_ERROR_INVALID_ENUMERATION, "handle.type is 0",
            with([](auto &d) { d.handle.type = 0; }));
    REFUSED(PI_ERROR_INVALID_ENUMERATION, "handle.type is 70",
            with([](auto &d) { d.handle.type = 70; }));
    OK(with([](auto &) {}));
}

TEST_CASE("bad regions are refused") {
    Buffers t;
    const auto read = [&](pi_region region) {
        const auto d = read_desc(t.a, t.bytes, region);
        return piEnqueueMemBufferRead(t.queue, &d, 0, nullptr, nullptr);
    };
    REFUSED(PI_ERROR_INVALID_SIZE, "0 bytes", read(range(0, 0, 0)));
    REFUSED(PI_ERROR_INVALID_SIZE, "ends at byte", read(range(1, 0, 256)));
    REFUSED(PI_ERROR_INVALID_SIZE, "exceeds 64 bits", read(range(UINT64_MAX, 0, 256)));
    pi_region region = range(0, 0, 16);
    region.extent[1] = 4;
    region.src_pitch[0] = 15;
    REFUSED(PI_ERROR_INVALID_SIZE, "src_pitch[0]", read(region));
    region.src_pitch[0] = 81;
    REFUSED(PI_ERROR_INVALID_SIZE, "ends at byte", read(region));
    region.src_pitch[0] = 80;
    OK(read(region));
    OK(piQueueFinish(t.queue));
    region.reserved = 1;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "reserved", read(region));
    auto d = read_desc(t.a, t.bytes, region);
    d.region_count = 0;
    REFUSED(PI_ERROR_INVALID_SIZE, "region_count is 0",
            piEnqueueMemBufferRead(t.queue, &d, 0, nullptr, nullptr));
    d.region_count = 1;
    d.regions = nullptr;
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "regions is NULL",
            piEnqueueMemBufferRead(t.queue, &d, 0, nullptr, nullptr));
    const pi_region good = range(0, 0, 8);
    auto w = write_desc(t.a, nullptr, good);
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "host_ptr",
            piEnqueueMemBufferWrite(t.queue, &w, 0, nullptr, nullptr));
    w = write_desc(nullptr, t.bytes, good);
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "mem is NULL",
            piEnqueueMemBufferWrite(t.queue, &w, 0, nullptr, nullptr));
    w = write_desc(reinterpret_cast<pi_mem>(static_cast<pi_queue>(t.queue)), t.bytes, good);
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "mem is not a mem",
            piEnqueueMemBufferWrite(t.queue, &w, 0, nullptr, nullptr));
    w = write_desc(t.a, t.bytes, good, 2);
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "flags",
            piEnqueueMemBufferWrite(t.queue, &w, 0, nullptr, nullptr));
    t.still_works();
}

TEST_CASE("a copy onto itself is refused, whichever object names the bytes") {
    Buffers t;
    const auto copy = [&](pi_mem src, pi_mem dst, pi_region region) {
        const auto d = copy_desc(src, dst, region);
        return piEnqueueMemBufferCopy(t.queue, &d, 0, nullptr, nullptr);
    };
    const Owned<pi_mem> view = make_view(t.a, 100, 100);
    void *pointer = nullptr;
    OK(piMemGetHostPointer(t.a, &pointer));
    const Owned<pi_mem> import = t.host.make_import(pointer, 256);
    REFUSED(PI_ERROR_MEM_COPY_OVERLAP, "overlap", copy(t.a, t.a, range(0, 10, 11)));
    REFUSED(PI_ERROR_MEM_COPY_OVERLAP, "overlap", copy(t.a, t.a, range(10, 0, 11)));
    REFUSED(PI_ERROR_MEM_COPY_OVERLAP, "overlap", copy(t.a, view, range(100, 0, 1)));
    REFUSED(PI_ERROR_MEM_COPY_OVERLAP, "overlap", copy(view, t.a, range(0, 91, 10)));
    REFUSED(PI_ERROR_MEM_COPY_OVERLAP, "overlap", copy(t.a, import, range(5, 5, 1)));
    OK(copy(t.a, t.a, range(0, 10, 10)));
    OK(copy(view, t.a, range(0, 90, 10)));
    pi_region interleaved = range(0, 8, 8); // columns next to each other
    interleaved.extent[1] = 16;
    interleaved.src_pitch[0] = interleaved.dst_pitch[0] = 16;
    OK(copy(t.a, t.a, interleaved));
    OK(piQueueFinish(t.queue));
    t.still_works();
}

TEST_CASE("a bad fill is refused") {
    Buffers t;
    const std::byte pattern[256] = {};
    const auto fill = [&](uint64_t pattern_size, uint64_t offset, uint64_t size) {
        const auto d = fill_desc(t.b, pattern, pattern_size, offset, size);
        return piEnqueueMemBufferFill(t.queue, &d, 0, nullptr, nullptr);
    };
    REFUSED(PI_ERROR_INVALID_SIZE, "pattern_size is 0", fill(0, 0, 16));
    REFUSED(PI_ERROR_INVALID_SIZE, "pattern_size is 3", fill(3, 0, 15));
    REFUSED(PI_ERROR_INVALID_SIZE, "pattern_size is 256", fill(256, 0, 256));
    REFUSED(PI_ERROR_INVALID_SIZE, "multiple of pattern_size, 4", fill(4, 2, 16));
    REFUSED(PI_ERROR_INVALID_SIZE, "multiple of pattern_size, 4", fill(4, 4, 18));
    REFUSED(PI_ERROR_INVALID_SIZE, "past the end", fill(4, 252, 8));
    REFUSED(PI_ERROR_INVALID_SIZE, "0 bytes", fill(4, 0, 0));
    const auto d = fill_desc(t.b, nullptr, 4, 0, 16);
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "pattern",
            piEnqueueMemBufferFill(t.queue, &d, 0, nullptr, nullptr));
    t.still_works();
}

TEST_CASE("a bad wait list is refused") {
    Buffers t;
    const pi_region region = range(0, 0, 16);
    const auto d = copy_desc(t.a, t.b, region);
    pi_event event = nullptr;
    REFUSED(PI_ERROR_INVALID_WAIT_LIST, "wait_count is 2",
            piEnqueueMemBufferCopy(t.queue, &d, 2, nullptr, &event));
    const Owned<pi_event> good = t.host.make_host_event();
    const pi_event with_null[] = {good, nullptr};
    REFUSED(PI_ERROR_INVALID_EVENT, "wait_list[1] is NULL",
            piEnqueueMemBufferCopy(t.queue, &d, 2, with_null, &event));
    const pi_event no_event[] = {reinterpret_cast<pi_event>(static_cast<pi_mem>(t.a))};
    REFUSED(PI_ERROR_INVALID_EVENT, "wait_list[0] is not a event",
            piEnqueueMemBufferCopy(t.queue, &d, 1, no_event, &event));
    CHECK(event == nullptr);
    OK(piQueueFinish(t.queue)); // nothing waits for the event that is never signalled
    t.still_works();
}

TEST_CASE("a handle of another kind is refused as a first argument, too") {
    Buffers t;
    uint64_t size = 0;
    const auto mem = reinterpret_cast<pi_mem>(static_cast<pi_queue>(t.queue));
    const auto queue = reinterpret_cast<pi_queue>(static_cast<pi_mem>(t.a));
    const auto context = reinterpret_cast<pi_context>(t.host.device);
    const auto event = reinterpret_cast<pi_event>(static_cast<pi_context>(t.host.context));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "is not a mem",
            piMemGetInfo(mem, PI_MEM_INFO_SIZE, 0, nullptr, &size));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "is not a mem", piMemRelease(mem));
    REFUSED(PI_ERROR_INVALID_QUEUE, "is not a queue", piQueueFinish(queue));
    REFUSED(PI_ERROR_INVALID_CONTEXT, "is not a context", piContextRetain(context));
    REFUSED(PI_ERROR_INVALID_EVENT, "is not a event", piEventWait(event, 0));
    t.still_works();
}
