// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "adapter.hpp"
#include "skip.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

using namespace ur_test;

namespace {

ur_result_t create(const Machine &machine, ur_mem_flags_t flags, size_t size, void *host,
                   Owned<ur_mem_handle_t> &out) {
    ur_buffer_properties_t properties{};
    properties.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES;
    properties.pHost = host;
    return ur().Mem.pfnBufferCreate(machine.context, flags, size,
                                    host != nullptr ? &properties : nullptr, out.out());
}

ur_result_t partition(ur_mem_handle_t buffer, ur_mem_flags_t flags, size_t offset, size_t size,
                      Owned<ur_mem_handle_t> &out) {
    const ur_buffer_region_t region{UR_STRUCTURE_TYPE_BUFFER_REGION, nullptr, offset, size};
    return ur().Mem.pfnBufferPartition(buffer, flags, UR_BUFFER_CREATE_TYPE_REGION, &region,
                                       out.out());
}

} // namespace

TEST_CASE("buffers are created with the bytes and the flags of the caller") {
    const Machine machine(GENERATE(from_range(device_counts())));
    Bytes bytes = counting(100);
    Owned<ur_mem_handle_t> mem;
    OK(create(machine, UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER, bytes.size(), bytes.data(), mem));
    bytes.assign(100, 0);
    CHECK(machine.read(mem, 100) == counting(100));
    bytes = counting(100, 7);
    OK(create(machine, UR_MEM_FLAG_USE_HOST_POINTER, bytes.size(), bytes.data(), mem));
    CHECK(machine.read(mem, 100) == counting(100, 7));
    for (const ur_mem_flags_t flags :
         {ur_mem_flags_t{0}, ur_mem_flags_t{UR_MEM_FLAG_READ_WRITE},
          ur_mem_flags_t{UR_MEM_FLAG_READ_ONLY}, ur_mem_flags_t{UR_MEM_FLAG_WRITE_ONLY},
          ur_mem_flags_t{UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_ALLOC_HOST_POINTER}}) {
        mem = machine.buffer(64, flags);
        machine.write(mem, counting(64));
        CHECK(machine.read(mem, 64) == counting(64));
    }
}

TEST_CASE("wrong buffers are refused with UR's codes") {
    const Machine machine;
    char byte = 0;
    Owned<ur_mem_handle_t> mem;
    FAILS(INVALID_BUFFER_SIZE, create(machine, 0, 0, nullptr, mem));
    FAILS(INVALID_ENUMERATION, create(machine, UR_MEM_FLAG_FORCE_UINT32, 1, nullptr, mem));
    FAILS(INVALID_HOST_PTR, create(machine, UR_MEM_FLAG_USE_HOST_POINTER, 1, nullptr, mem));
    FAILS(INVALID_HOST_PTR,
          create(machine, UR_MEM_FLAG_USE_HOST_POINTER | UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER, 1,
                 nullptr, mem));
    FAILS(INVALID_HOST_PTR, create(machine, UR_MEM_FLAG_READ_WRITE, 1, &byte, mem));
    FAILS(INVALID_VALUE,
          create(machine, UR_MEM_FLAG_READ_ONLY | UR_MEM_FLAG_WRITE_ONLY, 1, nullptr, mem));
    FAILS(INVALID_VALUE,
          create(machine, UR_MEM_FLAG_USE_HOST_POINTER | UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER, 1,
                 &byte, mem));
    FAILS(INVALID_NULL_HANDLE, ur().Mem.pfnBufferCreate(nullptr, 0, 1, nullptr, mem.out()));
    FAILS(INVALID_NULL_POINTER, ur().Mem.pfnBufferCreate(machine.context, 0, 1, nullptr, nullptr));
}

TEST_CASE("a part of a buffer has the buffer's bytes") {
    const Machine machine(GENERATE(from_range(device_counts())));
    const auto whole = machine.buffer(counting(4096));
    Owned<ur_mem_handle_t> part;
    OK(partition(whole, UR_MEM_FLAG_READ_WRITE, 1024, 512, part));
    CHECK(info<size_t>(ur().Mem.pfnGetInfo, part.get(), UR_MEM_INFO_SIZE) == 512);
    Bytes expected = counting(4096);
    CHECK(machine.read(part, 512) == Bytes(expected.begin() + 1024, expected.begin() + 1536));
    machine.write(part, Bytes(16, 0xee), 8);
    std::fill_n(expected.begin() + 1032, 16, 0xee);
    CHECK(machine.read(whole, 4096) == expected);
}

