// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels report of the device: addresses, and arithmetic with halves and doubles.

#include "fixture.hpp"
#include "kernels.hpp"
#include "registry.hpp"

#include <pi/pi_native_kernel.h>

#include <cstring>

namespace pi::suite {
namespace {

// Words that the kernel "report" writes to its only argument.
std::vector<uint64_t> report(Fixture &fixture, pi_program program, pi_mem mem, uint64_t count) {
    const Kernel kernel = make_kernel(program, "report");
    const Queue queue = fixture.make_queue();
    Arguments arguments;
    arguments.buffer(mem);
    fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 1)), "a launch of report");
    const Bytes bytes = fixture.download(queue, mem, count * sizeof(uint64_t));
    std::vector<uint64_t> words(count);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}

// {its own address, the bits of one}
void PI_CALL native_report(const pi_native_group *, void *const *arguments) {
    auto *out = static_cast<uint64_t *>(arguments[0]);
    out[0] = reinterpret_cast<uintptr_t>(out);
    out[1] = 8 * sizeof out;
}
constexpr pi_native_kernel native_kernels[] = {{"report", &native_report, 1, 0}};
constexpr pi_native_program native_reporter = {sizeof(pi_native_program), 1, native_kernels};

constexpr char opencl_reporter[] =
    "kernel void report(global ulong *out) { out[0] = (ulong)out; out[1] = 8 * sizeof out; }";

CONFORMANCE_TEST("kernel", "a buffer argument is the address that the buffer reports") {
    const pi_program_format format = kernel_format(fixture);
    Program program;
    if (format == PI_PROGRAM_FORMAT_NATIVE_TABLE)
        program = make_program(fixture.context(), format, &native_reporter, sizeof native_reporter);
    else if (format == PI_PROGRAM_FORMAT_OPENCL_C)
        program =
            make_program(fixture.context(), format, opencl_reporter, sizeof opencl_reporter - 1);
    else
        skip("the suite has a kernel that reports addresses in OpenCL C and as a native function");
    const Mem mem = fixture.make_buffer(4096);
    const std::vector<uint64_t> words = report(fixture, program, mem, 2);
    require_equal(info_or(&piMemGetInfo, mem.get(), PI_MEM_INFO_DEVICE_ADDRESS, words[0]), words[0],
                  "PI_MEM_INFO_DEVICE_ADDRESS of a buffer");
    require_equal(info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_ADDRESS_BITS,
                          static_cast<uint32_t>(words[1])),
                  words[1], "PI_DEVICE_INFO_ADDRESS_BITS");
}

CONFORMANCE_TEST("kernel",
                 "kernels compute with halves and doubles where the device reports them") {
    if (kernel_format(fixture) != PI_PROGRAM_FORMAT_OPENCL_C)
        skip("the suite has kernels with halves and doubles in OpenCL C only");
    struct Case {
        pi_device_info name;
        const char *extension, *type;
    };
    bool any = false;
    for (const auto &[name, extension, type] :
         {Case{PI_DEVICE_INFO_FP16, "cl_khr_fp16", "half"},
          Case{PI_DEVICE_INFO_FP64, "cl_khr_fp64", "double"}}) {
        if (info_or(&piDeviceGetInfo, fixture.device(), name, 0u) == 0)
            continue;
        any = true;
        // 2^24 + 1 is no float.
        const bool is_half = name == PI_DEVICE_INFO_FP16;
        const std::string text =
            join("#pragma OPENCL EXTENSION ", extension, " : enable\n",
                 "kernel void report(global ulong *out) {\n    volatile ", type, " a = (", type,
                 ")", is_half ? 1024 : 1 << 24, ";\n    out[0] = (ulong)(a + (", type,
                 ")1);\n    out[1] = sizeof(", type, ");\n}\n");
        const Program program =
            make_program(fixture.context(), PI_PROGRAM_FORMAT_OPENCL_C, text.data(), text.size());
        const Mem mem = fixture.make_buffer(fixture.place(), Bytes(16));
        const std::vector<uint64_t> words = report(fixture, program, mem, 2);
        require_equal(words[0], is_half ? 1025u : 16777217u, join("one more, as a ", type));
        require_equal(words[1], is_half ? 2u : 8u, join("the size of a ", type));
    }
    if (!any)
        skip("the device has neither halves nor doubles");
}

} // namespace
} // namespace pi::suite
