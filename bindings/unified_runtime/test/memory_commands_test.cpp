// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "adapter.hpp"
#include "skip.hpp"

#include <algorithm>
#include <limits>

using namespace ur_test;

namespace {

/// Dense rectangles of a host model.
struct Box {
    ur_rect_offset_t origin{};
    size_t row = 0, slice = 0;
    size_t at(size_t x, size_t y, size_t z) const {
        return (origin.z + z) * slice + (origin.y + y) * row + origin.x + x;
    }
};

void copy_box(const Bytes &src, const Box &from, Bytes &dst, const Box &to,
              const ur_rect_region_t &region) {
    for (size_t z = 0; z < region.depth; ++z) {
        for (size_t y = 0; y < region.height; ++y) {
            for (size_t x = 0; x < region.width; ++x) {
                dst[to.at(x, y, z)] = src[from.at(x, y, z)];
            }
        }
    }
}

ur_result_t fill(const Machine &machine, ur_mem_handle_t mem, const Bytes &pattern, size_t offset,
                 size_t size) {
    return ur().Enqueue.pfnMemBufferFill(machine.queue(), mem, pattern.data(), pattern.size(),
                                         offset, size, 0, nullptr, nullptr);
}

Bytes repeated(const Bytes &pattern, size_t size) {
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = pattern[i % pattern.size()];
    }
    return bytes;
}

const Box in_buffer{{1, 2, 1}, 16, 128};
const Box in_host{{3, 1, 0}, 8, 64};
const ur_rect_region_t region{4, 3, 2};

} // namespace

TEST_CASE("reads and writes of ranges") {
    const Machine machine(GENERATE(from_range(device_counts())));
    const auto mem = machine.buffer(counting(1000));
    machine.write(mem, Bytes(10, 0xff), 5);
    Bytes expected = counting(1000);
    std::fill_n(expected.begin() + 5, 10, 0xff);
    CHECK(machine.read(mem, 1000) == expected);
    CHECK(machine.read(mem, 3, 13) == Bytes(expected.begin() + 13, expected.begin() + 16));
    const auto read = ur().Enqueue.pfnMemBufferRead;
    const auto write = ur().Enqueue.pfnMemBufferWrite;
    Bytes bytes(1001);
    FAILS(INVALID_SIZE,
          read(machine.queue(), mem, true, 0, 1001, bytes.data(), 0, nullptr, nullptr));
    FAILS(INVALID_SIZE,
          read(machine.queue(), mem, true, SIZE_MAX, 2, bytes.data(), 0, nullptr, nullptr));
    FAILS(INVALID_SIZE,
          write(machine.queue(), mem, true, 1000, 1, bytes.data(), 0, nullptr, nullptr));
    FAILS(INVALID_NULL_POINTER,
          read(machine.queue(), mem, true, 0, 1, nullptr, 0, nullptr, nullptr));
    FAILS(INVALID_NULL_HANDLE, write(nullptr, mem, true, 0, 1, bytes.data(), 0, nullptr, nullptr));
    FAILS(INVALID_NULL_HANDLE,
          write(machine.queue(), nullptr, true, 0, 1, bytes.data(), 0, nullptr, nullptr));
    FAILS(INVALID_EVENT_WAIT_LIST,
          read(machine.queue(), mem, true, 0, 1, bytes.data(), 1, nullptr, nullptr));
    CHECK(machine.read(mem, 1000) == expected);
}

TEST_CASE("commands wait for events of the queues of other devices") {
    if (all_devices().size() < 2) {
        return pi_test::skip("needs two devices");
    }
    const Machine machine(2);
    const auto mem = machine.buffer(64);
    const Bytes bytes = counting(64);
    Owned<ur_event_handle_t> written;
    OK(ur().Enqueue.pfnMemBufferWrite(machine.queue(0), mem, false, 0, 64, bytes.data(), 0, nullptr,
                                      written.out()));
    CHECK(info<ur_command_t>(ur().Event.pfnGetInfo, written.get(), UR_EVENT_INFO_COMMAND_TYPE) ==
          UR_COMMAND_MEM_BUFFER_WRITE);
    Bytes seen(64);
    Owned<ur_event_handle_t> was_read;
    OK(ur().Enqueue.pfnMemBufferRead(machine.queue(1), mem, false, 0, 64, seen.data(), 1,
                                     &written.get_ref(), was_read.out()));
    OK(ur().Event.pfnWait(1, &was_read.get_ref()));
    CHECK(seen == bytes);
}

