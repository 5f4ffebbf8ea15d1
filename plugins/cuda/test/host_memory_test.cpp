// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Application memory on drivers that cannot pin it, or not all of it, and devices that use it
// unpinned. The machine is that of the other tests; the environment sets its devices' properties
// (CMakeLists.txt).
#include "plugin_busy.hpp"

#include "fixture.hpp"
#include "images.hpp"

#include <numeric>
#include <unistd.h>

using namespace cuda_test;

namespace {

pi_result try_import(const Machine &machine, size_t device, void *pointer, uint64_t size,
                     pi_mem *out) {
    auto d = pi::desc<pi_mem_import_desc>();
    d.size = size;
    d.handle.type = PI_EXTERNAL_HOST_POINTER;
    d.handle.pointer = pointer;
    return piMemImport(machine.context, machine.devices.at(device), &d, out);
}

Owned<pi_mem> import(const Machine &machine, size_t device, void *pointer, uint64_t size) {
    Owned<pi_mem> mem;
    OK(try_import(machine, device, pointer, size, mem.out()));
    return mem;
}

pi_memory_connection_info imported(const Machine &machine, size_t src, size_t dst) {
    auto query = pi::desc<pi_memory_connection_query>();
    query.kind = PI_MEMORY_KIND_IMPORTED;
    auto answer = pi::desc<pi_memory_connection_info>();
    OK(piGetMemoryConnectionInfo(machine.devices.at(src), machine.context, machine.devices.at(dst),
                                 machine.context, &query, &answer));
    return answer;
}

/// Whether the driver knows the memory, as it does all pinned memory.
bool known_to_driver(const void *pointer) {
    unsigned type = 0;
    return pi_cuda_test::cu().cuPointerGetAttribute(
               &type, pi::cuda::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
               reinterpret_cast<pi::cuda::CUdeviceptr>(pointer)) == pi::cuda::CUDA_SUCCESS;
}

void copy(pi_queue queue, pi_mem src, pi_mem dst, uint64_t size) {
    const auto region = range(0, 0, size);
    const auto d = copy_desc(src, dst, region);
    OK(piEnqueueMemBufferCopy(queue, &d, 0, nullptr, nullptr));
    OK(piQueueFinish(queue));
}

} // namespace

// ----- the first two devices use pageable memory, none can pin -----------------------------------

TEST_CASE("a device that uses pageable memory imports it in place at any address", "[.pageable]") {
    const Machine machine;
    const Owned<pi_queue> queue = machine.queue();
    CHECK(info<uint32_t>(piDeviceGetInfo, machine.devices[first],
                         PI_DEVICE_INFO_HOST_POINTER_IMPORT) == 1);
    CHECK(info<uint64_t>(piDeviceGetInfo, machine.devices[first],
                         PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT) == 1);
    std::vector<uint32_t> words(1001, 7);
    const Owned<pi_mem> mem = import(machine, first, &words[1], 4000);
    CHECK_FALSE(known_to_driver(&words[1]));
    void *pointer = nullptr;
    OK(piMemGetHostPointer(mem, &pointer));
    CHECK(pointer == &words[1]);
    const Owned<pi_program> program = machine.program(count_up);
    const Owned<pi_kernel> kernel = make_kernel(program, "count_up");
    const uint32_t from = 5;
    const std::vector arguments{buffer_argument(mem), value_argument(from)};
    const auto launch = launch_desc(kernel, arguments, 1000);
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
    OK(piQueueFinish(queue));
    std::vector<uint32_t> expected(1001, 7);
    std::iota(expected.begin() + 1, expected.end(), 5u);
    CHECK(words == expected);
}

