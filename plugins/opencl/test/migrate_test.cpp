// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The promises of the connection query, and copies between contexts.
#include "fixture.hpp"

#include <cstring>
#include <thread>

using namespace opencl_test;

namespace {

pi_memory_connection connection(const Place &src, const Place &dst) {
    pi_memory_connection answer = 99;
    OK(piGetMemoryConnection(src.device, src.context, dst.device, dst.context, &answer));
    return answer;
}

pi_memory_connection_info connection_info(const Place &src, const Place &dst,
                                          pi_memory_kind kind = PI_MEMORY_KIND_BUFFER) {
    auto query = pi::desc<pi_memory_connection_query>();
    query.kind = kind;
    auto info = pi::desc<pi_memory_connection_info>();
    OK(piGetMemoryConnectionInfo(src.device, src.context, dst.device, dst.context, &query, &info));
    return info;
}

pi_result try_copy(pi_queue queue, pi_mem src, pi_mem dst) {
    auto desc = pi::desc<pi_buffer_copy_desc>();
    desc.src = src;
    desc.dst = dst;
    const pi_region region = range(0, 0, 10);
    desc.regions = &region;
    desc.region_count = 1;
    Event event;
    return piEnqueueMemBufferCopy(queue, &desc, 0, nullptr, event.out());
}

} // namespace

TEST_CASE("the connection follows contexts and platforms, and the info says why") {
    Loader loader;
    std::vector<Place> places;
    for (pi_device device : loader.devices())
        places.emplace_back(device);
    places.emplace_back(loader.devices()[0]);
    for (const Place &src : places) {
        for (const Place &dst : places) {
            INFO(name_of(src.device) << " to " << name_of(dst.device));
            const bool same = &src == &dst;
            const bool platform = platform_of(src.device) == platform_of(dst.device);
            const pi_memory_connection expected = same       ? PI_MEMORY_CONNECTION_UNIFIED
                                                  : platform ? PI_MEMORY_CONNECTION_MIGRATABLE
                                                             : PI_MEMORY_CONNECTION_NONE;
            CHECK(connection(src, dst) == expected);
            const auto info = connection_info(src, dst);
            CHECK(info.connection == expected);
            CHECK(std::strlen(info.reason) > 10);
            CHECK(info.concurrent_writers == PI_CONCURRENT_WRITERS_NONE);
            if (expected == PI_MEMORY_CONNECTION_MIGRATABLE)
                CHECK(info.path == PI_COPY_PATH_STAGED_BY_PLUGIN);
            CHECK(connection_info(src, dst, PI_MEMORY_KIND_IMPORTED).connection == expected);
            CHECK(connection_info(src, dst, PI_MEMORY_KIND_IMAGE).connection ==
                  (same ? PI_MEMORY_CONNECTION_UNIFIED : PI_MEMORY_CONNECTION_NONE));
            for (const pi_memory_kind kind :
                 {PI_MEMORY_KIND_USM_HOST, PI_MEMORY_KIND_USM_DEVICE, PI_MEMORY_KIND_USM_SHARED}) {
                const auto usm = connection_info(src, dst, kind);
                const bool unified = expected == PI_MEMORY_CONNECTION_UNIFIED &&
                                     has_usm(src.device) && has_usm(dst.device);
                const bool fine = unified && kind != PI_MEMORY_KIND_USM_DEVICE;
                CHECK(usm.connection ==
                      (unified ? PI_MEMORY_CONNECTION_UNIFIED : PI_MEMORY_CONNECTION_NONE));
                CHECK(usm.concurrent_writers ==
                      (fine ? PI_CONCURRENT_WRITERS_DISJOINT_BYTES : PI_CONCURRENT_WRITERS_NONE));
                CHECK(usm.atomics == fine);
            }
        }
    }
    pi_memory_connection answer = 99;
    if (places.size() > 2)
        refused(piGetMemoryConnection(places[1].device, places[0].context, places[0].device,
                                      places[0].context, &answer),
                PI_ERROR_INVALID_DEVICE, {"src_device"});
    CHECK(answer == 99);
}

