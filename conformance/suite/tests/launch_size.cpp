// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of sizes that are not a word's, and launches of more work-items than 32 bits count.

#include "checks.hpp"
#include "launch_fixture.hpp"
#include "library.hpp"
#include "native_kernels.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

constexpr const char *opencl_takes = R"(
typedef struct { uchar bytes[3]; } three;
typedef struct { uchar bytes[1000]; } thousand;
kernel void take_1(global uchar *out, uchar value) { out[0] = value; }
kernel void take_3(global uchar *out, three value) {
    for (int i = 0; i < 3; ++i) out[i] = value.bytes[i];
}
kernel void take_1000(global uchar *out, thousand value) {
    for (int i = 0; i < 1000; ++i) out[i] = value.bytes[i];
}
)";
constexpr const char *simulated_takes = "function take_1 pointer 1\nfunction take_3 pointer 3\n"
                                        "function take_1000 pointer 1000\n"
                                        "function count_groups pointer\n";

Program make_value_program(Fixture &fixture, pi_program_format format) {
    if (format == PI_PROGRAM_FORMAT_NATIVE_TABLE)
        return make_program(fixture.context(), format, &native_value_program,
                            sizeof native_value_program);
    if (format != PI_PROGRAM_FORMAT_OPENCL_C &&
        (format == PI_PROGRAM_FORMAT_SPIRV || !is_simulated(fixture.device())))
        skip("the suite has kernels with values of other sizes in OpenCL C, as native functions, "
             "and for simulated devices only");
    std::string data = opencl_takes;
    if (format == PI_PROGRAM_FORMAT_CUBIN)
        data = simulated_cuda_module(PI_SUITE_KERNELS_LIBRARY, simulated_takes);
    else if (format == PI_PROGRAM_FORMAT_DEVICE_BINARY)
        data = simulated_level_zero_module(PI_SUITE_KERNELS_LIBRARY, simulated_takes);
    return make_program(fixture.context(), format, data.data(), data.size());
}

CONFORMANCE_TEST("kernel", "a value has each of its bytes, whatever its size") {
    const pi_program_format format = kernel_format(fixture);
    const Program program = make_value_program(fixture, format);
    const Queue queue = fixture.make_queue();
    std::vector<std::size_t> sizes{1, 3, 1000};
    if (format == PI_PROGRAM_FORMAT_NATIVE_TABLE)
        sizes.insert(sizes.end(), {4096, 32768});
    for (const std::size_t size : sizes) {
        const Kernel kernel = make_kernel(program, join("take_", size));
        const Bytes value = fixture.random_bytes(size);
        Bytes expected = fixture.random_bytes(size + 8);
        const Mem mem = fixture.make_buffer(fixture.place(), expected);
        std::copy(value.begin(), value.end(), expected.begin());
        Bytes given = value;
        pi_kernel_argument arguments[2]{};
        arguments[0].kind = PI_ARGUMENT_BUFFER;
        arguments[0].mem = mem;
        arguments[1].kind = PI_ARGUMENT_VALUE;
        arguments[1].value = given.data();
        arguments[1].size = size;
        pi_kernel_launch_desc desc = launch_desc(kernel, Arguments(), 1);
        desc.argument_count = 2;
        desc.arguments = arguments;
        const Event gate = fixture.make_host_event();
        const Event event = fixture.enqueue(queue, desc, {gate});
        std::fill(given.begin(), given.end(), std::byte{0xEE});
        fixture.signal(gate);
        fixture.wait(event, "a launch with a value");
        fixture.require_contents(queue, mem, expected,
                                 join("what a value of ", size, " bytes was"));
    }
}

CONFORMANCE_TEST("kernel", "a launch may have 2^32 work-items and more") {
    const pi_program_format format = kernel_format(fixture);
    if (format != PI_PROGRAM_FORMAT_NATIVE_TABLE && !is_simulated(fixture.device()))
        skip("the suite has kernels that take no time for a work-item as native functions, and for "
             "simulated devices only");
    const Program program = make_value_program(fixture, format);
    const Kernel kernel = make_kernel(program, "count_groups");
    const uint64_t group = group_size(fixture, kernel, UINT32_MAX);
    if (group < 1024)
        skip("the device's groups are so small that there are too many");
    const uint64_t groups = (uint64_t{1} << 32) / group + 3;
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(3 * sizeof(uint64_t)));
    Arguments arguments;
    arguments.buffer(mem);
    fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, groups * group, group)),
                 "a launch of more than 2^32 work-items");
    const Bytes bytes = fixture.download(queue, mem, 3 * sizeof(uint64_t));
    std::array<uint64_t, 3> counts{};
    std::memcpy(counts.data(), bytes.data(), bytes.size());
    require_equal(counts[0], groups, "how many groups were run");
    require_equal(counts[1], groups * group, "how many work-items were run");
    require_equal(counts[2], groups * group, "the id behind the last work-item");
}

} // namespace
} // namespace pi::suite
