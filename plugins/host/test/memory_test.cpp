// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers, views and imports: addresses, alignments, info queries.
#include "fixture.hpp"

using namespace pi_test;

namespace {

uintptr_t address(pi_mem mem) {
    void *pointer = nullptr;
    OK(piMemGetHostPointer(mem, &pointer));
    return reinterpret_cast<uintptr_t>(pointer);
}

} // namespace

TEST_CASE("every alignment up to 2 MiB is honoured by the address") {
    const Host host;
    for (uint64_t alignment = 1; alignment <= 2 * 1024 * 1024; alignment *= 2) {
        for (uint64_t size : {UINT64_C(1), UINT64_C(100), UINT64_C(70'001)}) {
            auto d = buffer_desc(size);
            d.alignment = alignment;
            const Owned<pi_mem> mem = host.make_buffer(d);
            INFO("alignment " << alignment << ", size " << size);
            CHECK(address(mem) % std::max<uint64_t>(alignment, 64) == 0);
            const auto said = info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_ALIGNMENT);
            CHECK(said >= alignment);
            CHECK(address(mem) % said == 0);
            std::memset(reinterpret_cast<void *>(address(mem)), 0x5A, size);
        }
    }
}

TEST_CASE("without a requested alignment a buffer has the scope's") {
    const Host host;
    const Owned<pi_mem> mem = host.make_buffer(3);
    CHECK(address(mem) % 64 == 0);
}

TEST_CASE("a buffer answers its info queries") {
    const Host host;
    const Owned<pi_mem> mem = host.make_buffer(1000);
    CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_SIZE) == 1000);
    CHECK(info<pi_context>(piMemGetInfo, mem, PI_MEM_INFO_CONTEXT) == host.context);
    CHECK(info<pi_device>(piMemGetInfo, mem, PI_MEM_INFO_DEVICE) == host.device);
    CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_FLAGS) == 0);
    CHECK(info<uint32_t>(piMemGetInfo, mem, PI_MEM_INFO_SCOPE) == 0);
    CHECK(info<pi_mem>(piMemGetInfo, mem, PI_MEM_INFO_PARENT) == nullptr);
    CHECK(info<pi_coherence>(piMemGetInfo, mem, PI_MEM_INFO_COHERENCE) == PI_COHERENCE_COHERENT);
    CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_DEVICE_ADDRESS) == address(mem));
    CHECK(info<pi_memory_kind>(piMemGetInfo, mem, PI_MEM_INFO_KIND) == PI_MEMORY_KIND_BUFFER);
    uint64_t size = 0;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "bus address",
            piMemGetInfo(mem, PI_MEM_INFO_BUS_ADDRESS, 0, nullptr, &size));
    CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_PITCHES) == 1);
}

TEST_CASE("a copied host pointer is copied, a used one is the storage") {
    const Host host;
    std::vector<std::byte> bytes(64, std::byte{1});
    auto d = buffer_desc(bytes.size());
    d.host_ptr = bytes.data();
    d.flags = PI_MEM_COPY_HOST_PTR;
    const Owned<pi_mem> copied = host.make_buffer(d);
    d.flags = PI_MEM_USE_HOST_PTR;
    const Owned<pi_mem> used = host.make_buffer(d);
    bytes[0] = std::byte{2};
    CHECK(contents(host, copied)[0] == std::byte{1});
    CHECK(contents(host, used)[0] == std::byte{2});
    CHECK(address(used) == reinterpret_cast<uintptr_t>(bytes.data()));
}

TEST_CASE("a used host pointer must have the requested alignment") {
    const Host host;
    alignas(4096) static std::byte bytes[8192];
    auto d = buffer_desc(100);
    d.flags = PI_MEM_USE_HOST_PTR;
    d.alignment = 4096;
    d.host_ptr = bytes;
    CHECK(address(host.make_buffer(d)) == reinterpret_cast<uintptr_t>(bytes));
    d.host_ptr = bytes + 16;
    Owned<pi_mem> mem;
    REFUSED(PI_ERROR_MISALIGNED_POINTER, "aligned to 16 bytes",
            piMemBufferCreate(host.context, host.device, &d, mem.out()));
}