TEST_CASE("a device that neither pins nor uses pageable memory refuses imports with a reason",
          "[.pageable]") {
    const Machine machine;
    CHECK(info<uint32_t>(piDeviceGetInfo, machine.devices[third],
                         PI_DEVICE_INFO_HOST_POINTER_IMPORT) == 0);
    CHECK_FALSE(
        info<uint64_t>(piDeviceGetInfo, machine.devices[third], PI_DEVICE_INFO_CAPABILITIES) &
        PI_CAPABILITY_MEM_IMPORT);
    CHECK(imported(machine, third, first).connection == PI_MEMORY_CONNECTION_NONE);
    uint32_t word = 0;
    Owned<pi_mem> mem;
    CHECK(try_import(machine, third, &word, 4, mem.out()) == PI_ERROR_UNSUPPORTED_FEATURE);
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED",
            piUsmHostRegister(machine.context, &word, 4, 0));
}

TEST_CASE("the connection of imported memory depends on the other device's use of pageable memory",
          "[.pageable]") {
    const Machine machine;
    const auto used = imported(machine, first, second);
    CHECK(used.connection == PI_MEMORY_CONNECTION_UNIFIED);
    CHECK(used.coherence == PI_COHERENCE_COHERENT);
    CHECK(used.residency == PI_RESIDENCY_UNKNOWN); // pages may migrate
    CHECK_THAT(used.reason, Catch::Contains("CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS"));
    const auto copied = imported(machine, first, third);
    CHECK(copied.connection == PI_MEMORY_CONNECTION_MIGRATABLE);
    CHECK(copied.path == PI_COPY_PATH_STAGED_BY_PLUGIN);
    CHECK_THAT(copied.reason, Catch::Contains("uses only pinned memory"));

    Bytes bytes = counting(5000);
    const Owned<pi_mem> mem = import(machine, first, bytes.data(), bytes.size());
    const Owned<pi_queue> other = machine.queue(third);
    const uint8_t sign = 1;
    const auto fill = fill_desc(mem, &sign, 1, 0, 8);
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "not UNIFIED",
            piEnqueueMemBufferFill(other, &fill, 0, nullptr, nullptr));
    // Queues of either end copy, in both directions, even to a device without peer access.
    for (const size_t end : {third, lone})
        for (const size_t from : {size_t{first}, end}) {
            const Owned<pi_queue> queue = machine.queue(from);
            const Owned<pi_mem> buffer = machine.buffer(end, bytes.size());
            copy(queue, mem, buffer, bytes.size());
            const Bytes before = bytes;
            CHECK(read_bytes(machine.queue(end), buffer, bytes.size()) == before);
            std::fill(bytes.begin(), bytes.end(), uint8_t{0});
            copy(queue, buffer, mem, bytes.size());
            CHECK(bytes == before);
        }
}

TEST_CASE("no command on pageable memory waits in its call for earlier commands", "[.pageable]") {
    const Machine machine;
    const Owned<pi_queue> queue = machine.queue();
    const Word go(machine);
    const Owned<pi_program> program = machine.program("function hold pointer\n");
    const Owned<pi_kernel> hold = make_kernel(program, "hold");
    Bytes bytes = counting(4096), other = counting(4096), out(4096);
    const Owned<pi_mem> mem = import(machine, first, bytes.data(), bytes.size()),
                        next = import(machine, first, other.data(), other.size()),
                        buffer = machine.buffer(first, 4096), back = machine.buffer(first, 4096);
    const std::vector until{pointer_argument(go.pointer())};
    const auto wait = launch_desc(hold, until, 1);
    OK(piEnqueueKernelLaunch(queue, &wait, 0, nullptr, nullptr));
    const auto all = range(0, 0, 4096);
    const auto up = copy_desc(mem, buffer, all);
    OK(piEnqueueMemBufferCopy(queue, &up, 0, nullptr, nullptr));
    const uint8_t sign = 99;
    const auto fill = fill_desc(mem, &sign, 1, 100, 200);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    const auto across = copy_desc(mem, next, all);
    OK(piEnqueueMemBufferCopy(queue, &across, 0, nullptr, nullptr));
    const auto down = copy_desc(buffer, mem, all);
    OK(piEnqueueMemBufferCopy(queue, &down, 0, nullptr, nullptr));
    const auto look = read_desc(next, out.data(), all);
    OK(piEnqueueMemBufferRead(queue, &look, 0, nullptr, nullptr));
    const Bytes before = counting(4096);
    go.set();
    OK(piQueueFinish(queue));
    Bytes filled = before;
    std::fill_n(filled.begin() + 100, 200, sign);
    CHECK(other == filled);
    CHECK(out == filled);
    CHECK(bytes == before);
}

