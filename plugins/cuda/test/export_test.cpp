// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Export of memory as file descriptors, as far as the driver is concerned: pages, access, release.
#include "native.hpp"

#include "program.hpp"
#include "skip.hpp"

#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

using namespace cuda_test;
namespace own = pi_cuda_test;

namespace {

constexpr uint64_t page = 2 << 20;

pi_result create(const Machine &machine, size_t device, uint64_t size, uint64_t alignment,
                 pi_mem *out) {
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.size = size;
    d.alignment = alignment;
    d.export_types = 1u << PI_EXTERNAL_OPAQUE_FD;
    return piMemBufferCreate(machine.context, machine.devices.at(device), &d, out);
}

Owned<pi_mem> exportable(const Machine &machine, size_t device, uint64_t size,
                         uint64_t alignment = 0) {
    Owned<pi_mem> made;
    OK(create(machine, device, size, alignment, made.out()));
    return made;
}

pi_external_handle export_mem(pi_mem mem) {
    auto d = pi::desc<pi_mem_export_desc>();
    d.external_type = PI_EXTERNAL_OPAQUE_FD;
    pi_external_handle handle{};
    OK(piMemExport(mem, &d, &handle));
    return handle;
}

pi_result import_mem(const Machine &machine, size_t device, const pi_external_handle &handle,
                     pi_mem *out) {
    auto d = pi::desc<pi_mem_import_desc>();
    d.size = handle.size;
    d.handle = handle;
    return piMemImport(machine.context, machine.devices.at(device), &d, out);
}

own::CUdeviceptr address_of(const Machine &machine, size_t device, pi_mem mem) {
    return native_of<own::CUdeviceptr>([&](pi_native_handle *out) {
        return piMemGetNativeHandle(mem, machine.devices.at(device), out);
    });
}

unsigned long long access_of(own::CUdeviceptr address, int device) {
    const own::CUmemLocation location{own::CU_MEM_LOCATION_TYPE_DEVICE, device};
    unsigned long long flags = 0;
    REQUIRE(cu().cuMemGetAccess(&flags, &location, address) == CUDA_SUCCESS);
    return flags;
}

} // namespace

TEST_CASE("memory for export has whole device pages and the requested alignment") {
    const Machine machine({first});
    for (const uint64_t alignment : {uint64_t{0}, 16 * page}) {
        const Owned<pi_mem> mem = exportable(machine, first, page + 1, alignment);
        const auto address = address_of(machine, first, mem);
        size_t bytes = 0;
        REQUIRE(cu().cuPointerGetAttribute(&bytes, own::CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) ==
                CUDA_SUCCESS);
        CHECK(bytes == 2 * page);
        CHECK(address % (alignment ? alignment : page) == 0);
    }
}