TEST_CASE("two devices of one context use each other's memory in place") {
    Loader loader;
    const std::vector<pi_device> all = loader.devices();
    if (platform_of(all[0]) != platform_of(all[1])) {
        FAIL("two devices of one platform were expected: set POCL_DEVICES");
    }
    const Context context = make_context({all[0], all[1]});
    const Queue first = make_queue(context, all[0]), second = make_queue(context, all[1]);
    pi_memory_connection answer = 99;
    OK(piGetMemoryConnection(all[0], context, all[1], context, &answer));
    REQUIRE(answer == PI_MEMORY_CONNECTION_UNIFIED);
    const Program program =
        build(context, "kernel void advance(global uint *p) { p[get_global_id(0)] += 1; }");
    const Kernel kernel = make_kernel(program, "advance");
    const Mem mem = make_buffer(context, all[0], 4096);
    const uint32_t zero = 0;
    Event last = fill(first, mem, &zero, 4, 0, 4096);
    for (int round = 0; round < 100; ++round)
        last = launch(round % 2 ? first : second, kernel, 1024, {buffer_argument(mem)}, {{last}});
    std::vector<uint32_t> seen(1024);
    wait(read(second, mem, seen.data(), {range(0, 0, 4096)}, {{last}}));
    CHECK(seen == std::vector<uint32_t>(1024, 100));
}

TEST_CASE("copies between two contexts are exact at any offset, on a queue of either end") {
    Loader loader;
    Random random;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device) << ", seed " << random.seed());
        const Place here(device), there(device, PI_QUEUE_OUT_OF_ORDER);
        std::vector<uint8_t> left = random.bytes(5000), right = random.bytes(6000);
        const Mem src = here.buffer(5000), dst = there.buffer(6000);
        set_contents(here.queue, src, left);
        set_contents(there.queue, dst, right);
        for (int round = 0; round < 60; ++round) {
            const bool forth = random.coin(), ours = random.coin();
            auto &from = forth ? left : right;
            auto &to = forth ? right : left;
            std::vector<pi_region> regions;
            for (uint64_t part = 0, parts = random.between(1, 3); part < parts; ++part) {
                pi_region region = range(random.below(1000), part * 1500 + random.below(500),
                                         random.between(1, 100));
                region.extent[1] = random.below(5);
                region.src_pitch[0] = random.coin() ? 0 : region.extent[0] + random.below(20);
                region.dst_pitch[0] = random.coin() ? 0 : region.extent[0] + random.below(20);
                regions.push_back(region);
                const uint64_t rows = std::max<uint64_t>(1, region.extent[1]);
                for (uint64_t row = 0; row < rows; ++row) {
                    const uint64_t step_from =
                        region.src_pitch[0] ? region.src_pitch[0] : region.extent[0];
                    const uint64_t step_to =
                        region.dst_pitch[0] ? region.dst_pitch[0] : region.extent[0];
                    std::memcpy(&to[region.dst_offset + row * step_to],
                                &from[region.src_offset + row * step_from], region.extent[0]);
                }
            }
            wait(copy(ours ? here.queue : there.queue, forth ? src : dst, forth ? dst : src,
                      regions, {{}, random.coin()}));
        }
        CHECK(contents(here.queue, src) == left);
        CHECK(contents(there.queue, dst) == right);
    }
}