TEST_CASE("a part outlives the handle of its buffer") {
    const Machine machine(GENERATE(from_range(device_counts())));
    Owned<ur_mem_handle_t> part;
    {
        const auto whole = machine.buffer(counting(2048));
        OK(partition(whole, 0, 1024, 4, part));
    }
    CHECK(machine.read(part, 4) == counting(4));
}

TEST_CASE("wrong parts are refused with UR's codes") {
    const Machine machine(GENERATE(from_range(device_counts())));
    const auto whole = machine.buffer(4096);
    const auto constant = machine.buffer(4096, UR_MEM_FLAG_READ_ONLY);
    Owned<ur_mem_handle_t> part;
    Owned<ur_mem_handle_t> none;
    OK(partition(constant, 0, 0, 1024, part));
    OK(partition(constant, UR_MEM_FLAG_READ_ONLY, 0, 1024, part));
    FAILS(INVALID_MEM_OBJECT, partition(part, 0, 0, 16, none));
    FAILS(INVALID_VALUE, partition(constant, UR_MEM_FLAG_READ_WRITE, 0, 1024, none));
    FAILS(INVALID_VALUE, partition(constant, UR_MEM_FLAG_WRITE_ONLY, 0, 1024, none));
    FAILS(INVALID_VALUE, partition(whole, UR_MEM_FLAG_ALLOC_HOST_POINTER, 0, 1024, none));
    FAILS(INVALID_ENUMERATION, partition(whole, UR_MEM_FLAG_FORCE_UINT32, 0, 1024, none));
    FAILS(INVALID_BUFFER_SIZE, partition(whole, 0, 0, 0, none));
    FAILS(INVALID_BUFFER_SIZE, partition(whole, 0, 0, 8192, none));
    FAILS(INVALID_BUFFER_SIZE, partition(whole, 0, 4096, 1, none));
    FAILS(INVALID_BUFFER_SIZE, partition(whole, 0, SIZE_MAX, 2, none));
    // In bits.
    if (info<uint32_t>(ur().Device.pfnGetInfo, machine.devices[0],
                       UR_DEVICE_INFO_MEM_BASE_ADDR_ALIGN) > 8) {
        FAILS(MISALIGNED_SUB_BUFFER_OFFSET, partition(whole, 0, 1, 16, none));
    } else {
        OK(partition(whole, 0, 1, 16, none));
    }
    const ur_buffer_region_t region{UR_STRUCTURE_TYPE_BUFFER_REGION, nullptr, 0, 16};
    FAILS(INVALID_ENUMERATION,
          ur().Mem.pfnBufferPartition(whole, 0, UR_BUFFER_CREATE_TYPE_FORCE_UINT32, &region,
                                      none.out()));
    FAILS(INVALID_NULL_POINTER,
          ur().Mem.pfnBufferPartition(whole, 0, UR_BUFFER_CREATE_TYPE_REGION, nullptr, none.out()));
    FAILS(INVALID_NULL_POINTER,
          ur().Mem.pfnBufferPartition(whole, 0, UR_BUFFER_CREATE_TYPE_REGION, &region, nullptr));
}

TEST_CASE("infos of buffers") {
    const Machine machine;
    const auto mem = machine.buffer(100);
    const auto get = ur().Mem.pfnGetInfo;
    CHECK(info<size_t>(get, mem.get(), UR_MEM_INFO_SIZE) == 100);
    CHECK(info<ur_context_handle_t>(get, mem.get(), UR_MEM_INFO_CONTEXT) == machine.context.get());
    CHECK(info<uint32_t>(get, mem.get(), UR_MEM_INFO_REFERENCE_COUNT) == 1);
    OK(ur().Mem.pfnRetain(mem));
    CHECK(info<uint32_t>(get, mem.get(), UR_MEM_INFO_REFERENCE_COUNT) == 2);
    OK(ur().Mem.pfnRelease(mem));
    size_t value = 0;
    FAILS(INVALID_ENUMERATION, get(mem, UR_MEM_INFO_FORCE_UINT32, sizeof value, &value, nullptr));
    FAILS(INVALID_SIZE, get(mem, UR_MEM_INFO_SIZE, sizeof value - 1, &value, nullptr));
    FAILS(INVALID_NULL_POINTER, get(mem, UR_MEM_INFO_SIZE, 0, nullptr, nullptr));
    FAILS(INVALID_NULL_HANDLE, get(nullptr, UR_MEM_INFO_SIZE, sizeof value, &value, nullptr));
    FAILS(INVALID_MEM_OBJECT,
          ur().Mem.pfnImageGetInfo(mem, UR_IMAGE_INFO_WIDTH, sizeof value, &value, nullptr));
}

