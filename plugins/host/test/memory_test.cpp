// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers and imports of the host: addresses. The conformance suite and its cases test the rest.
#include "fixture.hpp"

#include <algorithm>

using namespace pi_test;

namespace {

uintptr_t address(pi_mem mem) {
    void *pointer = nullptr;
    OK(piMemGetHostPointer(mem, &pointer));
    return reinterpret_cast<uintptr_t>(pointer);
}

} // namespace

TEST_CASE("a buffer's device address is its host address, and its memory is coherent") {
    const Host host;
    const Owned<pi_mem> mem = host.make_buffer(1000);
    CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_DEVICE_ADDRESS) == address(mem));
    CHECK(info<pi_coherence>(piMemGetInfo, mem, PI_MEM_INFO_COHERENCE) == PI_COHERENCE_COHERENT);
    uint64_t size = 0;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "bus address",
            piMemGetInfo(mem, PI_MEM_INFO_BUS_ADDRESS, 0, nullptr, &size));
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

TEST_CASE("a write from the buffer's own bytes is harmless") {
    const Host host;
    std::vector<std::byte> bytes(100'000, std::byte{9});
    const Owned<pi_mem> mem = host.make_import(bytes.data(), bytes.size());
    const pi_region whole = range(0, 0, bytes.size());
    const auto write = write_desc(mem, bytes.data(), whole, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferWrite(host.make_queue(), &write, 0, nullptr, nullptr));
    CHECK(std::count(bytes.begin(), bytes.end(), std::byte{9}) == 100'000);
}