TEST_CASE("a gated copy between contexts keeps all its objects alive") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        for (const bool good : {true, false}) {
            const Place there(device);
            const Mem dst = there.buffer(100'000);
            set_contents(there.queue, dst, std::vector<uint8_t>(100'000, 1));
            Event done, gate;
            {
                const Place here(device);
                const Mem src = here.buffer(100'000);
                set_contents(here.queue, src, std::vector<uint8_t>(100'000, 9));
                gate = make_host_event(here.context);
                done = copy(here.queue, src, dst, {range(0, 0, 100'000)}, {{gate}});
            }
            OK(piEventSignalHost(gate, good ? PI_SUCCESS : PI_ERROR_OUT_OF_RESOURCES));
            if (good)
                wait(done);
            else
                wait_failure(done, PI_ERROR_DEPENDENCY_FAILED);
            CHECK(contents(there.queue, dst) == std::vector<uint8_t>(100'000, good ? 9 : 1));
        }
    }
}

TEST_CASE("commands behind a copy between contexts wait for it, in both queues") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place here(device), there(device);
        const uint64_t size = 1 << 20;
        const Mem src = here.buffer(size), dst = there.buffer(size);
        for (uint32_t round = 0; round < 20; ++round) {
            const Event filled = fill(here.queue, src, &round, 4, 0, size);
            const Event moved = copy(there.queue, src, dst, {range(0, 0, size)}, {{filled}});
            std::vector<uint32_t> seen(size / 4);
            // In order behind it, without a wait list.
            const Event looked = read(there.queue, dst, seen.data(), {range(0, 0, size)});
            const uint32_t other = 0xffffffff;
            const Event spoiled = fill(here.queue, src, &other, 4, 0, size, {{moved}});
            wait(looked);
            wait(spoiled);
            REQUIRE(seen == std::vector<uint32_t>(size / 4, round));
        }
    }
}

TEST_CASE("many threads copy between two contexts, both ways") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place here(device), there(device);
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        std::vector<Mem> left, right;
        for (int id = 0; id < 4; ++id) {
            left.push_back(here.buffer(10'000));
            right.push_back(there.buffer(10'000));
            set_contents(here.queue, left.back(), std::vector<uint8_t>(10'000, 10 + id));
        }
        for (int id = 0; id < 4; ++id) {
            threads.emplace_back([&, id] {
                for (int round = 0; round < 40; ++round) {
                    auto desc = pi::desc<pi_buffer_copy_desc>();
                    desc.flags = PI_COMMAND_BLOCKING;
                    desc.src = round % 2 ? right[id] : left[id];
                    desc.dst = round % 2 ? left[id] : right[id];
                    const pi_region region = range(0, 0, 10'000);
                    desc.regions = &region;
                    desc.region_count = 1;
                    wrong += piEnqueueMemBufferCopy(id % 2 ? here.queue : there.queue, &desc, 0,
                                                    nullptr, nullptr) != PI_SUCCESS;
                }
            });
        }
        for (std::thread &thread : threads)
            thread.join();
        CHECK(wrong == 0);
        for (int id = 0; id < 4; ++id)
            CHECK(contents(there.queue, right[id]) == std::vector<uint8_t>(10'000, 10 + id));
    }
}

TEST_CASE(
    "memory of a context without a connection is refused as every argument, naming both contexts") {
    Loader loader;
    const std::vector<pi_device> devices = loader.devices();
    const Place here(devices.front()), far(devices.back());
    const Place third(devices.front());
    const Mem mine = here.buffer(64), another = far.buffer(64), other = third.buffer(64);
    const std::vector<std::string> both = {"context 0x", platform_name_of(here.device),
                                           platform_name_of(far.device)};
    if (platform_of(here.device) != platform_of(far.device)) {
        refused(try_copy(here.queue, mine, another), PI_ERROR_INVALID_MEM_OBJECT, both);
        refused(try_copy(here.queue, another, mine), PI_ERROR_INVALID_MEM_OBJECT, both);
        refused(try_copy(far.queue, mine, another), PI_ERROR_INVALID_MEM_OBJECT, both);
    }
    refused(try_copy(here.queue, another, another), PI_ERROR_INVALID_MEM_OBJECT);
    const Place fourth(devices.front());
    refused(try_copy(fourth.queue, mine, other), PI_ERROR_INVALID_MEM_OBJECT, {"either end"});

    uint8_t byte = 0;
    Event event;
    const pi_region region = range(0, 0, 1);
    auto reading = pi::desc<pi_buffer_read_desc>();
    reading.mem = another;
    reading.host_ptr = &byte;
    reading.regions = &region;
    reading.region_count = 1;
    refused(piEnqueueMemBufferRead(here.queue, &reading, 0, nullptr, event.out()),
            PI_ERROR_INVALID_MEM_OBJECT, both);
    auto filling = pi::desc<pi_buffer_fill_desc>();
    filling.mem = another;
    filling.pattern = &byte;
    filling.pattern_size = filling.size = 1;
    refused(piEnqueueMemBufferFill(here.queue, &filling, 0, nullptr, event.out()),
            PI_ERROR_INVALID_MEM_OBJECT, both);
    // As a kernel's argument, which some drivers accept unchecked.
    const Program program = build(here.context, "kernel void k(global int *p) { *p = 1; }");
    const Kernel kernel = make_kernel(program, "k");
    for (pi_mem wrong : {another.get(), other.get()}) {
        const std::vector<pi_kernel_argument> arguments = {buffer_argument(wrong)};
        const auto desc = launch_desc(kernel, arguments, 1);
        refused(piEnqueueKernelLaunch(here.queue, &desc, 0, nullptr, event.out()),
                PI_ERROR_INVALID_MEM_OBJECT, {"arguments[0]", "context 0x"});
    }
    CHECK(contents(third.queue, other).size() == 64);
}