TEST_CASE("a view of a view is a view of the root, and keeps it alive") {
    const Host host;
    std::vector<std::byte> bytes(256);
    for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = std::byte(i);
    Owned<pi_mem> root = host.make_buffer(bytes);
    Owned<pi_mem> view = make_view(root, 100, 100);
    const Owned<pi_mem> inner = make_view(view, 11, 7);
    CHECK(info<pi_mem>(piMemGetInfo, inner, PI_MEM_INFO_PARENT) == root);
    CHECK(info<uint64_t>(piMemGetInfo, inner, PI_MEM_INFO_OFFSET) == 111);
    CHECK(address(inner) == address(root) + 111);
    CHECK(address(inner) % info<uint64_t>(piMemGetInfo, inner, PI_MEM_INFO_ALIGNMENT) == 0);
    view.reset();
    root.reset();
    CHECK(contents(host, inner) == std::vector(bytes.begin() + 111, bytes.begin() + 118));
}

TEST_CASE("a view has its parent's access unless it narrows it") {
    const Host host;
    auto d = buffer_desc(64);
    d.flags = PI_MEM_READ_ONLY;
    const Owned<pi_mem> parent = host.make_buffer(d);
    const Owned<pi_mem> same = make_view(parent, 0, 8);
    CHECK(info<uint64_t>(piMemGetInfo, same, PI_MEM_INFO_FLAGS) == PI_MEM_READ_ONLY);
    auto p = pi::desc<pi_mem_partition_desc>();
    p.size = 8;
    p.flags = PI_MEM_WRITE_ONLY;
    Owned<pi_mem> mem;
    REFUSED(PI_ERROR_INVALID_VALUE, "the parent's", piMemBufferPartition(parent, &p, mem.out()));
    const Owned<pi_mem> both = host.make_buffer(64);
    OK(piMemBufferPartition(both, &p, mem.out()));
    CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_FLAGS) == PI_MEM_WRITE_ONLY);
}

TEST_CASE("an import is in place at any alignment") {
    const Host host;
    std::vector<std::byte> bytes(1000, std::byte{3});
    for (size_t offset = 0; offset < 9; ++offset) {
        auto d = pi::desc<pi_mem_import_desc>();
        d.size = 101;
        d.offset = offset;
        d.handle.type = PI_EXTERNAL_HOST_POINTER;
        d.handle.pointer = bytes.data() + 3;
        Owned<pi_mem> mem;
        OK(piMemImport(host.context, host.device, &d, mem.out()));
        CHECK(address(mem) == reinterpret_cast<uintptr_t>(bytes.data()) + 3 + offset);
        CHECK(info<pi_memory_kind>(piMemGetInfo, mem, PI_MEM_INFO_KIND) == PI_MEMORY_KIND_IMPORTED);
        const auto pattern = static_cast<uint8_t>(offset);
        const auto fill = fill_desc(mem, &pattern, 1, 0, 101, PI_COMMAND_BLOCKING);
        OK(piEnqueueMemBufferFill(host.make_queue(), &fill, 0, nullptr, nullptr));
        CHECK(bytes[3 + offset] == std::byte(offset));
        CHECK(bytes[3 + offset + 100] == std::byte(offset));
    }
    CHECK(bytes[2] == std::byte{3});
}

TEST_CASE("flush and invalidate only check their arguments") {
    const Host host;
    const Owned<pi_mem> mem = host.make_buffer(100);
    OK(piMemFlush(mem, 0, 100));
    OK(piMemInvalidate(mem, 99, 1));
    REFUSED(PI_ERROR_INVALID_SIZE, "past the end", piMemFlush(mem, 1, 100));
    REFUSED(PI_ERROR_INVALID_SIZE, "past the end", piMemInvalidate(mem, UINT64_MAX, 2));
    REFUSED(PI_ERROR_INVALID_SIZE, "0 bytes", piMemFlush(mem, 0, 0));
}