TEST_CASE("the native handle of a buffer stays the same") {
    const Machine machine(GENERATE(from_range(device_counts())));
    const auto mem = machine.buffer(counting(256));
    ur_native_handle_t first = 0;
    ur_native_handle_t second = 0;
    OK(ur().Mem.pfnGetNativeHandle(mem, machine.devices[0], &first));
    OK(ur().Mem.pfnGetNativeHandle(mem, nullptr, &second));
    CHECK(first != 0);
    CHECK(first == second);
    // Commands go on, and the handle is the same afterwards.
    for (size_t at = 0; at < machine.queues.size(); ++at) {
        machine.write(mem, Bytes(16, static_cast<uint8_t>(at)), 16 * at, at);
    }
    Bytes expected = counting(256);
    for (size_t at = 0; at < machine.queues.size(); ++at) {
        std::fill_n(expected.begin() + static_cast<ptrdiff_t>(16 * at), 16,
                    static_cast<uint8_t>(at));
    }
    OK(ur().Mem.pfnGetNativeHandle(mem, machine.devices[0], &second));
    CHECK(first == second);
    CHECK(machine.read(mem, 256) == expected);
    FAILS(INVALID_NULL_POINTER, ur().Mem.pfnGetNativeHandle(mem, nullptr, nullptr));
    FAILS(INVALID_NULL_HANDLE, ur().Mem.pfnGetNativeHandle(nullptr, nullptr, &first));
}

TEST_CASE("threads get the native handle of one buffer") {
    const Machine machine(GENERATE(from_range(device_counts())));
    const auto mem = machine.buffer(counting(256));
    std::array<ur_native_handle_t, 4> natives{};
    std::vector<std::thread> threads;
    for (ur_native_handle_t &native : natives) {
        threads.emplace_back(
            [&] { ur().Mem.pfnGetNativeHandle(mem, machine.devices[0], &native); });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    CHECK(natives[0] != 0);
    CHECK(std::count(natives.begin(), natives.end(), natives[0]) == 4);
}

TEST_CASE("each part of a buffer has a native handle") {
    const Machine machine(GENERATE(from_range(device_counts())));
    const auto whole = machine.buffer(counting(4096));
    Owned<ur_mem_handle_t> part;
    OK(partition(whole, 0, 1024, 512, part));
    ur_native_handle_t of_whole = 0;
    ur_native_handle_t of_part = 0;
    ur_native_handle_t again = 0;
    OK(ur().Mem.pfnGetNativeHandle(whole, machine.devices[0], &of_whole));
    OK(ur().Mem.pfnGetNativeHandle(part, machine.devices[0], &of_part));
    CHECK(of_part != of_whole);
    OK(ur().Mem.pfnGetNativeHandle(whole, machine.devices[0], &again));
    CHECK(again == of_whole);
    CHECK(machine.read(part, 4) == counting(4));
    CHECK(machine.read(whole, 4096) == counting(4096));
}

TEST_CASE("a buffer around a native handle has its bytes, where the plugin knows its size") {
    const Machine machine;
    const auto mem = machine.buffer(counting(256));
    ur_native_handle_t native = 0;
    OK(ur().Mem.pfnGetNativeHandle(mem, machine.devices[0], &native));
    const ur_mem_native_properties_t properties{UR_STRUCTURE_TYPE_MEM_NATIVE_PROPERTIES, nullptr,
                                                false};
    FAILS(INVALID_NULL_HANDLE,
          ur().Mem.pfnBufferCreateWithNativeHandle(native, nullptr, &properties, nullptr));
    FAILS(INVALID_NULL_POINTER,
          ur().Mem.pfnBufferCreateWithNativeHandle(native, machine.context, &properties, nullptr));
    Owned<ur_mem_handle_t> around;
    const ur_result_t result = ur().Mem.pfnBufferCreateWithNativeHandle(native, machine.context,
                                                                        &properties, around.out());
    if (result == UR_RESULT_ERROR_UNSUPPORTED_FEATURE) {
        CHECK(last_error().find("unknown size") != std::string::npos);
        return pi_test::skip("the plugin imports no native memory of unknown size");
    }
    OK(result);
    CHECK(machine.read(around, 256) == counting(256));
}
