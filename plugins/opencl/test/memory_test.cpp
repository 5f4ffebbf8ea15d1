// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <cstring>
#include <memory>

using namespace opencl_test;

TEST_CASE("a buffer's descriptor is checked and every error names the value") {
    Loader loader;
    const Place place(loader.devices()[0]);
    const auto create = [&](const pi_mem_buffer_desc &desc) {
        Mem mem;
        return piMemBufferCreate(place.context, place.device, &desc, mem.out());
    };
    int word = 0;
    auto desc = buffer_desc(0);
    refused(create(desc), PI_ERROR_INVALID_SIZE, {"0 bytes"});
    desc = buffer_desc(uint64_t{1} << 60);
    refused(create(desc), PI_ERROR_OUT_OF_DEVICE_MEMORY, {std::to_string(uint64_t{1} << 60)});
    desc = buffer_desc(4);
    desc.flags = PI_MEM_COPY_HOST_PTR;
    refused(create(desc), PI_ERROR_INVALID_NULL_POINTER, {"host_ptr"});
    desc.flags = PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;
    desc.host_ptr = &word;
    refused(create(desc), PI_ERROR_INVALID_VALUE, {"PI_MEM_COPY_HOST_PTR"});
    desc.flags = 0;
    refused(create(desc), PI_ERROR_INVALID_VALUE, {"host_ptr"});
    desc = buffer_desc(4);
    desc.flags = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY;
    refused(create(desc), PI_ERROR_INVALID_VALUE, {"PI_MEM_READ_ONLY"});
    desc.flags = uint64_t{1} << 40;
    refused(create(desc), PI_ERROR_UNSUPPORTED_FEATURE, {"0x10000000000"});
    for (const uint64_t demand : {PI_MEM_REQUIRE_CONTIGUOUS, PI_MEM_REQUIRE_PINNED}) {
        desc.flags = demand;
        refused(create(desc), PI_ERROR_UNSUPPORTED_FEATURE, {"PI_MEM_REQUIRE_"});
    }
    desc = buffer_desc(4);
    desc.scope = scope_count;
    refused(create(desc), PI_ERROR_INVALID_VALUE, {"scope is 2", "2 scopes"});
    desc.scope = 1;
    desc.alignment = 1 << 20;
    refused(create(desc), PI_ERROR_INVALID_ALIGNMENT, {"1048576", "host.pinned"});
    desc.alignment = 0;
    desc.flags = PI_MEM_USE_HOST_PTR;
    desc.host_ptr = &word;
    refused(create(desc), PI_ERROR_UNSUPPORTED_FEATURE, {"PI_MEM_USE_HOST_PTR", "host.pinned"});
    desc = buffer_desc(4);
    desc.export_types = 1 << PI_EXTERNAL_DMA_BUF_FD;
    refused(create(desc), PI_ERROR_UNSUPPORTED_FEATURE, {"export_types"});
    auto layout = pi::desc<pi_mem_layout_desc>();
    desc = buffer_desc(4);
    desc.next = &layout;
    refused(create(desc), PI_ERROR_UNSUPPORTED_FEATURE, {"PI_SCOPE_LAYOUT"});
}

TEST_CASE("truncated and oversized descriptors are read as the header says") {
    Loader loader;
    const Place place(loader.devices()[0]);
    Mem mem;
    auto desc = buffer_desc(64);
    // Everything behind `size` is missing: zeros.
    desc.struct_size = offsetof(pi_mem_buffer_desc, alignment);
    desc.alignment = 3;
    desc.host_ptr = &mem;
    OK(piMemBufferCreate(place.context, place.device, &desc, mem.out()));
    CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_SIZE) == 64);

    struct Newer {
        pi_mem_buffer_desc known;
        uint64_t tail;
    } newer{buffer_desc(64), 0};
    newer.known.struct_size = sizeof newer;
    OK(piMemBufferCreate(place.context, place.device, &newer.known, mem.out()));
    newer.tail = 1;
    refused(piMemBufferCreate(place.context, place.device, &newer.known, mem.out()),
            PI_ERROR_UNSUPPORTED_FEATURE);
    desc = buffer_desc(64);
    desc.struct_size = 3;
    refused(piMemBufferCreate(place.context, place.device, &desc, mem.out()),
            PI_ERROR_INVALID_DESCRIPTOR);
    desc = buffer_desc(64);
    desc.type = PI_TYPE_QUEUE_DESC;
    refused(piMemBufferCreate(place.context, place.device, &desc, mem.out()),
            PI_ERROR_INVALID_DESCRIPTOR);
    refused(piMemBufferCreate(place.context, place.device, nullptr, mem.out()),
            PI_ERROR_INVALID_NULL_POINTER);
    desc = buffer_desc(64);
    refused(piMemBufferCreate(place.context, place.device, &desc, nullptr),
            PI_ERROR_INVALID_NULL_POINTER, {"out_mem"});
    CHECK(mem.get() == nullptr);
}

