// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dma-bufs: of contiguous memory, of shared pages, and refusals where the kernel has neither.
// scripts/test-cma runs these tests on a kernel that has both, where nothing is skipped.
#include "fixture.hpp"
#include "skip.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

using namespace pi_test;

namespace {

/// The physical address of a byte in memory; nothing if this process may not see it.
std::optional<uint64_t> physical(const void *address) {
    const int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entry = 0;
    const auto at = reinterpret_cast<uintptr_t>(address);
    const bool read =
        pread(map, &entry, sizeof entry, static_cast<off_t>(at / 4096 * 8)) == sizeof entry;
    close(map);
    const uint64_t number = entry & ((UINT64_C(1) << 55) - 1);
    return read && entry >> 63 && number ? std::optional(number * 4096 + at % 4096) : std::nullopt;
}

bool has_heap() {
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator("/dev/dma_heap", error))
        if (entry.path().filename() != "system")
            return true;
    return false;
}
bool has_udmabuf() {
    return !access("/dev/udmabuf", R_OK | W_OK);
}

/// On the machine of scripts/test-cma nothing may be skipped.
void skip_or_fail(const std::string &reason) {
    if (machine_has_dma_bufs())
        FAIL(reason);
    skip(reason);
}

pi_mem_buffer_desc exported(uint64_t size, uint64_t flags = 0) {
    auto d = buffer_desc(size);
    d.flags = flags;
    d.export_types = 1u << PI_EXTERNAL_DMA_BUF_FD;
    return d;
}

pi_external_handle export_dma_buf(pi_mem mem) {
    auto d = pi::desc<pi_mem_export_desc>();
    d.external_type = PI_EXTERNAL_DMA_BUF_FD;
    pi_external_handle handle{};
    OK(piMemExport(mem, &d, &handle));
    REQUIRE(handle.fd >= 0);
    return handle;
}

pi_mem_import_desc import_desc(const pi_external_handle &handle) {
    auto d = pi::desc<pi_mem_import_desc>();
    d.handle = handle;
    d.size = handle.size;
    return d;
}

std::byte *pointer_of(pi_mem mem) {
    void *pointer = nullptr;
    OK(piMemGetHostPointer(mem, &pointer));
    return static_cast<std::byte *>(pointer);
}

} // namespace

TEST_CASE("contiguous memory comes from a heap of the kernel, and is contiguous on the bus",
          "[dma-buf]") {
    if (!has_heap())
        return skip_or_fail("needs a heap in /dev/dma_heap");
    const Host host;
    for (const uint64_t size : {UINT64_C(1), UINT64_C(4097), (UINT64_C(5) << 20) + 3}) {
        INFO("size " << size);
        const Owned<pi_mem> mem = host.make_buffer(exported(size, PI_MEM_REQUIRE_CONTIGUOUS));
        std::byte *const bytes = pointer_of(mem);
        const auto bus = info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_BUS_ADDRESS);
        uint64_t apart = 0;
        for (uint64_t at = 0; at < size; at += 4096)
            apart += physical(bytes + at) != bus + at;
        CHECK(apart == 0);
        // Exported and imported, it is the same memory, in the same place.
        const pi_external_handle handle = export_dma_buf(mem);
        CHECK(handle.size == size);
        const auto d = import_desc(handle);
        Owned<pi_mem> imported;
        OK(piMemImport(host.context, host.device, &d, imported.out()));
        close(handle.fd);
        CHECK(pointer_of(imported) != bytes);
        CHECK(info<uint64_t>(piMemGetInfo, imported, PI_MEM_INFO_BUS_ADDRESS) == bus);
        std::memset(bytes, 0x5A, size);
        CHECK(contents(host, imported) == std::vector<std::byte>(size, std::byte{0x5A}));
        OK(piMemFlush(imported, 0, size));
        OK(piMemInvalidate(imported, 0, size));
    }
    // More than the heap has: refused with the heap's name, and what would help.
    auto d = exported(UINT64_C(1) << 28, PI_MEM_REQUIRE_CONTIGUOUS);
    Owned<pi_mem> mem;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "/dev/dma_heap/",
            piMemBufferCreate(host.context, host.device, &d, mem.out()));
    d = exported(4096, PI_MEM_REQUIRE_CONTIGUOUS);
    d.export_types |= 1u << PI_EXTERNAL_OPAQUE_FD;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "PI_EXTERNAL_OPAQUE_FD",
            piMemBufferCreate(host.context, host.device, &d, mem.out()));
}

