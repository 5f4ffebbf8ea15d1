// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace pi_level_zero_test;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes counted(size_t size) {
    Bytes bytes(size);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t(0));
    return bytes;
}

} // namespace

TEST_CASE("Bytes are copied from the host to a device, within it and back") {
    const Context context;
    const List list(context);
    const Memory first(context, 1000), second(context, 1000);
    const Bytes bytes = counted(1000);
    CHECK(zeCommandListAppendMemoryCopy(list, first.address, bytes.data(), 1000, nullptr, 0,
                                        nullptr) == ZE_RESULT_SUCCESS);
    list.barrier();
    CHECK(zeCommandListAppendMemoryCopyFromContext(list, second.address, context, first.address,
                                                   1000, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
    CHECK(read(list, second.address, 1000) == bytes);
}

TEST_CASE("A copy from another context names the source's context") {
    const Context context, other;
    const List list(context);
    const Memory here(context, 100), there(other, 100);
    const auto copy = [&](ze_context_handle_t named) {
        return zeCommandListAppendMemoryCopyFromContext(list, here.address, named, there.address,
                                                        100, nullptr, 0, nullptr);
    };
    CHECK(copy(context) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(copy(other) == ZE_RESULT_SUCCESS);
    list.finish();
}

TEST_CASE("Copies beyond the end, onto themselves, and of 0 bytes are refused") {
    const Context context;
    const List list(context);
    const Memory memory(context, 100);
    Bytes bytes(200);
    CHECK(zeCommandListAppendMemoryCopy(list, memory.address, bytes.data(), 101, nullptr, 0,
                                        nullptr) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(zeCommandListAppendMemoryCopy(list, memory.as<char>() + 50, bytes.data(), 51, nullptr, 0,
                                        nullptr) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(zeCommandListAppendMemoryCopy(list, memory.address, memory.as<char>() + 10, 50, nullptr,
                                        0, nullptr) == ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    CHECK(zeCommandListAppendMemoryCopy(list, nullptr, bytes.data(), 1, nullptr, 0, nullptr) ==
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_CASE("A fill repeats a pattern of any size that the queue group supports") {
    const Context context;
    const List compute(context, 0, 0), copy(context, 0, 1);
    const Memory memory(context, 1000);
    const Bytes pattern = counted(65);
    for (const size_t size : {1, 2, 3, 7, 16, 64}) {
        CAPTURE(size);
        CHECK(zeCommandListAppendMemoryFill(compute, memory.address, pattern.data(), size, 1000,
                                            nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
        Bytes wanted(1000);
        for (size_t i = 0; i < wanted.size(); ++i)
            wanted[i] = pattern[i % size];
        CHECK(read(compute, memory.address, 1000) == wanted);
    }
    CHECK(zeCommandListAppendMemoryFill(compute, memory.address, pattern.data(), 65, 975, nullptr,
                                        0, nullptr) == ZE_RESULT_ERROR_INVALID_SIZE);
    CHECK(zeCommandListAppendMemoryFill(copy, memory.address, pattern.data(), 16, 1000, nullptr, 0,
                                        nullptr) == ZE_RESULT_SUCCESS);
    CHECK(zeCommandListAppendMemoryFill(copy, memory.address, pattern.data(), 17, 1000, nullptr, 0,
                                        nullptr) == ZE_RESULT_ERROR_INVALID_SIZE);
    CHECK(zeCommandListAppendMemoryFill(compute, memory.address, pattern.data(), 4, 1001, nullptr,
                                        0, nullptr) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    copy.finish();
}

TEST_CASE("A region is copied with separate origins and pitches at both ends") {
    const Context context;
    const List list(context);
    const Bytes bytes = counted(240);
    const Memory memory(context, 1000);
    const std::uint8_t zero = 0;
    CHECK(zeCommandListAppendMemoryFill(list, memory.address, &zero, 1, 1000, nullptr, 0,
                                        nullptr) == ZE_RESULT_SUCCESS);
    list.barrier();
    // 3 x 2 x 2 bytes of 10 x 6 x 4, into 20 x 10 x 5.
    const ze_copy_region_t to{4, 3, 1, 3, 2, 2}, from{1, 2, 1, 3, 2, 2};
    CHECK(zeCommandListAppendMemoryCopyRegion(list, memory.address, &to, 20, 200, bytes.data(),
                                              &from, 10, 60, nullptr, 0,
                                              nullptr) == ZE_RESULT_SUCCESS);
    Bytes wanted(1000);
    for (size_t z = 0; z < 2; ++z)
        for (size_t y = 0; y < 2; ++y)
            for (size_t x = 0; x < 3; ++x)
                wanted[(z + 1) * 200 + (y + 3) * 20 + x + 4] =
                    bytes[(z + 1) * 60 + (y + 2) * 10 + x + 1];
    CHECK(read(list, memory.address, 1000) == wanted);
    const ze_copy_region_t flat{0, 0, 0, 3, 2, 0}, other{0, 0, 0, 4, 2, 0};
    CHECK(zeCommandListAppendMemoryCopyRegion(list, memory.address, &flat, 20, 0, bytes.data(),
                                              &flat, 10, 0, nullptr, 0,
                                              nullptr) == ZE_RESULT_SUCCESS);
    CHECK(zeCommandListAppendMemoryCopyRegion(list, memory.address, &flat, 20, 0, bytes.data(),
                                              &other, 10, 0, nullptr, 0,
                                              nullptr) == ZE_RESULT_ERROR_INVALID_SIZE);
    CHECK(zeCommandListAppendMemoryCopyRegion(list, memory.address, &flat, 2, 0, bytes.data(),
                                              &flat, 10, 0, nullptr, 0,
                                              nullptr) == ZE_RESULT_ERROR_INVALID_SIZE);
    list.finish();
}

TEST_CASE("Hints and residency need existing memory") {
    const Context context;
    const List list(context);
    const Memory shared(context, 100, Kind::shared);
    const ze_device_handle_t device = devices()[0];
    CHECK(zeCommandListAppendMemoryPrefetch(list, shared.address, 100) == ZE_RESULT_SUCCESS);
    CHECK(zeCommandListAppendMemoryPrefetch(list, shared.address, 101) ==
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(zeCommandListAppendMemAdvise(list, device, shared.address, 100,
                                       ZE_MEMORY_ADVICE_SET_READ_MOSTLY) == ZE_RESULT_SUCCESS);
    CHECK(zeContextMakeMemoryResident(context, device, shared.address, 100) == ZE_RESULT_SUCCESS);
    CHECK(zeContextEvictMemory(context, device, shared.address, 100) == ZE_RESULT_SUCCESS);
    CHECK(zeContextSystemBarrier(context, device) == ZE_RESULT_SUCCESS);
    list.finish();
}