TEST_CASE("host memory is copied into a buffer, or used as its storage") {
    Loader loader;
    Random random;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        std::vector<uint8_t> bytes = random.bytes(5000);
        const std::vector<uint8_t> original = bytes;
        const Mem copied = make_buffer(
            place.context, device, buffer_desc(bytes.size(), PI_MEM_COPY_HOST_PTR, bytes.data()));
        std::vector<uint8_t> storage = bytes;
        const Mem used =
            make_buffer(place.context, device,
                        buffer_desc(storage.size(), PI_MEM_USE_HOST_PTR, storage.data()));
        std::fill(bytes.begin(), bytes.end(), 0);
        CHECK(contents(place.queue, copied) == original);
        CHECK(contents(place.queue, used) == original);

        void *pointer = nullptr;
        OK(piMemGetHostPointer(used, &pointer));
        CHECK(pointer == storage.data());
        const uint8_t nine = 9;
        wait(fill(place.queue, used, &nine, 1, 100, 50));
        wait(map(place.queue, used, PI_MAP_READ, 0, storage.size(), &pointer));
        CHECK(pointer == storage.data());
        CHECK(std::count(storage.begin() + 100, storage.begin() + 150, 9) == 50);
        CHECK(std::equal(storage.begin() + 150, storage.end(), original.begin() + 150));
        wait(unmap(place.queue, used, pointer));
        refused(piMemGetHostPointer(copied, &pointer), PI_ERROR_UNSUPPORTED_FEATURE, {"map"});
        refused(piMemFlush(used, 0, 10), PI_ERROR_UNSUPPORTED_FEATURE, {"MAP_UNMAP"});
        refused(piMemInvalidate(used, 0, 10), PI_ERROR_UNSUPPORTED_FEATURE, {"MAP_UNMAP"});
        CHECK(info<pi_coherence>(piMemGetInfo, used, PI_MEM_INFO_COHERENCE) ==
              PI_COHERENCE_MAP_UNMAP);
    }
}

TEST_CASE("a view keeps its root alive and shows the same bytes") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        Mem root = place.buffer(4096);
        set_contents(place.queue, root, std::vector<uint8_t>(4096, 1));
        const Mem view = make_view(root, 1024, 512);
        const Mem inner = make_view(view, 0, 512);
        root.reset();
        const uint8_t two = 2;
        wait(fill(place.queue, inner, &two, 1, 0, 256));
        const std::vector<uint8_t> seen = contents(place.queue, view);
        CHECK(std::count(seen.begin(), seen.begin() + 256, 2) == 256);
        CHECK(std::count(seen.begin() + 256, seen.end(), 1) == 256);
    }
}

TEST_CASE("a view past its parent's end, or of 0 bytes, is refused") {
    Loader loader;
    const Place place(loader.devices()[0]);
    const Mem root = make_buffer(place.context, place.device, buffer_desc(4096, PI_MEM_READ_ONLY));
    const Mem parent = make_view(root, 0, 2048);
    auto desc = pi::desc<pi_mem_partition_desc>();
    Mem view;
    refused(piMemBufferPartition(parent, &desc, view.out()), PI_ERROR_INVALID_SIZE);
    desc.offset = 1024;
    desc.size = 1025;
    refused(piMemBufferPartition(parent, &desc, view.out()), PI_ERROR_INVALID_SIZE, {"2048"});
    desc.size = UINT64_MAX;
    refused(piMemBufferPartition(parent, &desc, view.out()), PI_ERROR_INVALID_SIZE);
    desc.size = 8;
    desc.flags = PI_MEM_WRITE_ONLY;
    refused(piMemBufferPartition(parent, &desc, view.out()), PI_ERROR_INVALID_VALUE,
            {"the parent's"});
}