TEST_CASE("each device of a context sees what the others wrote") {
    if (all_devices().size() < 2) {
        return pi_test::skip("needs two devices");
    }
    const Machine machine(2);
    const auto a = machine.buffer(counting(4096));
    const auto b = machine.buffer(4096);
    machine.write(a, Bytes(100, 9), 1000, 1);
    OK(ur().Enqueue.pfnMemBufferCopy(machine.queue(0), a, b, 0, 0, 4096, 0, nullptr, nullptr));
    const uint32_t pattern = 0x01020304;
    OK(ur().Enqueue.pfnMemBufferFill(machine.queue(0), b, &pattern, 4, 8, 8, 0, nullptr, nullptr));
    OK(ur().Queue.pfnFinish(machine.queue(0)));
    Bytes expected = counting(4096);
    std::fill_n(expected.begin() + 1000, 100, 9);
    CHECK(machine.read(a, 4096, 0, 0) == expected);
    const Bytes filled = repeated({4, 3, 2, 1}, 8);
    std::copy(filled.begin(), filled.end(), expected.begin() + 8);
    CHECK(machine.read(b, 4096, 0, 1) == expected);
}

TEST_CASE("rectangles move between the host, buffers and buffers' gaps") {
    const Machine machine(GENERATE(from_range(device_counts())));
    const auto &enqueue = ur().Enqueue;
    const auto mem = machine.buffer(counting(512));
    Bytes host(128, 0xaa);
    OK(enqueue.pfnMemBufferReadRect(machine.queue(), mem, true, in_buffer.origin, in_host.origin,
                                    region, in_buffer.row, in_buffer.slice, in_host.row,
                                    in_host.slice, host.data(), 0, nullptr, nullptr));
    Bytes expected(128, 0xaa);
    copy_box(counting(512), in_buffer, expected, in_host, region);
    CHECK(host == expected);

    host = counting(128, 101);
    OK(enqueue.pfnMemBufferWriteRect(machine.queue(), mem, true, in_buffer.origin, in_host.origin,
                                     region, in_buffer.row, in_buffer.slice, in_host.row,
                                     in_host.slice, host.data(), 0, nullptr, nullptr));
    expected = counting(512);
    copy_box(host, in_host, expected, in_buffer, region);
    CHECK(machine.read(mem, 512) == expected);

    const auto other = machine.buffer(Bytes(128, 0xbb));
    OK(enqueue.pfnMemBufferCopyRect(machine.queue(), mem, other, in_buffer.origin, in_host.origin,
                                    region, in_buffer.row, in_buffer.slice, in_host.row,
                                    in_host.slice, 0, nullptr, nullptr));
    Bytes copied(128, 0xbb);
    copy_box(expected, in_buffer, copied, in_host, region);
    CHECK(machine.read(other, 128) == copied);
}

TEST_CASE("pitches of 0 are dense") {
    const Machine machine;
    const auto mem = machine.buffer(counting(24));
    Bytes host(24);
    OK(ur().Enqueue.pfnMemBufferReadRect(machine.queue(), mem, true, {0, 0, 0}, {0, 0, 0},
                                         {4, 3, 2}, 0, 0, 0, 0, host.data(), 0, nullptr, nullptr));
    CHECK(host == counting(24));
}

