// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Imports: a kernel's writes verify that they are in place.
#include "fixture.hpp"

#include <cstdlib>
#include <memory>

using namespace opencl_test;

namespace {

pi_mem_import_desc import_desc(void *pointer, uint64_t size) {
    auto desc = pi::desc<pi_mem_import_desc>();
    desc.size = size;
    desc.handle.type = PI_EXTERNAL_HOST_POINTER;
    desc.handle.pointer = pointer;
    return desc;
}

Mem import_memory(const Place &place, void *pointer, uint64_t size) {
    const auto desc = import_desc(pointer, size);
    Mem mem;
    OK(piMemImport(place.context, place.device, &desc, mem.out()));
    return mem;
}

constexpr const char *increment_source =
    "kernel void increment(global uchar *p) { p[get_global_id(0)] += 1; }";

} // namespace

TEST_CASE("an imported pointer is used in place: a kernel's writes are visible through it") {
    Loader loader;
    Random random;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device) << ", seed " << random.seed());
        const Place place(device);
        REQUIRE(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_HOST_POINTER_IMPORT));
        const auto alignment =
            info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT);
        const Program program = build(place.context, increment_source);
        const Kernel kernel = make_kernel(program, "increment");
        for (int round = 0; round < 10; ++round) {
            std::vector<uint8_t> memory = random.bytes(9000);
            auto address = reinterpret_cast<uintptr_t>(memory.data()) + random.below(500);
            address += (alignment - address % alignment) % alignment;
            auto *begin = reinterpret_cast<uint8_t *>(address);
            const uint64_t size = 8000 / alignment * alignment;
            std::vector<uint8_t> expected(begin, begin + size);
            const Mem mem = import_memory(place, begin, size);
            CHECK(info<pi_memory_kind>(piMemGetInfo, mem, PI_MEM_INFO_KIND) ==
                  PI_MEMORY_KIND_IMPORTED);
            CHECK(info<pi_coherence>(piMemGetInfo, mem, PI_MEM_INFO_COHERENCE) ==
                  PI_COHERENCE_MAP_UNMAP);
            void *pointer = nullptr;
            OK(piMemGetHostPointer(mem, &pointer));
            CHECK(pointer == begin);
            for (int pass = 0; pass < 3; ++pass) {
                wait(launch(place.queue, kernel, size, {buffer_argument(mem)}));
                for (uint8_t &byte : expected)
                    ++byte;
                wait(map(place.queue, mem, PI_MAP_READ | PI_MAP_WRITE, 0, size, &pointer));
                REQUIRE(pointer == begin);
                REQUIRE(std::equal(expected.begin(), expected.end(), begin));
                const size_t at = random.below(size);
                expected[at] = begin[at] = 77;
                wait(unmap(place.queue, mem, pointer));
            }
            CHECK(contents(place.queue, mem) == expected);
        }
    }
}

TEST_CASE("one allocation imported into two platforms is shared without a copy") {
    Loader loader;
    const std::vector<pi_device> devices = loader.devices();
    std::vector<Place> places;
    places.emplace_back(devices.front());
    places.emplace_back(devices.back());
    std::unique_ptr<uint8_t[]> memory(new uint8_t[4096]());
    std::vector<Program> programs;
    std::vector<Kernel> kernels;
    std::vector<Mem> buffers;
    for (const Place &place : places) {
        programs.push_back(build(place.context, increment_source));
        kernels.push_back(make_kernel(programs.back(), "increment"));
        buffers.push_back(import_memory(place, memory.get(), 4096));
    }
    for (int round = 0; round < 50; ++round) {
        const int at = round % 2;
        void *pointer = nullptr;
        // The coherence sync: a map for writing, then a map for reading.
        wait(map(places[at].queue, buffers[at], PI_MAP_WRITE, 0, 4096, &pointer));
        wait(unmap(places[at].queue, buffers[at], pointer));
        wait(launch(places[at].queue, kernels[at], 4096, {buffer_argument(buffers[at])}));
        wait(map(places[at].queue, buffers[at], PI_MAP_READ, 0, 4096, &pointer));
        REQUIRE(std::count(memory.get(), memory.get() + 4096, round + 1) == 4096);
        wait(unmap(places[at].queue, buffers[at], pointer));
    }
    // Two imports of one memory count as one storage in a copy.
    if (platform_of(devices.front()) == platform_of(devices.back())) {
        auto desc = pi::desc<pi_buffer_copy_desc>();
        desc.src = buffers[0];
        desc.dst = buffers[1];
        const pi_region region = range(0, 10, 100);
        desc.regions = &region;
        desc.region_count = 1;
        Event event;
        refused(piEnqueueMemBufferCopy(places[0].queue, &desc, 0, nullptr, event.out()),
                PI_ERROR_MEM_COPY_OVERLAP);
    }
}

TEST_CASE("imported memory can be freed once the object and its commands are released") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        for (int round = 0; round < 30; ++round) {
            auto memory = std::make_unique<std::vector<uint8_t>>(100'000, 1);
            const uint8_t two = 2;
            Event done;
            {
                const Mem mem = import_memory(place, memory->data(), memory->size());
                done = fill(place.queue, mem, &two, 1, 0, memory->size());
            }
            wait(done); // its event lives on while the memory is freed: the sanitizers check
            memory.reset();
        }
    }
}