TEST_CASE("the infos of memory are those of its descriptor") {
    Loader loader;
    const Place place(loader.devices()[0]);
    const Mem mem = make_buffer(place.context, place.device, buffer_desc(1000, PI_MEM_WRITE_ONLY));
    CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_SIZE) == 1000);
    CHECK(info<pi_context>(piMemGetInfo, mem, PI_MEM_INFO_CONTEXT) == place.context.get());
    CHECK(info<pi_device>(piMemGetInfo, mem, PI_MEM_INFO_DEVICE) == place.device);
    CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_FLAGS) == PI_MEM_WRITE_ONLY);
    CHECK(info<uint32_t>(piMemGetInfo, mem, PI_MEM_INFO_SCOPE) == 0);
    CHECK(info<pi_mem>(piMemGetInfo, mem, PI_MEM_INFO_PARENT) == nullptr);
    CHECK(info<pi_memory_kind>(piMemGetInfo, mem, PI_MEM_INFO_KIND) == PI_MEMORY_KIND_BUFFER);
    CHECK(info<uint32_t>(piMemGetInfo, mem, PI_MEM_INFO_REFERENCE_COUNT) == 1);
    uint64_t value = 7;
    refused(piMemGetInfo(mem, PI_MEM_INFO_SIZE, 4, &value, nullptr), PI_ERROR_INVALID_SIZE);
    CHECK(value == 7);
    refused(piMemGetInfo(mem, 999, 8, &value, nullptr), PI_ERROR_INVALID_ENUMERATION, {"999"});
    for (const pi_mem_info name :
         {PI_MEM_INFO_DEVICE_ADDRESS, PI_MEM_INFO_BUS_ADDRESS, PI_MEM_INFO_PITCHES})
        refused(piMemGetInfo(mem, name, 8, &value, nullptr), PI_ERROR_UNSUPPORTED_FEATURE);
}

TEST_CASE("ranges of commands are checked during the call") {
    Loader loader;
    const Place place(loader.devices()[0]);
    const Mem mem = place.buffer(100), other = place.buffer(50);
    std::vector<uint8_t> host(200);
    auto desc = pi::desc<pi_buffer_read_desc>();
    desc.mem = mem;
    desc.host_ptr = host.data();
    desc.region_count = 1;
    Event event;
    const auto with = [&](const pi_region &region) {
        desc.regions = &region;
        return piEnqueueMemBufferRead(place.queue, &desc, 0, nullptr, event.out());
    };
    refused(with(range(0, 0, 101)), PI_ERROR_INVALID_SIZE, {"101", "100"});
    refused(with(range(UINT64_MAX, 0, 2)), PI_ERROR_INVALID_SIZE);
    refused(with(range(0, 0, 0)), PI_ERROR_INVALID_SIZE);
    pi_region region = range(0, 0, 10);
    region.extent[1] = 11;
    refused(with(region), PI_ERROR_INVALID_SIZE, {"110"});
    region.extent[1] = 2;
    region.src_pitch[0] = 9;
    refused(with(region), PI_ERROR_INVALID_SIZE, {"pitch"});
    region = range(0, 0, 10);
    region.reserved = 1;
    refused(with(region), PI_ERROR_UNSUPPORTED_FEATURE, {"reserved"});
    desc.host_ptr = nullptr;
    refused(with(range(0, 0, 10)), PI_ERROR_INVALID_NULL_POINTER, {"host_ptr"});
    desc.host_ptr = host.data();
    desc.region_count = 0;
    refused(with(range(0, 0, 10)), PI_ERROR_INVALID_SIZE, {"region_count"});
    desc.region_count = 1;
    desc.flags = PI_MAP_READ;
    refused(with(range(0, 0, 10)), PI_ERROR_UNSUPPORTED_FEATURE);
    desc.flags = 0;
    desc.mem = nullptr;
    refused(with(range(0, 0, 10)), PI_ERROR_INVALID_MEM_OBJECT, {"NULL"});
    desc.mem = reinterpret_cast<pi_mem>(static_cast<pi_queue>(place.queue));
    refused(with(range(0, 0, 10)), PI_ERROR_INVALID_MEM_OBJECT);
    CHECK(event.get() == nullptr);
}
