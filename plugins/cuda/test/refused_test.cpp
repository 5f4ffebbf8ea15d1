// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's handling of calls that the driver refuses.
#include "images.hpp"
#include "plugin_fixture.hpp"

extern "C" {
#include "refusing_driver.h"
}

#include <algorithm>
#include <numeric>

#include <dlfcn.h>

using namespace cuda_test;

namespace {

/// Control of the refusing driver, which is loaded by then; nothing is refused any more after this
/// object.
struct Refusals {
    Refusals() {
        void *library = dlopen(PI_TEST_REFUSING_DRIVER, RTLD_NOW | RTLD_LOCAL);
        REQUIRE(library != nullptr);
        refusals = static_cast<pi_refusals *>(dlsym(library, "pi_refusing_driver"));
        REQUIRE(refusals != nullptr);
    }
    ~Refusals() { refusals->copy = refusals->contexts = refusals->code = 0; }
    Refusals(const Refusals &) = delete;
    pi_refusals *operator->() const { return refusals; }
    pi_refusals *refusals = nullptr;
};

Machine make_machine() {
    return Machine({first}, PI_TEST_SIMULATED_NVRTC, PI_TEST_SIMULATED_NVML,
                   PI_TEST_REFUSING_DRIVER);
}

} // namespace

TEST_CASE("dependents of a command that failed half-way do nothing") {
    const Refusals refusals;
    const Machine machine = make_machine();
    const auto queue = machine.queue(), other = machine.queue();
    const Owned<pi_mem> a = machine.buffer(first, 4096), b = machine.buffer(first, 4096);
    const uint8_t one = 1, two = 2;
    const auto before = fill_desc(b, &one, 1, 0, 4096, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(queue, &before, 0, nullptr, nullptr));
    const pi_region regions[] = {range(0, 0, 1024), range(2048, 1024, 1024)};
    auto copy = copy_desc(a, b, regions[0]);
    copy.region_count = 2;
    copy.regions = regions;
    refusals->copy = 2;
    Owned<pi_event> failed, behind;
    OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, failed.out()));
    CHECK(refusals->copy == 0);
    const auto next = fill_desc(b, &two, 1, 2048, 2048);
    const pi_event waits = failed;
    OK(piEnqueueMemBufferFill(other, &next, 1, &waits, behind.out()));
    CHECK(piEventWait(failed, patience) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(piEventWait(behind, patience) == PI_ERROR_DEPENDENCY_FAILED);
    const Bytes bytes = read_bytes(queue, b, 4096);
    CHECK(Bytes(bytes.begin() + 2048, bytes.end()) == Bytes(2048, one));
}

TEST_CASE("a driver's code without an equivalent fails the command, and the error has its name") {
    const Refusals refusals;
    const Machine machine = make_machine();
    const auto queue = machine.queue();
    const Owned<pi_mem> a = machine.buffer(first, 4096), b = machine.buffer(first, 4096);
    const uint8_t one = 1;
    const auto fill = fill_desc(b, &one, 1, 0, 4096, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    struct Code {
        int value;
        const char *name;
    };
    const Code code = GENERATE(Code{1, "CUDA_ERROR_INVALID_VALUE"},
                               Code{304, "CUDA_ERROR_OPERATING_SYSTEM"}, Code{98765, "98765"});
    const pi_region all = range(0, 0, 4096);
    const auto copy = copy_desc(a, b, all, PI_COMMAND_BLOCKING);
    refusals->code = code.value;
    refusals->copy = 1;
    REFUSED(PI_ERROR_BACKEND, code.name, piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr));
    CHECK(refusals->copy == 0);
    CHECK(read_bytes(queue, b, 4096) == Bytes(4096, one));
}

TEST_CASE("a launch asks the driver for exactly the work-group memory of its descriptor, all of "
          "which its kernel uses") {
    const Refusals calls;
    const Machine machine = make_machine();
    const auto queue = machine.queue();
    const Owned<pi_program> program =
        machine.program("function fill_shared pointer 4 extern_shared\n");
    const Owned<pi_kernel> kernel = make_kernel(program, "fill_shared");
    const Owned<pi_mem> out = machine.buffer(first, 64);
    const uint32_t size = GENERATE(1u, 4000u, 4001u, 200u << 10);
    const std::vector arguments{buffer_argument(out), value_argument(size)};
    auto launch = launch_desc(kernel, arguments, 3 * 32, 32);
    launch.flags = PI_COMMAND_BLOCKING;
    launch.local_memory_size = size;
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
    CHECK(calls->shared == size);
    // Each group has its own.
    CHECK(read_words(queue, out, 3) == std::vector<uint32_t>{size, 2 * size, 3 * size});
    launch.local_memory_size = 0;
    const uint32_t zero = 0;
    const std::vector none{buffer_argument(out), value_argument(zero)};
    launch.arguments = none.data();
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
    CHECK(calls->shared == 0);
    CHECK(read_words(queue, out, 3) == std::vector<uint32_t>(3));
}

