// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The application's events in PI.
#include "fixture.hpp"

#include "threads.hpp"

#include <dlfcn.h>

#include <atomic>

using namespace level_zero_test;

namespace {

/// Events of the application in a PI context; destroyed with the object.
class NativeEvents {
public:
    NativeEvents(pi_context context, uint32_t count) : events_(count) {
        pi_native_handle handle{};
        OK(piContextGetNativeHandle(context, nullptr, &handle));
        const auto of = reinterpret_cast<ze_context_handle_t>(handle.value[0]);
        ze_event_pool_desc_t pool{};
        pool.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
        pool.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
        pool.count = count;
        REQUIRE(find<decltype(&zeEventPoolCreate)>("zeEventPoolCreate")(
                    of, &pool, 0, nullptr, &pool_) == ZE_RESULT_SUCCESS);
        const auto create = find<decltype(&zeEventCreate)>("zeEventCreate");
        for (uint32_t i = 0; i < count; ++i) {
            ze_event_desc_t event{};
            event.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
            event.index = i;
            REQUIRE(create(pool_, &event, &events_[i]) == ZE_RESULT_SUCCESS);
        }
    }
    NativeEvents(const NativeEvents &) = delete;
    ~NativeEvents() {
        for (const ze_event_handle_t event : events_)
            find<decltype(&zeEventDestroy)>("zeEventDestroy")(event);
        find<decltype(&zeEventPoolDestroy)>("zeEventPoolDestroy")(pool_);
    }
    /// Later work in the list waits for the first event.
    void hold(ze_command_list_handle_t list) const {
        ze_event_handle_t first = events_.front();
        REQUIRE(find<decltype(&zeCommandListAppendWaitOnEvents)>("zeCommandListAppendWaitOnEvents")(
                    list, 1, &first) == ZE_RESULT_SUCCESS);
    }
    ze_event_handle_t operator[](size_t i) const { return events_[i]; }
    void signal(size_t i) const {
        REQUIRE(find<decltype(&zeEventHostSignal)>("zeEventHostSignal")(events_[i]) ==
                ZE_RESULT_SUCCESS);
    }

private:
    template <class Function>
    static Function find(const char *name) {
        static void *const library = dlopen("libze_loader.so.1", RTLD_NOW);
        return reinterpret_cast<Function>(dlsym(library, name));
    }

    ze_event_pool_handle_t pool_ = nullptr;
    std::vector<ze_event_handle_t> events_;
};

} // namespace

TEST_CASE("10,000 pending Level Zero events need at most 4 threads, and all complete") {
    constexpr uint32_t count = 10'000;
    const Machine machine;
    const NativeEvents natives(machine.context, count);
    const size_t before = pi_test::count_threads();
    std::vector<Owned<pi_event>> events(count);
    for (uint32_t i = 0; i < count; ++i) {
        auto d = pi::desc<pi_native_desc>();
        d.handle.type = PI_NATIVE_LEVEL_ZERO;
        d.handle.count = 1;
        d.handle.value[0] = reinterpret_cast<uintptr_t>(natives[i]);
        OK(piEventCreateWithNativeHandle(machine.context, &d, events[i].out()));
    }
    CHECK(pi_test::count_threads() <= before + 4);
    for (uint32_t i = count; i-- > 0;)
        natives.signal(i);
    for (const Owned<pi_event> &event : events)
        OK(piEventWait(event, patience));
}

TEST_CASE("pending work in 20 contexts needs at most 4 threads, and all completes") {
    constexpr size_t count = 20;
    const Machine machine;
    const NativeEvents gate(machine.context, 1);
    struct Use {
        Owned<pi_context> context;
        Owned<pi_queue> queue;
        Owned<pi_mem> mem;
        Owned<pi_event> filled, called;
    };
    std::vector<Use> uses(count);
    const uint32_t pattern = 7;
    constexpr uint64_t size = 4096;
    for (Use &use : uses) {
        auto context = pi::desc<pi_context_desc>();
        context.device_count = 1;
        context.devices = machine.devices.data();
        OK(piContextCreate(machine.platform, &context, use.context.out()));
        OK(piQueueCreate(use.context, machine.devices.front(), nullptr, use.queue.out()));
        auto buffer = pi::desc<pi_mem_buffer_desc>();
        buffer.size = size;
        OK(piMemBufferCreate(use.context, machine.devices.front(), &buffer, use.mem.out()));
        // The driver's threads exist from here on.
        const auto fill = fill_desc(use.mem, &pattern, 4, 0, size);
        OK(piEnqueueMemBufferFill(use.queue, &fill, 0, nullptr, nullptr));
        OK(piQueueFinish(use.queue));
    }
    const size_t before = pi_test::count_threads();
    std::atomic<unsigned> calls{0};
    for (Use &use : uses) {
        pi_native_handle list{};
        OK(piQueueGetNativeHandle(use.queue, &list));
        gate.hold(reinterpret_cast<ze_command_list_handle_t>(list.value[0]));
        const auto fill = fill_desc(use.mem, &pattern, 4, 0, size);
        OK(piEnqueueMemBufferFill(use.queue, &fill, 0, nullptr, use.filled.out()));
        OK(piEnqueueMemBufferFill(use.queue, &fill, 0, nullptr, nullptr));
        auto function = pi::desc<pi_host_function_desc>();
        function.function = [](void *number) { ++*static_cast<std::atomic<unsigned> *>(number); };
        function.user_data = &calls;
        OK(piEnqueueHostFunction(use.queue, &function, 0, nullptr, use.called.out()));
    }
    CHECK(pi_test::count_threads() <= before + 4);
    CHECK(calls == 0);
    gate.signal(0);
    for (const Use &use : uses) {
        OK(piEventWait(use.filled, patience));
        OK(piEventWait(use.called, patience));
    }
    CHECK(calls == count);
}