TEST_CASE("wrong rectangles are refused") {
    const Machine machine;
    const auto mem = machine.buffer(256);
    Bytes host(256);
    struct Wrong {
        ur_rect_offset_t origin;
        ur_rect_region_t region;
        size_t buffer_row, buffer_slice, host_row, host_slice;
    };
    const Wrong cases[] = {
        {{0, 0, 0}, {0, 1, 1}, 16, 16, 16, 16},
        {{0, 0, 0}, {1, 0, 1}, 16, 16, 16, 16},
        {{0, 0, 0}, {1, 1, 0}, 16, 16, 16, 16},
        {{0, 0, 0}, {17, 1, 1}, 16, 32, 32, 32},
        {{0, 0, 0}, {17, 1, 1}, 32, 32, 16, 32},
        {{0, 0, 0}, {16, 2, 1}, 16, 31, 16, 32},
        {{0, 0, 0}, {16, 2, 1}, 16, 33, 16, 32},
        {{0, 0, 0}, {16, 2, 1}, 16, 32, 16, 16},
        {{0, 0, 0}, {16, 2, 1}, 16, 32, 16, 40},
        {{1, 15, 0}, {16, 1, 1}, 16, 256, 16, 16},
        {{0, 16, 0}, {1, 1, 1}, 16, 256, 16, 16},
        {{SIZE_MAX, 1, 1}, {16, 1, 1}, 16, 256, 16, 16},
        {{0, SIZE_MAX, 0}, {16, 1, 1}, 16, 256, 16, 16},
    };
    for (const Wrong &wrong : cases) {
        CAPTURE(&wrong - cases);
        FAILS(INVALID_SIZE, ur().Enqueue.pfnMemBufferReadRect(
                                machine.queue(), mem, true, wrong.origin, {0, 0, 0}, wrong.region,
                                wrong.buffer_row, wrong.buffer_slice, wrong.host_row,
                                wrong.host_slice, host.data(), 0, nullptr, nullptr));
    }
}

TEST_CASE("copies within one buffer") {
    const Machine machine(GENERATE(from_range(device_counts())));
    const auto mem = machine.buffer(counting(256));
    const auto copy = ur().Enqueue.pfnMemBufferCopy;
    OK(copy(machine.queue(), mem, mem, 0, 128, 64, 0, nullptr, nullptr));
    Bytes expected = counting(256);
    std::copy_n(expected.begin(), 64, expected.begin() + 128);
    CHECK(machine.read(mem, 256) == expected);
    FAILS(OVERLAPPING_REGIONS, copy(machine.queue(), mem, mem, 0, 32, 64, 0, nullptr, nullptr));
    FAILS(INVALID_SIZE, copy(machine.queue(), mem, mem, 1, 0, 256, 0, nullptr, nullptr));
    FAILS(INVALID_SIZE, copy(machine.queue(), mem, mem, 0, 1, 256, 0, nullptr, nullptr));
    CHECK(machine.read(mem, 256) == expected);
}

TEST_CASE("fills repeat patterns of any power of two") {
    const Machine machine(GENERATE(from_range(device_counts())));
    const size_t pattern_size = GENERATE(1, 4, 128, 256, 65536);
    const size_t size = 4 * 65536;
    const auto mem = machine.buffer(Bytes(size, 0));
    const Bytes pattern = counting(pattern_size, 3);
    OK(fill(machine, mem, pattern, 65536, 2 * 65536));
    Bytes expected(size, 0);
    const Bytes filled = repeated(pattern, 2 * 65536);
    std::copy(filled.begin(), filled.end(), expected.begin() + 65536);
    CHECK(machine.read(mem, size) == expected);
}

TEST_CASE("fills of parts at any offset that the devices allow") {
    const Machine machine(GENERATE(from_range(device_counts())));
    size_t offset = 1;
    for (const ur_device_handle_t device : machine.devices) {
        offset = std::max<size_t>(
            offset,
            info<uint32_t>(ur().Device.pfnGetInfo, device, UR_DEVICE_INFO_MEM_BASE_ADDR_ALIGN) / 8);
    }
    const auto whole = machine.buffer(Bytes(4096, 0));
    const ur_buffer_region_t range{UR_STRUCTURE_TYPE_BUFFER_REGION, nullptr, offset, 1024};
    Owned<ur_mem_handle_t> part;
    OK(ur().Mem.pfnBufferPartition(whole, 0, UR_BUFFER_CREATE_TYPE_REGION, &range, part.out()));
    OK(fill(machine, part, counting(4), 8, 512));
    Bytes expected(4096, 0);
    const Bytes filled = repeated(counting(4), 512);
    std::copy(filled.begin(), filled.end(), expected.begin() + static_cast<ptrdiff_t>(offset + 8));
    CHECK(machine.read(whole, 4096) == expected);
}