TEST_CASE("work-group arguments of 4 and of 8 bytes receive their offsets, behind the memory "
          "without a parameter") {
    const Refusals calls;
    const Machine machine = make_machine();
    const auto queue = machine.queue();
    const Owned<pi_program> program =
        machine.program("function measure_shared pointer shared_4 shared shared_4 extern_shared\n");
    const Owned<pi_kernel> kernel = make_kernel(program, "measure_shared");
    const Owned<pi_mem> out = machine.buffer(first, 64);
    const std::vector arguments{buffer_argument(out), local_argument(24), local_argument(100),
                                local_argument(8)};
    auto launch = launch_desc(kernel, arguments, 32, 32);
    launch.flags = PI_COMMAND_BLOCKING;
    launch.local_memory_size = GENERATE(0u, 1000u, 100'000u);
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
    // Each begins at a multiple of 16.
    const auto begin = static_cast<uint32_t>((launch.local_memory_size + 15) / 16 * 16);
    CHECK(read_words(queue, out, 3) == std::vector<uint32_t>{begin, begin + 32, begin + 144});
    CHECK(calls->shared == begin + 152);
}

TEST_CASE("a failed creation of a context leaves no pool behind") {
    const Refusals refusals;
    const int before = refusals->pools;
    {
        const Machine machine = make_machine();
        const Owned<pi_queue> queue = machine.queue();
        CHECK(refusals->pools == before + 1);
        refusals->contexts = 1;
        for (int i = 0; i < 3; ++i) {
            auto d = pi::desc<pi_context_desc>();
            d.device_count = 1;
            d.devices = &machine.devices.at(second);
            Owned<pi_context> context;
            CHECK(piContextCreate(machine.platform, &d, context.out()) != PI_SUCCESS);
        }
        CHECK(refusals->pools == before + 1);
    }
    CHECK(refusals->pools == before);
}

TEST_CASE("a rectangle needs as few driver copies as it has rows or slices") {
    const Refusals calls;
    const Machine machine = make_machine();
    const auto queue = machine.queue();
    constexpr uint64_t size = 1 << 20;
    const Owned<pi_mem> a = machine.buffer(first, size), b = machine.buffer(first, size);
    Bytes from(size), to(size, 0);
    for (uint64_t i = 0; i < size; ++i)
        from[i] = static_cast<uint8_t>(i * 7 + i / 251);
    const pi_region all = range(0, 0, size);
    auto write = write_desc(a, from.data(), all, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferWrite(queue, &write, 0, nullptr, nullptr));
    write = write_desc(b, to.data(), all, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferWrite(queue, &write, 0, nullptr, nullptr));
    pi_region region{};
    region.src_offset = 3;
    region.dst_offset = 5;
    const auto extend = [&](uint64_t row, uint64_t rows, uint64_t slices) {
        region.extent[0] = row;
        region.extent[1] = rows;
        region.extent[2] = slices;
    };
    int most = 1;
    SECTION("slices of one row") {
        extend(1, 1, 4096);
        region.src_pitch[0] = 16;
        region.src_pitch[1] = 33;
        region.dst_pitch[0] = 1;
        region.dst_pitch[1] = 17;
    }
    SECTION("slices at multiples of rows") {
        extend(2, 5, 1000);
        region.src_pitch[0] = region.dst_pitch[0] = 8;
        region.src_pitch[1] = 64;
        region.dst_pitch[1] = 48;
    }
    SECTION("few slices, not at multiples of rows") {
        extend(1, 2, 4096);
        region.src_pitch[0] = 16;
        region.src_pitch[1] = 33;
        region.dst_pitch[0] = 3;
        region.dst_pitch[1] = 7;
        most = 2;
    }
    SECTION("many slices, not at multiples of rows") {
        extend(1, 4096, 3);
        region.src_pitch[0] = region.dst_pitch[0] = 16;
        region.src_pitch[1] = region.dst_pitch[1] = 16 * 4096 + 7;
        most = 3;
    }
    const int before = calls->copies;
    const auto copy = copy_desc(a, b, region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr));
    CHECK(calls->copies - before == most);
    for (uint64_t z = 0; z < region.extent[2]; ++z)
        for (uint64_t y = 0; y < region.extent[1]; ++y)
            std::copy_n(
                &from[region.src_offset + z * region.src_pitch[1] + y * region.src_pitch[0]],
                region.extent[0],
                &to[region.dst_offset + z * region.dst_pitch[1] + y * region.dst_pitch[0]]);
    CHECK(read_bytes(queue, b, size) == to);
}

