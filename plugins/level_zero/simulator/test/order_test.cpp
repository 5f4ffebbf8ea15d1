// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events, barriers, fences, regular lists and queues: the order of work, and what the host sees of
// it.
#include "fixture.hpp"

#include <catch2/catch.hpp>

using namespace pi_level_zero_test;

namespace {

class Queue {
public:
    explicit Queue(const Context &context, std::uint32_t group = 0,
                   ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS) {
        const ze_command_queue_desc_t description{
            ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, group, 0, 0, mode,
            ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
        REQUIRE(zeCommandQueueCreate(context, devices()[0], &description, &handle) ==
                ZE_RESULT_SUCCESS);
    }
    Queue(const Queue &) = delete;
    ~Queue() {
        CHECK(zeCommandQueueSynchronize(handle, UINT64_MAX) == ZE_RESULT_SUCCESS);
        CHECK(zeCommandQueueDestroy(handle) == ZE_RESULT_SUCCESS);
    }
    ze_result_t execute(ze_command_list_handle_t list, ze_fence_handle_t fence = nullptr) const {
        return zeCommandQueueExecuteCommandLists(handle, 1, &list, fence);
    }
    ze_command_queue_handle_t handle = nullptr;
};

class RegularList {
public:
    explicit RegularList(const Context &context, std::uint32_t group = 0) {
        const ze_command_list_desc_t description{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr,
                                                 group, 0};
        REQUIRE(zeCommandListCreate(context, devices()[0], &description, &handle) ==
                ZE_RESULT_SUCCESS);
    }
    RegularList(const RegularList &) = delete;
    ~RegularList() { CHECK(zeCommandListDestroy(handle) == ZE_RESULT_SUCCESS); }
    void fill(void *address, std::uint8_t value, size_t size) const {
        CHECK(zeCommandListAppendMemoryFill(handle, address, &value, 1, size, nullptr, 0,
                                            nullptr) == ZE_RESULT_SUCCESS);
    }
    void close() const { CHECK(zeCommandListClose(handle) == ZE_RESULT_SUCCESS); }
    ze_command_list_handle_t handle = nullptr;
};

} // namespace

TEST_CASE("An event has the state that the host or a command last set") {
    const Context context;
    const List list(context);
    const Events events(context, 2);
    CHECK(zeEventQueryStatus(events[0]) == ZE_RESULT_NOT_READY);
    CHECK(zeEventHostSynchronize(events[0], 0) == ZE_RESULT_NOT_READY);
    CHECK(zeEventHostSynchronize(events[0], 1000) == ZE_RESULT_NOT_READY);
    CHECK(zeEventHostSignal(events[0]) == ZE_RESULT_SUCCESS);
    CHECK(zeEventHostSynchronize(events[0], UINT64_MAX) == ZE_RESULT_SUCCESS);
    CHECK(zeCommandListAppendEventReset(list, events[0]) == ZE_RESULT_SUCCESS);
    list.barrier();
    CHECK(zeCommandListAppendSignalEvent(list, events[1]) == ZE_RESULT_SUCCESS);
    CHECK(zeEventHostSynchronize(events[1], UINT64_MAX) == ZE_RESULT_SUCCESS);
    CHECK(zeEventQueryStatus(events[0]) == ZE_RESULT_NOT_READY);
    CHECK(zeEventHostReset(events[1]) == ZE_RESULT_SUCCESS);
    CHECK(zeEventQueryStatus(events[1]) == ZE_RESULT_NOT_READY);
}

TEST_CASE("A command waits for its events, and its event is signalled when it is done") {
    const Context context;
    const List first(context), second(context);
    const Events events(context, 3);
    const Memory memory(context, 64);
    ze_event_handle_t go = events[0], filled = events[1];
    const std::uint8_t value = 4;
    CHECK(zeCommandListAppendMemoryFill(first, memory.address, &value, 1, 64, filled, 1, &go) ==
          ZE_RESULT_SUCCESS);
    std::uint8_t out[64] = {};
    CHECK(zeCommandListAppendMemoryCopy(second, out, memory.address, 64, events[2], 1, &filled) ==
          ZE_RESULT_SUCCESS);
    CHECK(zeEventHostSynchronize(events[2], 1000000) == ZE_RESULT_NOT_READY);
    CHECK(zeEventDestroy(go) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK(zeCommandListDestroy(first) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK(zeEventHostSignal(go) == ZE_RESULT_SUCCESS);
    CHECK(zeEventHostSynchronize(events[2], UINT64_MAX) == ZE_RESULT_SUCCESS);
    CHECK(out[63] == 4);
}

TEST_CASE("Commands behind a wait or a barrier wait for it") {
    const Context context;
    const List list(context);
    const Events events(context, 2);
    ze_event_handle_t go = events[0];
    SECTION("a wait") {
        CHECK(zeCommandListAppendWaitOnEvents(list, 1, &go) == ZE_RESULT_SUCCESS);
    }
    SECTION("a barrier with an event") {
        CHECK(zeCommandListAppendBarrier(list, nullptr, 1, &go) == ZE_RESULT_SUCCESS);
    }
    SECTION("a barrier for ranges") {
        const size_t size = 1;
        const void *range = &size;
        CHECK(zeCommandListAppendMemoryRangesBarrier(list, 1, &size, &range, nullptr, 1, &go) ==
              ZE_RESULT_SUCCESS);
    }
    CHECK(zeCommandListAppendSignalEvent(list, events[1]) == ZE_RESULT_SUCCESS);
    CHECK(zeEventHostSynchronize(events[1], 1000000) == ZE_RESULT_NOT_READY);
    CHECK(zeEventHostSignal(go) == ZE_RESULT_SUCCESS);
    CHECK(zeEventHostSynchronize(events[1], UINT64_MAX) == ZE_RESULT_SUCCESS);
}

TEST_CASE("Events have unique indices in a pool, which outlives them") {
    const Context context;
    const Events events(context, 2);
    ze_event_handle_t out = nullptr;
    ze_event_desc_t description{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 2, 0, 0};
    CHECK(zeEventCreate(events.pool, &description, &out) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    description.index = 1;
    CHECK(zeEventCreate(events.pool, &description, &out) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(zeEventPoolDestroy(events.pool) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
}

TEST_CASE("The host cannot query events invisible to it, nor times that were not requested") {
    const Context context;
    const Events hidden(context, 1, 0), plain(context, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    CHECK(zeEventHostSynchronize(hidden[0], 0) == ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    CHECK(zeEventHostSignal(hidden[0]) == ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    ze_kernel_timestamp_result_t times{};
    CHECK(zeEventQueryKernelTimestamp(plain[0], &times) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("Timestamps of commands use the device's clock") {
    const Context context;
    const List list(context);
    const Events events(context, 2);
    const Memory memory(context, 1 << 20), out(context, 4096, Kind::host);
    const char value = 1;
    CHECK(zeCommandListAppendMemoryFill(list, memory.address, &value, 1, 1 << 20, events[0], 0,
                                        nullptr) == ZE_RESULT_SUCCESS);
    list.barrier();
    CHECK(zeCommandListAppendSignalEvent(list, events[1]) == ZE_RESULT_SUCCESS);
    list.finish();
    ze_kernel_timestamp_result_t first{}, second{};
    CHECK(zeEventQueryKernelTimestamp(events[0], &first) == ZE_RESULT_SUCCESS);
    CHECK(zeEventQueryKernelTimestamp(events[1], &second) == ZE_RESULT_SUCCESS);
    // 32 bits wrap within six minutes.
    const auto before = [](std::uint64_t a, std::uint64_t b) {
        return ((b - a) & UINT32_MAX) < UINT32_MAX / 2;
    };
    CHECK(before(first.global.kernelStart, first.global.kernelEnd));
    CHECK(before(first.global.kernelEnd, second.global.kernelStart));
    ze_event_handle_t both[2] = {events[0], events[1]};
    CHECK(zeCommandListAppendQueryKernelTimestamps(list, 2, both, out.address, nullptr, nullptr, 0,
                                                   nullptr) == ZE_RESULT_SUCCESS);
    auto *const now = reinterpret_cast<std::uint64_t *>(out.as<char>() + 1024);
    CHECK(zeCommandListAppendWriteGlobalTimestamp(list, now, nullptr, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
    list.finish();
    const auto *const written = out.as<ze_kernel_timestamp_result_t>();
    CHECK(written[0].global.kernelEnd == first.global.kernelEnd);
    CHECK(written[1].context.kernelStart == second.context.kernelStart);
    CHECK(before(second.global.kernelEnd, *now & UINT32_MAX));
    CHECK(zeEventHostReset(events[0]) == ZE_RESULT_SUCCESS);
    CHECK(zeEventQueryKernelTimestamp(events[0], &first) == ZE_RESULT_NOT_READY);
}

TEST_CASE("A regular list is recorded, closed, executed repeatedly, reset and recorded again") {
    const Context context;
    const Queue queue(context);
    const List reader(context);
    const Memory memory(context, 64);
    const RegularList list(context);
    list.fill(memory.address, 1, 64);
    CHECK(queue.execute(list.handle) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    list.close();
    CHECK(zeCommandListAppendBarrier(list.handle, nullptr, 0, nullptr) ==
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(read(reader, memory.address, 1)[0] == 0xcb);
    for (int round = 0; round < 2; ++round) {
        CHECK(queue.execute(list.handle) == ZE_RESULT_SUCCESS);
        CHECK(zeCommandQueueSynchronize(queue.handle, UINT64_MAX) == ZE_RESULT_SUCCESS);
        CHECK(read(reader, memory.address, 1)[0] == 1);
    }
    CHECK(zeCommandListReset(list.handle) == ZE_RESULT_SUCCESS);
    list.fill(memory.address, 2, 64);
    list.close();
    CHECK(queue.execute(list.handle) == ZE_RESULT_SUCCESS);
    CHECK(zeCommandQueueSynchronize(queue.handle, UINT64_MAX) == ZE_RESULT_SUCCESS);
    CHECK(read(reader, memory.address, 1)[0] == 2);
}

TEST_CASE("A running list cannot be reset, executed again or destroyed; its queue is in use") {
    const Context context;
    const Queue queue(context);
    const Events events(context, 1);
    const RegularList list(context);
    ze_event_handle_t go = events[0];
    CHECK(zeCommandListAppendWaitOnEvents(list.handle, 1, &go) == ZE_RESULT_SUCCESS);
    list.close();
    CHECK(queue.execute(list.handle) == ZE_RESULT_SUCCESS);
    CHECK(zeCommandListReset(list.handle) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK(zeCommandListDestroy(list.handle) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK(queue.execute(list.handle) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK(zeCommandQueueSynchronize(queue.handle, 1000) == ZE_RESULT_NOT_READY);
    CHECK(zeCommandQueueDestroy(queue.handle) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK(zeEventHostSignal(go) == ZE_RESULT_SUCCESS);
    CHECK(zeCommandQueueSynchronize(queue.handle, UINT64_MAX) == ZE_RESULT_SUCCESS);
}

TEST_CASE("A queue accepts lists of its group only; a synchronous one returns when they are done") {
    const Context context;
    const Queue copies(context, 1), queue(context, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    const Memory memory(context, 64, Kind::shared);
    const RegularList list(context);
    list.fill(memory.address, 1, 64);
    list.close();
    CHECK(copies.execute(list.handle) == ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    CHECK(queue.execute(list.handle) == ZE_RESULT_SUCCESS);
    CHECK(memory.as<std::uint8_t>()[63] == 1);
    const List immediate(context, 0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    const char value = 2;
    CHECK(zeCommandListAppendMemoryFill(immediate, memory.address, &value, 1, 64, nullptr, 0,
                                        nullptr) == ZE_RESULT_SUCCESS);
    CHECK(memory.as<std::uint8_t>()[63] == 2);
    // Closing an immediate list has no effect, and is allowed.
    CHECK(zeCommandListClose(immediate) == ZE_RESULT_SUCCESS);
    ze_command_list_handle_t handle = immediate;
    CHECK(zeCommandQueueExecuteCommandLists(queue.handle, 1, &handle, nullptr) ==
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("A fence is signalled when the lists are done, and reusable after a reset") {
    const Context context;
    const Queue queue(context);
    const Events events(context, 1);
    const RegularList list(context);
    ze_event_handle_t go = events[0];
    CHECK(zeCommandListAppendWaitOnEvents(list.handle, 1, &go) == ZE_RESULT_SUCCESS);
    list.close();
    ze_fence_handle_t fence = nullptr;
    const ze_fence_desc_t description{ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
    REQUIRE(zeFenceCreate(queue.handle, &description, &fence) == ZE_RESULT_SUCCESS);
    CHECK(queue.execute(list.handle, fence) == ZE_RESULT_SUCCESS);
    CHECK(zeFenceQueryStatus(fence) == ZE_RESULT_NOT_READY);
    CHECK(zeFenceDestroy(fence) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK(zeEventHostSignal(go) == ZE_RESULT_SUCCESS);
    CHECK(zeFenceHostSynchronize(fence, UINT64_MAX) == ZE_RESULT_SUCCESS);
    CHECK(queue.execute(list.handle, fence) == ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    CHECK(zeFenceReset(fence) == ZE_RESULT_SUCCESS);
    CHECK(zeFenceQueryStatus(fence) == ZE_RESULT_NOT_READY);
    CHECK(queue.execute(list.handle, fence) == ZE_RESULT_SUCCESS);
    CHECK(zeFenceHostSynchronize(fence, UINT64_MAX) == ZE_RESULT_SUCCESS);
    CHECK(zeFenceDestroy(fence) == ZE_RESULT_SUCCESS);
}
