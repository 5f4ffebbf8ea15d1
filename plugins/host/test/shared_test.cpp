// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers as memory files, checked by system calls.
#include "fixture.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

using namespace pi_test;

namespace {

pi_mem_buffer_desc exportable(uint64_t size) {
    auto d = buffer_desc(size);
    d.export_types = 1u << PI_EXTERNAL_OPAQUE_FD;
    return d;
}

pi_mem_import_desc import_desc(int fd, uint64_t offset, uint64_t size) {
    auto d = pi::desc<pi_mem_import_desc>();
    d.size = size;
    d.offset = offset;
    d.handle.type = PI_EXTERNAL_OPAQUE_FD;
    d.handle.fd = fd;
    return d;
}

} // namespace

TEST_CASE("an exported buffer is a file that other processes can map") {
    const Host host;
    const uint64_t size = 10'000;
    const Owned<pi_mem> mem = host.make_buffer(exportable(size));
    auto d = pi::desc<pi_mem_export_desc>();
    d.external_type = PI_EXTERNAL_OPAQUE_FD;
    pi_external_handle handle{};
    OK(piMemExport(mem, &d, &handle));
    const Descriptor descriptor(handle.fd);
    CHECK(handle.offset == 0);
    CHECK(handle.size == size);
    CHECK((fcntl(handle.fd, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(ftruncate(handle.fd, 1) == -1); // it cannot shrink under an importer

    auto *bytes = static_cast<std::byte *>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, handle.fd, 0));
    REQUIRE(bytes != MAP_FAILED);
    std::vector<std::byte> expected(size);
    for (uint64_t i = 0; i < size; ++i)
        expected[i] = bytes[i] = static_cast<std::byte>(i * 13 + 1);
    CHECK(contents(host, mem) == expected);
    munmap(bytes, size);
}

TEST_CASE("a sealed file of another owner is memory, at any offset") {
    const Host host;
    const Descriptor file(memfd_create("unit", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    std::vector<std::byte> bytes(9000);
    for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(i * 3);
    REQUIRE(write(file.fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    REQUIRE(fcntl(file.fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    for (const uint64_t offset : {0, 1, 4096, 5001}) {
        const auto d = import_desc(file.fd, offset, 3000);
        Owned<pi_mem> mem;
        OK(piMemImport(host.context, host.device, &d, mem.out()));
        const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
        CHECK(contents(host, mem) == std::vector<std::byte>(from, from + 3000));
        const auto alignment = info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_ALIGNMENT);
        void *pointer = nullptr;
        OK(piMemGetHostPointer(mem, &pointer));
        CHECK(reinterpret_cast<uintptr_t>(pointer) % alignment == 0);
    }
}

TEST_CASE("a file that may shrink is refused as memory") {
    const Host host;
    const Descriptor unsealed(memfd_create("unit", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(ftruncate(unsealed.fd, 4096) == 0);
    char name[] = "/tmp/pi_unit_host_XXXXXX";
    const Descriptor plain(mkstemp(name));
    unlink(name);
    REQUIRE(ftruncate(plain.fd, 4096) == 0);
    for (const int fd : {unsealed.fd, plain.fd}) {
        const auto d = import_desc(fd, 0, 4096);
        Owned<pi_mem> mem;
        REFUSED(PI_ERROR_INVALID_VALUE, "F_SEAL_SHRINK",
                piMemImport(host.context, host.device, &d, mem.out()));
    }
}

TEST_CASE("only memory of the plugin without PI_MEM_REQUIRE_CONTIGUOUS can be exported") {
    const Host host;
    alignas(64) static std::byte bytes[64];
    Owned<pi_mem> mem;
    auto d = exportable(64);
    d.flags = PI_MEM_USE_HOST_PTR;
    d.host_ptr = bytes;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_USE_HOST_PTR",
            piMemBufferCreate(host.context, host.device, &d, mem.out()));
    d = exportable(64);
    d.flags = PI_MEM_REQUIRE_CONTIGUOUS;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_REQUIRE_CONTIGUOUS",
            piMemBufferCreate(host.context, host.device, &d, mem.out()));
    d.flags = PI_MEM_REQUIRE_PINNED;
    OK(piMemBufferCreate(host.context, host.device, &d, mem.out()));
}