TEST_CASE(
    "a box between a buffer and an image is one driver copy, or as few as it has rows or slices") {
    const Refusals calls;
    const Machine machine = make_machine();
    const auto queue = machine.queue();
    struct Box {
        pi_image_type type;
        uint64_t rows, slices, row_pitch, slice_pitch;
        int most;
    };
    constexpr uint64_t width = 3, row = 4 * width; // pixels of RGBA of UINT8
    const Box box =
        GENERATE(Box{PI_IMAGE_2D, 50, 1, 17, 850, 1}, // rows with gaps
                 Box{PI_IMAGE_3D, 5, 4, 16, 96, 1},   // slices at multiples of rows
                 Box{PI_IMAGE_3D, 2, 40, 16, 37, 2},  // slices not at multiples of rows
                 Box{PI_IMAGE_3D, 40, 2, 16, 645, 2}, Box{PI_IMAGE_2D_ARRAY, 5, 4, 16, 96, 1},
                 Box{PI_IMAGE_2D_ARRAY, 2, 40, 16, 37, 2},
                 Box{PI_IMAGE_1D_ARRAY, 1, 40, row, 7 * row, 1}, // layers at multiples of rows
                 Box{PI_IMAGE_1D_ARRAY, 1, 40, 16, 37, 1});
    INFO(box.type << " with pitches " << box.row_pitch << ", " << box.slice_pitch);
    const bool has_rows = box.type != PI_IMAGE_1D_ARRAY, has_slices = box.type != PI_IMAGE_2D;
    const Owned<pi_mem> image =
        make_image(machine, image_desc(box.type, PI_CHANNEL_UINT8, width, has_rows ? box.rows : 0,
                                       has_slices ? box.slices : 0));
    constexpr uint64_t size = 4096;
    const Owned<pi_mem> a = machine.buffer(first, size), b = machine.buffer(first, size);
    Bytes from(size), to(size, 0);
    std::iota(from.begin(), from.end(), uint8_t(0));
    const pi_region all = range(0, 0, size);
    for (auto &[mem, bytes] : {std::pair{&a, &from}, std::pair{&b, &to}}) {
        const auto write = write_desc(*mem, bytes->data(), all, PI_COMMAND_BLOCKING);
        OK(piEnqueueMemBufferWrite(queue, &write, 0, nullptr, nullptr));
    }
    pi_image_copy_region region{};
    region.extent[0] = width;
    region.extent[1] = box.rows;
    region.extent[2] = box.slices;
    region.buffer_offset = 5;
    region.buffer_row_pitch = box.row_pitch;
    region.buffer_slice_pitch = box.slice_pitch;
    for (const auto &copy : {image_copy_desc(a, image, region, PI_COMMAND_BLOCKING),
                             image_copy_desc(image, b, region, PI_COMMAND_BLOCKING)}) {
        const int before = calls->copies;
        OK(piEnqueueMemImageCopy(queue, &copy, 0, nullptr, nullptr));
        CHECK(calls->copies - before == box.most);
    }
    for (uint64_t z = 0; z < box.slices; ++z)
        for (uint64_t y = 0; y < box.rows; ++y) {
            const uint64_t begin = 5 + z * box.slice_pitch + y * box.row_pitch;
            std::copy_n(&from[begin], row, &to[begin]);
        }
    CHECK(read_bytes(queue, b, size) == to);
}

TEST_CASE("a fill of many rows with a long pattern sets the words of one and copies the others") {
    const Refusals calls;
    const Machine machine = make_machine();
    const auto queue = machine.queue();
    constexpr uint64_t rows = 100, row = 96;
    const uint64_t extents[] = {rows, row};
    const uint32_t separator = 1;
    auto layout = pi::desc<pi_mem_layout_desc>();
    layout.rank = 2;
    layout.element_size = 1;
    layout.extents = extents;
    layout.axis_separator_count = 1;
    layout.axis_separators = &separator;
    auto creation = pi::desc<pi_mem_buffer_desc>();
    creation.next = &layout;
    creation.size = rows * row;
    Owned<pi_mem> mem;
    OK(piMemBufferCreate(machine.context, machine.devices.at(first), &creation, mem.out()));
    Bytes pattern(32);
    std::iota(pattern.begin(), pattern.end(), uint8_t(1));
    const int fills = calls->fills, copies = calls->copies;
    const auto fill = fill_desc(mem, pattern.data(), pattern.size(), 0, rows * row);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    OK(piQueueFinish(queue));
    CHECK(calls->fills - fills == 8);
    CHECK(calls->copies - copies == 7); // 1, 2, 4, ... rows
    Bytes expected(rows * row);
    for (uint64_t i = 0; i < expected.size(); ++i)
        expected[i] = pattern[i % pattern.size()];
    CHECK(read_bytes(queue, mem, rows * row) == expected);
}
