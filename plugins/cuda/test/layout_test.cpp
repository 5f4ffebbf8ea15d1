// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// n-D allocations in the driver and in kernels: the conformance suite sees their logical bytes
// only.
#include "plugin_fixture.hpp"

#include "fixture.hpp"
#include "images.hpp"

#include <array>

using namespace cuda_test;
using pi::cuda::CUdeviceptr;

namespace {

/// The simulated driver's.
constexpr uint64_t row_alignment = 512;

/// Rows of bytes, and the descriptor that creates them.
struct Rows {
    Rows(uint64_t rows, uint64_t row, uint32_t element = 1)
        : extents{rows, row / element}, layout(pi::desc<pi_mem_layout_desc>()),
          creation(pi::desc<pi_mem_buffer_desc>()) {
        layout.rank = 2;
        layout.element_size = element;
        layout.extents = extents;
        layout.axis_separator_count = 1;
        layout.axis_separators = &separator;
        creation.next = &layout;
        creation.size = rows * row;
    }
    Rows(const Rows &) = delete;
    Owned<pi_mem> make(const Machine &machine) const {
        Owned<pi_mem> mem;
        OK(piMemBufferCreate(machine.context, machine.devices.at(first), &creation, mem.out()));
        return mem;
    }
    pi_result attempt(const Machine &machine) const {
        Owned<pi_mem> mem;
        return piMemBufferCreate(machine.context, machine.devices.at(first), &creation, mem.out());
    }

    const uint32_t separator = 1;
    uint64_t extents[2];
    pi_mem_layout_desc layout;
    pi_mem_buffer_desc creation;
};

void write(pi_queue queue, pi_mem mem, const Bytes &bytes) {
    const auto region = range(0, 0, bytes.size());
    const auto d = write_desc(mem, bytes.data(), region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferWrite(queue, &d, 0, nullptr, nullptr));
}

CUdeviceptr address_of(pi_mem mem) {
    return info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_DEVICE_ADDRESS);
}

/// The bytes as the driver has them.
Bytes device_bytes(CUdeviceptr address, size_t size) {
    const pi_cuda_test::Current current(0);
    Bytes bytes(size);
    CHECK(pi_cuda_test::cu().cuMemcpyDtoH_v2(bytes.data(), address, size) ==
          pi::cuda::CUDA_SUCCESS);
    return bytes;
}

} // namespace

TEST_CASE("the rows of an n-D allocation have the driver's pitch") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    const Rows rows(7, 60, 4);
    const Owned<pi_mem> mem = rows.make(machine);
    CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_SIZE) == 420);
    CHECK(info<std::array<uint64_t, 2>>(piMemGetInfo, mem, PI_MEM_INFO_PITCHES) ==
          std::array<uint64_t, 2>{row_alignment, 4});
    const Bytes bytes = counting(420);
    write(queue, mem, bytes);
    for (size_t row = 0; row < 7; ++row)
        CHECK(device_bytes(address_of(mem) + row * row_alignment, 60) ==
              Bytes(bytes.begin() + 60 * row, bytes.begin() + 60 * (row + 1)));
    pi_native_handle native{};
    OK(piMemGetNativeHandle(mem, machine.devices.at(first), &native));
    CHECK(native.value[0] == address_of(mem));
    // A view in the middle of a row.
    auto part = pi::desc<pi_mem_partition_desc>();
    part.offset = 130;
    part.size = 200;
    Owned<pi_mem> view;
    OK(piMemBufferPartition(mem, &part, view.out()));
    CHECK(address_of(view) == address_of(mem) + 2 * row_alignment + 10);
    CHECK(info<uint64_t>(piMemGetInfo, view, PI_MEM_INFO_ALIGNMENT) == 2);
}

TEST_CASE("a kernel begins at the logical byte of its argument's offset") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    const Owned<pi_mem> mem = Rows(4, 32, 4).make(machine);
    write(queue, mem, Bytes(128));
    const Owned<pi_program> program = machine.program(count_up);
    const Owned<pi_kernel> kernel = make_kernel(program, "count_up");
    const uint32_t value = 5;
    std::vector arguments{buffer_argument(mem), value_argument(value)};
    arguments[0].offset = 64; // the third row
    const auto launch = launch_desc(kernel, arguments, 8);
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
    const std::vector<uint32_t> words = read_words(queue, mem, 32);
    CHECK(std::vector<uint32_t>(words.begin() + 16, words.begin() + 24) ==
          std::vector<uint32_t>{5, 6, 7, 8, 9, 10, 11, 12});
    CHECK(words[15] == 0);
    CHECK(words[24] == 0);
}

TEST_CASE("an n-D allocation has the requested alignment and contains its rows") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    Rows rows(3, 100);
    rows.creation.alignment = 1 << 16;
    const Owned<pi_mem> mem = rows.make(machine);
    CHECK(address_of(mem) % (1 << 16) == 0);
    const Bytes bytes = counting(300);
    write(queue, mem, bytes);
    CHECK(read_bytes(queue, mem, 300) == bytes);
}

TEST_CASE("an image is copied from and to an n-D allocation, unless its rows split pixels") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    const Owned<pi_mem> mem = Rows(6, 40).make(machine), back = Rows(12, 20).make(machine);
    const Owned<pi_mem> image =
        make_image(machine, image_desc(PI_IMAGE_3D, PI_CHANNEL_UINT8, 5, 6, 2)); // rows of 20 bytes
    const Bytes bytes = counting(240);
    write(queue, mem, bytes);
    const pi_image_copy_region region{.extent = {5, 6, 2}};
    const auto in = image_copy_desc(mem, image, region), out = image_copy_desc(image, back, region);
    OK(piEnqueueMemImageCopy(queue, &in, 0, nullptr, nullptr));
    OK(piEnqueueMemImageCopy(queue, &out, 0, nullptr, nullptr));
    CHECK(read_bytes(queue, back, 240) == bytes);
    const Owned<pi_mem> odd = Rows(10, 27).make(machine);
    const auto parted = image_copy_desc(image, odd, region);
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "rows of 27 bytes, which split the image's pixels of 4",
            piEnqueueMemImageCopy(queue, &parted, 0, nullptr, nullptr));
}

TEST_CASE("unsupported layouts are refused, with what would be right") {
    const Machine machine({first});
    Rows pinned(4, 60);
    pinned.creation.scope = 1;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "scope 0 (global) has", pinned.attempt(machine));
    Rows used(4, 60);
    Bytes bytes(240);
    used.creation.flags = PI_MEM_USE_HOST_PTR;
    used.creation.host_ptr = bytes.data();
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_COPY_HOST_PTR can be used",
            used.attempt(machine));
    Rows given(4, 60);
    given.creation.export_types = 1 << PI_EXTERNAL_OPAQUE_FD;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "export_types with a pi_mem_layout_desc",
            given.attempt(machine));
    const Owned<pi_mem> mem = Rows(4, 60).make(machine);
    auto view = image_desc(PI_IMAGE_1D, PI_CHANNEL_UINT8, 4);
    Owned<pi_mem> image;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "only a linear buffer can be viewed",
            piMemImageViewCreate(mem, &view, image.out()));
    // The device has 64 MiB; rows of one byte take 512 each.
    REFUSED(PI_ERROR_OUT_OF_DEVICE_MEMORY, "cuMemAllocPitch_v2: CUDA_ERROR_OUT_OF_MEMORY",
            Rows(1 << 20, 1).attempt(machine));
}
