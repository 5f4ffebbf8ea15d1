// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <atomic>
#include <cstring>
#include <thread>

using namespace opencl_test;

TEST_CASE("a map behind a gate writes its pointer when it completes, and never when it fails") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Mem mem = place.buffer(1000);
        for (const bool good : {true, false}) {
            const Event gate = make_host_event(place.context);
            void *pointer = nullptr;
            const Event mapped = map(place.queue, mem, PI_MAP_READ, 10, 100, &pointer, {{gate}});
            CHECK(pointer == nullptr);
            OK(piEventSignalHost(gate, good ? PI_SUCCESS : PI_ERROR_OUT_OF_RESOURCES));
            if (good) {
                wait(mapped);
                REQUIRE(pointer);
                wait(unmap(place.queue, mem, pointer));
            } else {
                wait_failure(mapped, PI_ERROR_DEPENDENCY_FAILED);
                CHECK(pointer == nullptr);
            }
        }
    }
}

TEST_CASE("only pointers of maps of the same memory can be unmapped, as often as mapped") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Mem mem = place.buffer(1000), other = place.buffer(1000);
        void *first = nullptr, *second = nullptr;
        wait(map(place.queue, mem, PI_MAP_READ, 0, 1000, &first));
        wait(map(place.queue, mem, PI_MAP_READ, 0, 1000, &second));
        auto desc = pi::desc<pi_unmap_desc>();
        desc.mem = other;
        desc.pointer = first;
        Event event;
        refused(piEnqueueMemUnmap(place.queue, &desc, 0, nullptr, event.out()),
                PI_ERROR_INVALID_VALUE, {"pointer"});
        wait(unmap(place.queue, mem, first));
        wait(unmap(place.queue, mem, second));
        desc.mem = mem;
        refused(piEnqueueMemUnmap(place.queue, &desc, 0, nullptr, event.out()),
                PI_ERROR_INVALID_VALUE, {"pointer"});
    }
}

TEST_CASE("an unmap with a failed dependency leaves the map, which can be unmapped again") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Mem mem = place.buffer(1000);
        void *pointer = nullptr;
        wait(map(place.queue, mem, PI_MAP_WRITE, 0, 1000, &pointer));
        const Event gate = make_host_event(place.context);
        const Event failed = unmap(place.queue, mem, pointer, {{gate}});
        OK(piEventSignalHost(gate, PI_ERROR_OUT_OF_RESOURCES));
        wait_failure(failed, PI_ERROR_DEPENDENCY_FAILED);
        std::memset(pointer, 7, 1000);
        wait(unmap(place.queue, mem, pointer));
        CHECK(contents(place.queue, mem) == std::vector<uint8_t>(1000, 7));
    }
}

TEST_CASE("memory released while mapped is unmapped and freed") {
    Loader loader; // its destructor finds leaks
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        std::vector<uint8_t> storage(4096, 3);
        {
            Mem mem = make_buffer(place.context, device,
                                  buffer_desc(storage.size(), PI_MEM_USE_HOST_PTR, storage.data()));
            Mem view = make_view(mem, 1024, 100);
            void *pointer = nullptr;
            wait(map(place.queue, view, PI_MAP_READ | PI_MAP_WRITE, 0, 100, &pointer));
            wait(map(place.queue, mem, PI_MAP_READ, 0, 100, &pointer));
        }
        CHECK(std::count(storage.begin(), storage.end(), 3) == 4096);
    }
}

TEST_CASE("many threads map and unmap one buffer") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device, PI_QUEUE_OUT_OF_ORDER);
        const Mem mem = place.buffer(4 * 1024);
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        for (uint8_t id = 0; id < 4; ++id) {
            threads.emplace_back([&, id] {
                for (int round = 0; round < 50; ++round) {
                    void *pointer = nullptr;
                    auto desc = pi::desc<pi_buffer_map_desc>();
                    desc.flags = uint64_t{PI_COMMAND_BLOCKING} | PI_MAP_READ | PI_MAP_WRITE;
                    desc.mem = mem;
                    desc.offset = id * 1024u;
                    desc.size = 1024;
                    desc.out_pointer = &pointer;
                    wrong += piEnqueueMemBufferMap(place.queue, &desc, 0, nullptr, nullptr) != 0;
                    if (!pointer)
                        return;
                    auto *bytes = static_cast<uint8_t *>(pointer);
                    wrong += round && bytes[5] != static_cast<uint8_t>(id * 50 + round - 1);
                    std::memset(pointer, id * 50 + round, 1024);
                    auto back = pi::desc<pi_unmap_desc>();
                    back.flags = PI_COMMAND_BLOCKING;
                    back.mem = mem;
                    back.pointer = pointer;
                    wrong += piEnqueueMemUnmap(place.queue, &back, 0, nullptr, nullptr) != 0;
                }
            });
        }
        for (std::thread &thread : threads)
            thread.join();
        CHECK(wrong == 0);
    }
}
