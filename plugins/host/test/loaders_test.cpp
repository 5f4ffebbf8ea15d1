// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two loaders in one process, each with its own instance.
#include "fixture.hpp"

#include <memory>

using namespace pi_test;

TEST_CASE("two loaders use the plugin side by side and may be released in either order") {
    for (int first : {0, 1}) {
        std::unique_ptr<Host> hosts[] = {std::make_unique<Host>(), std::make_unique<Host>()};
        REQUIRE(hosts[0]->plugin != hosts[1]->plugin);
        REQUIRE(hosts[0]->device != hosts[1]->device);
        Owned<pi_queue> queues[] = {hosts[0]->make_queue(), hosts[1]->make_queue()};
        Owned<pi_mem> buffers[] = {hosts[0]->make_buffer(100'000), hosts[1]->make_buffer(100'000)};
        for (int i = 0; i < 20; ++i)
            for (int h : {0, 1}) {
                const auto value = static_cast<uint8_t>(2 * i + h);
                const auto d = fill_desc(buffers[h], &value, 1, 0, i % 2 ? 100'000 : 100);
                OK(piEnqueueMemBufferFill(queues[h], &d, 0, nullptr, nullptr));
            }
        for (int h : {first, 1 - first}) {
            OK(piQueueFinish(queues[h]));
            CHECK(contents(*hosts[h], buffers[h])[0] == std::byte(38 + h));
            buffers[h].reset();
            queues[h].reset();
            hosts[h].reset();
        }
    }
}

TEST_CASE("handles of another loader are refused") {
    const Host a, b;
    const Owned<pi_queue> queue = a.make_queue();
    const Owned<pi_mem> own = a.make_buffer(64), elsewhere = b.make_buffer(64);
    const Owned<pi_event> event = b.make_host_event();
    const pi_region region = range(0, 0, 64);
    const auto into = copy_desc(own, elsewhere, region), from = copy_desc(elsewhere, own, region);
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "dst belongs to another",
            piEnqueueMemBufferCopy(queue, &into, 0, nullptr, nullptr));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "src belongs to another",
            piEnqueueMemBufferCopy(queue, &from, 0, nullptr, nullptr));
    const pi_event wait = event;
    REFUSED(PI_ERROR_INVALID_EVENT, "wait_list[0] belongs to another",
            piEnqueueBarrier(queue, nullptr, 1, &wait, nullptr));
    Owned<pi_queue> none;
    REFUSED(PI_ERROR_INVALID_DEVICE, "another",
            piQueueCreate(a.context, b.device, nullptr, none.out()));
    auto d = pi::desc<pi_context_desc>();
    d.device_count = 1;
    d.devices = &b.device;
    Owned<pi_context> no_context;
    REFUSED(PI_ERROR_INVALID_DEVICE, "devices[0] belongs to another",
            piContextCreate(a.platform, &d, no_context.out()));
    OK(piQueueFinish(queue));
}

TEST_CASE("two instances share an application's memory") {
    const Host a, b;
    std::vector<std::byte> bytes(4096);
    const Owned<pi_mem> in_a = a.make_import(bytes.data(), bytes.size()),
                        in_b = b.make_import(bytes.data(), bytes.size());
    const uint8_t value = 77;
    const auto d = fill_desc(in_a, &value, 1, 0, 4096, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(a.make_queue(), &d, 0, nullptr, nullptr));
    CHECK(contents(b, in_b) == std::vector<std::byte>(4096, std::byte{77}));
}

TEST_CASE("a loader that is released while commands run waits for them") {
    std::vector<std::byte> bytes(UINT64_C(16) << 20);
    {
        const Host host;
        const Owned<pi_queue> queue = host.make_queue();
        const Owned<pi_mem> mem = host.make_import(bytes.data(), bytes.size());
        for (int i = 1; i <= 5; ++i) {
            const auto value = static_cast<uint8_t>(i);
            const auto d = fill_desc(mem, &value, 1, 0, bytes.size());
            OK(piEnqueueMemBufferFill(queue, &d, 0, nullptr, nullptr));
        }
    }
    CHECK(bytes.front() == std::byte{5});
    CHECK(bytes.back() == std::byte{5});
}