TEST_CASE("contiguous memory returns to its heap", "[dma-buf]") {
    if (!has_heap())
        return skip_or_fail("needs a heap in /dev/dma_heap");
    const Host host;
    for (int round = 0; round < 50; ++round)
        host.make_buffer(exported(UINT64_C(8) << 20, PI_MEM_REQUIRE_CONTIGUOUS));
}

TEST_CASE("pages are shared as a dma-buf and as a file at once", "[dma-buf]") {
    if (!has_udmabuf())
        return skip_or_fail("needs /dev/udmabuf");
    const Host host;
    for (const uint64_t size : {UINT64_C(1), UINT64_C(5000), UINT64_C(1) << 20}) {
        auto d = exported(size);
        d.export_types |= 1u << PI_EXTERNAL_OPAQUE_FD;
        const Owned<pi_mem> mem = host.make_buffer(d);
        const pi_external_handle handle = export_dma_buf(mem);
        const auto import = import_desc(handle);
        Owned<pi_mem> imported;
        OK(piMemImport(host.context, host.device, &import, imported.out()));
        close(handle.fd);
        std::memset(pointer_of(imported), 0x33, size);
        CHECK(contents(host, mem) == std::vector<std::byte>(size, std::byte{0x33}));
    }
}

TEST_CASE("without a kernel that shares memory, a dma-buf is refused, with what would help",
          "[dma-buf-refused]") {
    if (has_heap() || has_udmabuf())
        return skip("this kernel has dma-bufs to give");
    const Host host;
    const auto types =
        info<uint32_t>(piDeviceGetInfo, host.device, PI_DEVICE_INFO_EXPORT_HANDLE_TYPES);
    CHECK(types == 1u << PI_EXTERNAL_OPAQUE_FD);
    for (const uint64_t flags : {UINT64_C(0), uint64_t{PI_MEM_REQUIRE_CONTIGUOUS}}) {
        const auto d = exported(4096, flags);
        Owned<pi_mem> mem;
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "CONFIG_DMABUF_HEAPS_CMA",
                piMemBufferCreate(host.context, host.device, &d, mem.out()));
    }
    const auto large = [] {
        auto d = buffer_desc(UINT64_C(5) << 30);
        d.flags = PI_MEM_REQUIRE_CONTIGUOUS;
        return d;
    }();
    Owned<pi_mem> mem;
    if (piMemBufferCreate(host.context, host.device, &large, mem.out()) != PI_SUCCESS)
        CHECK_THAT(last_error(), Catch::Contains("cma="));
}

TEST_CASE("a descriptor that is not a dma-buf is not imported as one", "[dma-buf]") {
    const Host host;
    const int file = memfd_create("none", MFD_CLOEXEC);
    REQUIRE(ftruncate(file, 4096) == 0);
    for (const int descriptor : {file, -1}) {
        auto d = pi::desc<pi_mem_import_desc>();
        d.size = 4096;
        d.handle.type = PI_EXTERNAL_DMA_BUF_FD;
        d.handle.fd = descriptor;
        Owned<pi_mem> mem;
        REFUSED(PI_ERROR_INVALID_VALUE, descriptor < 0 ? "handle.fd" : "not a dma-buf",
                piMemImport(host.context, host.device, &d, mem.out()));
    }
    close(file);
}