TEST_CASE("wrong fills are refused") {
    const Machine machine;
    const auto mem = machine.buffer(256);
    FAILS(INVALID_SIZE, fill(machine, mem, counting(4), 0, 0));
    FAILS(INVALID_SIZE, fill(machine, mem, counting(4), 0, 2));
    FAILS(INVALID_SIZE, fill(machine, mem, counting(4), 0, 6));
    FAILS(INVALID_SIZE, fill(machine, mem, counting(4), 2, 8));
    FAILS(INVALID_SIZE, fill(machine, mem, counting(12), 0, 24));
    FAILS(INVALID_SIZE, fill(machine, mem, counting(4), 0, 260));
    FAILS(INVALID_SIZE, fill(machine, mem, counting(512), 0, 512));
    FAILS(INVALID_NULL_POINTER, ur().Enqueue.pfnMemBufferFill(machine.queue(), mem, nullptr, 4, 0,
                                                              4, 0, nullptr, nullptr));
}

TEST_CASE("maps show a buffer's bytes, and unmaps publish them") {
    const Machine machine(GENERATE(from_range(device_counts())));
    const auto mem = machine.buffer(counting(1024));
    const auto &enqueue = ur().Enqueue;
    void *low = nullptr;
    void *high = nullptr;
    OK(enqueue.pfnMemBufferMap(machine.queue(), mem, true, UR_MAP_FLAG_READ | UR_MAP_FLAG_WRITE, 0,
                               512, 0, nullptr, nullptr, &low));
    Owned<ur_event_handle_t> mapped;
    OK(enqueue.pfnMemBufferMap(machine.queue(), mem, false, UR_MAP_FLAG_WRITE_INVALIDATE_REGION,
                               512, 512, 0, nullptr, mapped.out(), &high));
    REQUIRE(high != nullptr);
    OK(ur().Event.pfnWait(1, &mapped.get_ref()));
    CHECK(std::equal(static_cast<uint8_t *>(low), static_cast<uint8_t *>(low) + 512,
                     counting(512).begin()));
    static_cast<uint8_t *>(low)[7] = 0x77;
    std::fill_n(static_cast<uint8_t *>(high), 512, uint8_t{0x55});
    OK(enqueue.pfnMemUnmap(machine.queue(), mem, low, 0, nullptr, nullptr));
    OK(enqueue.pfnMemUnmap(machine.queue(), mem, high, 0, nullptr, nullptr));
    Bytes expected = counting(1024);
    expected[7] = 0x77;
    std::fill_n(expected.begin() + 512, 512, uint8_t{0x55});
    CHECK(machine.read(mem, 1024, 0, machine.queues.size() - 1) == expected);
    FAILS(INVALID_VALUE, enqueue.pfnMemUnmap(machine.queue(), mem, low, 0, nullptr, nullptr));
}

TEST_CASE("a buffer may be released while it is mapped") {
    const Machine machine(GENERATE(from_range(device_counts())));
    void *address = nullptr;
    auto mem = machine.buffer(counting(64));
    OK(ur().Enqueue.pfnMemBufferMap(machine.queue(), mem, true, UR_MAP_FLAG_READ, 0, 64, 0, nullptr,
                                    nullptr, &address));
    mem.reset();
}

TEST_CASE("wrong maps are refused") {
    const Machine machine;
    const auto mem = machine.buffer(64);
    const auto map = ur().Enqueue.pfnMemBufferMap;
    void *address = nullptr;
    FAILS(INVALID_SIZE, map(machine.queue(), mem, true, 0, 1, 64, 0, nullptr, nullptr, &address));
    FAILS(INVALID_SIZE,
          map(machine.queue(), mem, true, UR_MAP_FLAG_READ, 0, 0, 0, nullptr, nullptr, &address));
    FAILS(INVALID_ENUMERATION, map(machine.queue(), mem, true, UR_MAP_FLAG_FORCE_UINT32, 0, 64, 0,
                                   nullptr, nullptr, &address));
    FAILS(INVALID_NULL_POINTER,
          map(machine.queue(), mem, true, UR_MAP_FLAG_READ, 0, 64, 0, nullptr, nullptr, nullptr));
    FAILS(INVALID_NULL_POINTER,
          ur().Enqueue.pfnMemUnmap(machine.queue(), mem, nullptr, 0, nullptr, nullptr));
    OK(map(machine.queue(), mem, true, 0, 0, 64, 0, nullptr, nullptr, &address));
    OK(ur().Enqueue.pfnMemUnmap(machine.queue(), mem, address, 0, nullptr, nullptr));
}
