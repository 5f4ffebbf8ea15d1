// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of other processes by IPC handles: through the plugin, and the driver's rules.
#include "native.hpp"

#include "program.hpp"
#include "skip.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <unistd.h>

using namespace cuda_test;
namespace own = pi_cuda_test;
using Catch::Contains;

namespace {

pi_result create(const Machine &machine, uint64_t size, uint32_t types, pi_mem *out) {
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.size = size;
    d.export_types = types;
    return piMemBufferCreate(machine.context, machine.devices.at(second), &d, out);
}

Owned<pi_mem> exportable(const Machine &machine, uint64_t size) {
    Owned<pi_mem> made;
    OK(create(machine, size, 1u << PI_EXTERNAL_CUDA_IPC, made.out()));
    return made;
}

pi_result try_export(pi_mem mem, pi_external_type type, pi_external_handle *out) {
    auto d = pi::desc<pi_mem_export_desc>();
    d.external_type = type;
    return piMemExport(mem, &d, out);
}

pi_external_handle export_mem(pi_mem mem) {
    pi_external_handle handle{};
    OK(try_export(mem, PI_EXTERNAL_CUDA_IPC, &handle));
    return handle;
}

pi_result import_mem(const Machine &machine, size_t device, const pi_external_handle &handle,
                     pi_mem *out) {
    auto d = pi::desc<pi_mem_import_desc>();
    d.size = handle.size;
    d.handle = handle;
    return piMemImport(machine.context, machine.devices.at(device), &d, out);
}

/// The descriptor's number in the child process; its file has the handles to import.
constexpr int inherited = 101;

struct Letter {
    pi_external_handle whole, part, freed;
};

own::CUipcMemHandle native(const pi_external_handle &handle) {
    own::CUipcMemHandle native{};
    std::memcpy(&native, handle.ipc, sizeof native);
    return native;
}

} // namespace