TEST_CASE("an unmapped address is still illegal", "[.pageable]") {
    const Machine machine;
    const Owned<pi_queue> queue = machine.queue();
    const Owned<pi_program> program = machine.program(count_up);
    const Owned<pi_kernel> kernel = make_kernel(program, "count_up");
    const uint64_t nowhere = 0x1000;
    const uint32_t from = 0;
    const std::vector arguments{value_argument(nowhere), value_argument(from)};
    const auto launch = launch_desc(kernel, arguments, 1);
    Owned<pi_event> event;
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, event.out()));
    CHECK(piEventWait(event, patience) == PI_ERROR_DEVICE_LOST);
}

TEST_CASE("an image is copied from and to pageable memory, which has no views", "[.pageable]") {
    const Machine machine;
    const Owned<pi_queue> queue = machine.queue();
    Bytes bytes = counting(8 * 5 * 4), back(bytes.size());
    const Owned<pi_mem> from = import(machine, first, bytes.data(), bytes.size()),
                        to = import(machine, first, back.data(), back.size()),
                        image =
                            make_image(machine, image_desc(PI_IMAGE_2D, PI_CHANNEL_UINT8, 8, 5));
    const pi_image_copy_region region{.extent = {8, 5, 1}};
    const auto in = image_copy_desc(from, image, region), out = image_copy_desc(image, to, region);
    OK(piEnqueueMemImageCopy(queue, &in, 0, nullptr, nullptr));
    OK(piEnqueueMemImageCopy(queue, &out, 0, nullptr, nullptr));
    OK(piQueueFinish(queue));
    CHECK(back == bytes);
    const auto view = image_desc(PI_IMAGE_1D, PI_CHANNEL_UINT8, 4);
    Owned<pi_mem> refused;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "unpinned memory",
            piMemImageViewCreate(from, &view, refused.out()));
}

// ----- the first two devices use pageable memory, all can pin, each pin is refused ---------------

TEST_CASE("memory that cannot be pinned is used unpinned if all devices use pageable memory",
          "[.refused]") {
    const Machine machine;
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    CHECK(info<uint64_t>(piDeviceGetInfo, machine.devices[first],
                         PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT) == page);
    CHECK(imported(machine, first, lone).connection == PI_MEMORY_CONNECTION_UNIFIED);
    std::vector<uint8_t> memory(3 * page);
    uint8_t *const begin =
        memory.data() + (page - reinterpret_cast<uintptr_t>(memory.data()) % page);
    const Owned<pi_mem> mem = import(machine, first, begin, page);
    CHECK_FALSE(known_to_driver(begin));
    const Owned<pi_queue> queue = machine.queue(lone);
    const uint8_t sign = 42;
    const auto fill = fill_desc(mem, &sign, 1, 0, page, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    CHECK(Bytes(begin, begin + page) == Bytes(page, sign));
}

// ----- the first two use it, all pin, and each pinning is refused --------------------------------

TEST_CASE(
    "memory that cannot be pinned is refused if a device needs pinned memory: connections hold",
    "[.refused_for_some]") {
    const Machine machine;
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    CHECK(imported(machine, first, third).connection == PI_MEMORY_CONNECTION_UNIFIED);
    std::vector<uint8_t> memory(3 * page);
    uint8_t *const begin =
        memory.data() + (page - reinterpret_cast<uintptr_t>(memory.data()) % page);
    Owned<pi_mem> mem;
    REFUSED(PI_ERROR_OUT_OF_RESOURCES, "cuMemHostRegister_v2: CUDA_ERROR_OUT_OF_MEMORY",
            try_import(machine, first, begin, page, mem.out()));
}