TEST_CASE("memory for export, and imported memory, is accessible to every possible peer") {
    const Machine machine;
    REQUIRE(machine.connection(second, first).connection == PI_MEMORY_CONNECTION_UNIFIED);
    const Owned<pi_mem> mem = exportable(machine, second, 64);
    const pi_external_handle handle = export_mem(mem);
    const Descriptor descriptor(handle.fd);
    Owned<pi_mem> imported;
    OK(import_mem(machine, second, handle, imported.out()));
    uint32_t pattern = 7;
    for (const pi_mem one : {static_cast<pi_mem>(mem), static_cast<pi_mem>(imported)}) {
        const auto address = address_of(machine, second, one);
        for (const int device : {first, second, third})
            CHECK(access_of(address, device) == own::CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        CHECK(access_of(address, lone) == own::CU_MEM_ACCESS_FLAGS_PROT_NONE);
        const auto fill = fill_desc(one, &++pattern, 4, 0, 64, PI_COMMAND_BLOCKING);
        OK(piEnqueueMemBufferFill(machine.queue(first), &fill, 0, nullptr, nullptr));
        CHECK(read_words(machine.queue(second), mem, 16) == std::vector<uint32_t>(16, pattern));
    }
}

TEST_CASE("a descriptor of another device's memory is refused") {
    const Machine machine;
    const Owned<pi_mem> mem = exportable(machine, second, 64);
    const pi_external_handle handle = export_mem(mem);
    const Descriptor descriptor(handle.fd);
    Owned<pi_mem> imported;
    REFUSED(PI_ERROR_INVALID_VALUE, "memory of device 1",
            import_mem(machine, first, handle, imported.out()));
}

TEST_CASE("an export allocation that fails reports the free size and leaks nothing") {
    const own::Current current(first);
    size_t before = 0, after = 0, total = 0;
    REQUIRE(cu().cuMemGetInfo_v2(&before, &total) == CUDA_SUCCESS);
    {
        const Machine machine({first});
        Owned<pi_mem> more, mem = exportable(machine, first, 40 << 20);
        REFUSED(PI_ERROR_OUT_OF_DEVICE_MEMORY, "24 MiB of 64 MiB free",
                create(machine, first, 40 << 20, 0, more.out()));
        // Released memory can be allocated again, though releasing it waits for the device.
        for (int round = 0; round < 10; ++round) {
            const pi_external_handle handle = export_mem(mem);
            {
                const Descriptor descriptor(handle.fd);
                OK(import_mem(machine, first, handle, more.out()));
            }
            more.reset();
            mem.reset();
            mem = exportable(machine, first, 40 << 20);
        }
    }
    REQUIRE(cu().cuMemGetInfo_v2(&after, &total) == CUDA_SUCCESS);
    CHECK(before == after);
}

namespace {

/// The descriptor's number in the child process.
constexpr int inherited = 100;

pi_external_handle handle_of_file(int fd, uint64_t size) {
    pi_external_handle handle{};
    handle.type = PI_EXTERNAL_OPAQUE_FD;
    handle.fd = fd;
    handle.size = size;
    return handle;
}

} // namespace

TEST_CASE("another process: memory of a descriptor is read, and filled with 9", "[.process]") {
    if (fcntl(inherited, F_GETFD) < 0)
        return pi_test::skip("runs in the process that the next test starts");
    const Machine machine;
    Owned<pi_mem> mem;
    OK(import_mem(machine, second, handle_of_file(inherited, 64), mem.out()));
    const Owned<pi_queue> queue = machine.queue(second);
    CHECK(read_words(queue, mem, 16) == std::vector<uint32_t>(16, 5));
    const uint32_t nine = 9;
    const auto fill = fill_desc(mem, &nine, sizeof nine, 0, 64, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
}

TEST_CASE("exported memory is shared with another process: each sees the other's writes") {
    const Machine machine;
    const Owned<pi_mem> mem = exportable(machine, second, 64);
    const Owned<pi_queue> queue = machine.queue(second);
    const uint32_t five = 5;
    const auto fill = fill_desc(mem, &five, sizeof five, 0, 64, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    const pi_external_handle handle = export_mem(mem);
    REQUIRE(handle.offset == 0);
    const Descriptor descriptor(handle.fd);
    const Descriptor copy(dup2(handle.fd, inherited)); // not closed by exec
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    const pi_test::Ran ran = pi_test::run({self, "[.process]"});
    INFO(ran.output);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Catch::Contains("1 passed, 0 failed, 0 skipped"));
    CHECK(read_words(queue, mem, 16) == std::vector<uint32_t>(16, 9));
}

// ----- dma-bufs ----------------------------------------------------------------------------------

namespace {

uint64_t host_page() {
    return static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

Owned<pi_mem> for_dma_buf(const Machine &machine, uint64_t size) {
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.size = size;
    d.export_types = 1u << PI_EXTERNAL_DMA_BUF_FD;
    Owned<pi_mem> made;
    OK(piMemBufferCreate(machine.context, machine.devices.at(first), &d, made.out()));
    return made;
}

pi_result export_dma_buf(pi_mem mem, pi_external_handle *out) {
    auto d = pi::desc<pi_mem_export_desc>();
    d.external_type = PI_EXTERNAL_DMA_BUF_FD;
    return piMemExport(mem, &d, out);
}

/// A word of the exported memory, as another driver sees it.
uint32_t word_of(const pi_external_handle &handle, uint64_t offset) {
    uint32_t word = 0;
    CHECK(pread(handle.fd, &word, sizeof word, static_cast<off_t>(handle.offset + offset)) ==
          sizeof word);
    return word;
}

void fill_words(pi_queue queue, pi_mem mem, uint32_t word, uint64_t size) {
    const auto fill = fill_desc(mem, &word, sizeof word, 0, size, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
}

} // namespace

TEST_CASE("memory is exported to other drivers as a dma-buf of whole pages with the same bytes") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    const uint64_t size = host_page() + 100;
    const Owned<pi_mem> mem = for_dma_buf(machine, size);
    CHECK(address_of(machine, first, mem) % host_page() == 0);
    fill_words(queue, mem, 5, size);
    pi_external_handle handle{};
    OK(export_dma_buf(mem, &handle));
    const Descriptor descriptor(handle.fd);
    CHECK(handle.type == PI_EXTERNAL_DMA_BUF_FD);
    CHECK(handle.offset == 0);
    CHECK(handle.size == size);
    CHECK(lseek(handle.fd, 0, SEEK_END) == static_cast<off_t>(2 * host_page()));
    CHECK((fcntl(handle.fd, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(word_of(handle, size - 4) == 5);
    fill_words(queue, mem, 6, size);
    CHECK(word_of(handle, size - 4) == 6);

    auto part = pi::desc<pi_mem_partition_desc>();
    part.offset = 64;
    part.size = 128;
    Owned<pi_mem> view;
    OK(piMemBufferPartition(mem, &part, view.out()));
    pi_external_handle of_view{};
    OK(export_dma_buf(view, &of_view));
    const Descriptor another(of_view.fd);
    CHECK(of_view.fd != handle.fd);
    CHECK(of_view.offset == 64);
    CHECK(of_view.size == 128);
    fill_words(queue, view, 7, 128);
    CHECK(word_of(of_view, 124) == 7);
    CHECK(word_of(of_view, 128) == 6);
}

TEST_CASE("a dma-buf outlives the memory that it was exported from") {
    const Machine machine({first});
    Owned<pi_mem> mem = for_dma_buf(machine, host_page());
    fill_words(machine.queue(), mem, 8, host_page());
    pi_external_handle handle{};
    OK(export_dma_buf(mem, &handle));
    const Descriptor descriptor(handle.fd);
    mem.reset();
    CHECK(word_of(handle, 0) == 8);
}

TEST_CASE("dma-bufs are exported, not imported, and only from memory created for it") {
    const Machine machine({first});
    const pi_device device = machine.devices.at(first);
    CHECK(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_EXPORT_HANDLE_TYPES) &
          1u << PI_EXTERNAL_DMA_BUF_FD);
    CHECK_FALSE(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES) &
                1u << PI_EXTERNAL_DMA_BUF_FD);
    CHECK_FALSE(machine.connection(first, first).external_handle_types &
                1u << PI_EXTERNAL_DMA_BUF_FD);
    pi_external_handle handle{};
    REFUSED(PI_ERROR_INVALID_OPERATION, "export_types",
            export_dma_buf(machine.buffer(first, host_page()), &handle));
    REFUSED(PI_ERROR_INVALID_OPERATION, "export_types",
            export_dma_buf(exportable(machine, first, 64), &handle));
    OK(export_dma_buf(for_dma_buf(machine, 64), &handle));
    const Descriptor descriptor(handle.fd);
    Owned<pi_mem> mem;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "imports the types",
            import_mem(machine, first, handle, mem.out()));
}
