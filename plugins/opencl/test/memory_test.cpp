// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

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

TEST_CASE("a buffer is accessed by maps only, and one over host memory maps there") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        std::vector<uint8_t> storage(5000);
        const Mem used =
            make_buffer(place.context, device,
                        buffer_desc(storage.size(), PI_MEM_USE_HOST_PTR, storage.data()));
        void *pointer = nullptr;
        OK(piMemGetHostPointer(used, &pointer));
        CHECK(pointer == storage.data());
        wait(map(place.queue, used, PI_MAP_READ, 0, storage.size(), &pointer));
        CHECK(pointer == storage.data());
        wait(unmap(place.queue, used, pointer));
        refused(piMemGetHostPointer(place.buffer(64), &pointer), PI_ERROR_UNSUPPORTED_FEATURE,
                {"map"});
        refused(piMemFlush(used, 0, 10), PI_ERROR_UNSUPPORTED_FEATURE, {"MAP_UNMAP"});
        refused(piMemInvalidate(used, 0, 10), PI_ERROR_UNSUPPORTED_FEATURE, {"MAP_UNMAP"});
        CHECK(info<pi_coherence>(piMemGetInfo, used, PI_MEM_INFO_COHERENCE) ==
              PI_COHERENCE_MAP_UNMAP);
    }
}

TEST_CASE("a buffer has no address") {
    Loader loader;
    const Place place(loader.devices()[0]);
    const Mem mem = place.buffer(1000);
    uint64_t value = 7;
    for (const pi_mem_info name :
         {PI_MEM_INFO_DEVICE_ADDRESS, PI_MEM_INFO_BUS_ADDRESS, PI_MEM_INFO_PITCHES})
        refused(piMemGetInfo(mem, name, 8, &value, nullptr), PI_ERROR_UNSUPPORTED_FEATURE);
}