TEST_CASE("another process: memory of IPC handles is read, filled with 9, and released", "[.ipc]") {
    if (fcntl(inherited, F_GETFD) < 0)
        return pi_test::skip("runs in the process that the next test starts");
    Letter letter;
    REQUIRE(pread(inherited, &letter, sizeof letter, 0) == sizeof letter);
    {
        const Machine machine;
        const Owned<pi_queue> queue = machine.queue(second);
        Owned<pi_mem> whole, part, wrong;
        OK(import_mem(machine, second, letter.whole, whole.out()));
        OK(import_mem(machine, second, letter.part, part.out()));
        own::CUcontext current = nullptr;
        CHECK((cu().cuCtxGetCurrent(&current) == CUDA_SUCCESS && !current));
        CHECK(read_words(queue, whole, 16) == std::vector<uint32_t>(16, 5));
        const uint32_t nine = 9;
        const auto fill = fill_desc(part, &nine, sizeof nine, 0, 32, PI_COMMAND_BLOCKING);
        OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
        part.reset(); // the driver counts opens
        CHECK((cu().cuCtxGetCurrent(&current) == CUDA_SUCCESS && !current));
        CHECK(read_words(queue, whole, 8) == std::vector<uint32_t>(8, 5));
        const Owned<pi_queue> peer = machine.queue(first);
        CHECK(read_words(peer, whole, 4) == std::vector<uint32_t>(4, 5));

        REFUSED(PI_ERROR_INVALID_VALUE, "memory of device 1",
                import_mem(machine, first, letter.whole, wrong.out()));
        REFUSED(PI_ERROR_INVALID_VALUE, "its exporter has freed it",
                import_mem(machine, second, letter.freed, wrong.out()));
        pi_external_handle far = letter.whole;
        far.offset = 2 << 20;
        REFUSED(PI_ERROR_INVALID_SIZE, "beyond the end",
                import_mem(machine, second, far, wrong.out()));
    }
    CHECK_THAT(own::leaks(), !Contains("allocation"));
    // Opened memory that is not closed is a leak; it must be closed, not freed.
    const own::Current current(second);
    own::CUdeviceptr address = 0, again = 0;
    const auto open = [&](own::CUdeviceptr *out) {
        return cu().cuIpcOpenMemHandle_v2(out, native(letter.whole),
                                          own::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    };
    REQUIRE(open(&address) == CUDA_SUCCESS);
    REQUIRE(open(&again) == CUDA_SUCCESS);
    CHECK(address == again);
    CHECK(cu().cuMemFree_v2(address) == own::CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuIpcCloseMemHandle(address) == CUDA_SUCCESS);
    CHECK_THAT(own::leaks(), Contains("1 allocation of device 1"));
    CHECK(cu().cuIpcCloseMemHandle(address) == CUDA_SUCCESS);
    CHECK(cu().cuIpcCloseMemHandle(address) == own::CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("memory of an IPC handle is shared with another process: each sees the other's writes") {
    const Machine machine;
    const Owned<pi_mem> mem = exportable(machine, 64);
    const Owned<pi_queue> queue = machine.queue(second);
    const uint32_t five = 5;
    const auto fill = fill_desc(mem, &five, sizeof five, 0, 64, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    auto d = pi::desc<pi_mem_partition_desc>();
    d.offset = 32;
    d.size = 32;
    Owned<pi_mem> part;
    OK(piMemBufferPartition(mem, &d, part.out()));
    Letter letter{export_mem(mem), export_mem(part), export_mem(exportable(machine, 64))};
    CHECK(letter.part.offset - letter.whole.offset == 32);
    CHECK(letter.part.size == 32);
    CHECK(letter.whole.fd == -1);
    {
        // A thread of the plugin frees memory in order; this buffer's comes after it.
        const Owned<pi_mem> most = exportable(machine, 60 << 20);
    }
    const int fd = memfd_create("letter", MFD_CLOEXEC);
    const Descriptor file(fd);
    REQUIRE(pwrite(fd, &letter, sizeof letter, 0) == sizeof letter);
    const Descriptor copy(dup2(fd, inherited)); // not closed by exec
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    const pi_test::Ran ran = pi_test::run({self, "[.ipc]"});
    INFO(ran.output);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("1 passed, 0 failed, 0 skipped"));
    std::vector<uint32_t> expected(16, 5);
    std::fill(expected.begin() + 8, expected.end(), 9);
    CHECK(read_words(queue, mem, 16) == expected);
}

TEST_CASE(
    "CUDA opens no IPC handle in the process that exports it, and the connection lists none") {
    const Machine machine;
    const Owned<pi_mem> mem = exportable(machine, 64);
    Owned<pi_mem> imported;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "of this process",
            import_mem(machine, second, export_mem(mem), imported.out()));
    CHECK((machine.connection(second, second).external_handle_types & 1u << PI_EXTERNAL_CUDA_IPC) ==
          0);
}

TEST_CASE("memory is exported only as the one type that it was created for") {
    const Machine machine;
    Owned<pi_mem> plain, both;
    OK(create(machine, 64, 0, plain.out()));
    pi_external_handle handle{};
    REFUSED(PI_ERROR_INVALID_OPERATION, "export_types",
            try_export(plain, PI_EXTERNAL_CUDA_IPC, &handle));
    REFUSED(PI_ERROR_INVALID_OPERATION, "export_types",
            try_export(exportable(machine, 64), PI_EXTERNAL_OPAQUE_FD, &handle));
    REFUSED(
        PI_ERROR_UNSUPPORTED_FEATURE, "export_types is 0x28",
        create(machine, 64, 1u << PI_EXTERNAL_CUDA_IPC | 1u << PI_EXTERNAL_OPAQUE_FD, both.out()));
}

TEST_CASE("a handle opens a whole driver block, which contains no other memory") {
    const Machine machine;
    const Owned<pi_mem> one = exportable(machine, 64), other = exportable(machine, (2 << 20) + 1);
    for (const auto &[mem, bytes] : {std::pair{static_cast<pi_mem>(one), 2 << 20},
                                     std::pair{static_cast<pi_mem>(other), 4 << 20}}) {
        const auto address = native_of<own::CUdeviceptr>([&](pi_native_handle *out) {
            return piMemGetNativeHandle(mem, machine.devices[second], out);
        });
        size_t size = 0;
        REQUIRE(cu().cuPointerGetAttribute(&size, own::CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) ==
                CUDA_SUCCESS);
        CHECK(size == static_cast<size_t>(bytes));
    }
}

TEST_CASE("an invalid IPC handle is refused") {
    const Machine machine;
    pi_external_handle handle = export_mem(exportable(machine, 64));
    std::memset(handle.ipc, 7, sizeof handle.ipc);
    Owned<pi_mem> imported;
    REFUSED(PI_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE",
            import_mem(machine, second, handle, imported.out()));
}
