// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "globals.hpp"

#include "checks.hpp"
#include "library.hpp"

#include <cstring>

namespace pi::suite {
namespace {

constexpr const char *opencl_text = R"(
global uint table[1024] = {11, 22, 33, 44};
global uint second_table[1024] = {0};
constant uint fixed[4] = {5, 6, 7, 8};
kernel void load_table(global uint *data) { data[get_global_id(0)] = table[get_global_id(0)]; }
kernel void store_table(global const uint *data) { table[get_global_id(0)] = data[get_global_id(0)]; }
// A variable that nothing uses may be left out of the program.
kernel void use_all(global uint *data) { data[0] = second_table[get_global_id(0)] + fixed[get_global_id(0)]; }
)";

constexpr const char *simulated_lines = "function load_table pointer\n"
                                        "function store_table pointer\n"
                                        "variable table 4096\n"
                                        "variable second_table 4096\n"
                                        "variable fixed 16\n";

// Program-scope variables came with OpenCL C 2.0.
constexpr const char *opencl_options = "-cl-std=CL2.0";

} // namespace

pi_program_format variables_format(Fixture &fixture) {
    fixture.need(PI_CAPABILITY_DEVICE_GLOBALS, "PI_CAPABILITY_DEVICE_GLOBALS");
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_PROGRAM_FORMATS);
    for (const pi_program_format format :
         {PI_PROGRAM_FORMAT_OPENCL_C, PI_PROGRAM_FORMAT_NATIVE_LIBRARY})
        if ((formats & (1u << format)) != 0)
            return format;
    for (const pi_program_format format :
         {PI_PROGRAM_FORMAT_CUBIN, PI_PROGRAM_FORMAT_DEVICE_BINARY})
        if ((formats & (1u << format)) != 0 && is_simulated(fixture.device()))
            return format;
    skip("the device runs none of the formats in which the suite has a program with variables "
         "(OpenCL C, native library, modules of simulated devices)");
}

bool has_variables(Fixture &fixture) {
    try {
        variables_format(fixture);
        return true;
    } catch (const Skip &) {
        return false;
    }
}

Program create_variables_program(Fixture &fixture, pi_context context) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = variables_format(fixture);
    const std::string data =
        desc.format == PI_PROGRAM_FORMAT_OPENCL_C ? opencl_text
        : desc.format == PI_PROGRAM_FORMAT_CUBIN
            ? simulated_cuda_module(PI_SUITE_VARIABLES_LIBRARY, simulated_lines)
        : desc.format == PI_PROGRAM_FORMAT_DEVICE_BINARY
            ? simulated_level_zero_module(PI_SUITE_VARIABLES_LIBRARY, simulated_lines)
            : suite_library(PI_SUITE_VARIABLES_LIBRARY);
    desc.data = data.data();
    desc.size = data.size();
    Program program;
    require_success(piProgramCreate(context, &desc, program.out()),
                    "piProgramCreate of the suite's program with variables");
    return program;
}

Program make_variables_program(Fixture &fixture) {
    Program program = create_variables_program(fixture, fixture.context());
    auto desc = pi::desc<pi_program_build_desc>();
    if (variables_format(fixture) == PI_PROGRAM_FORMAT_OPENCL_C)
        desc.options = opencl_options;
    require_success(piProgramBuild(program, &desc),
                    "piProgramBuild of the suite's program with variables");
    return program;
}

pi_device_global_read_desc global_read_desc(pi_program program, const char *name, void *host_ptr,
                                            uint64_t offset, uint64_t size) {
    auto desc = pi::desc<pi_device_global_read_desc>();
    desc.program = program;
    desc.name = name;
    desc.host_ptr = host_ptr;
    desc.offset = offset;
    desc.size = size;
    return desc;
}

pi_device_global_write_desc global_write_desc(pi_program program, const char *name,
                                              const void *host_ptr, uint64_t offset,
                                              uint64_t size) {
    auto desc = pi::desc<pi_device_global_write_desc>();
    desc.program = program;
    desc.name = name;
    desc.host_ptr = host_ptr;
    desc.offset = offset;
    desc.size = size;
    return desc;
}

void write_global(Fixture &fixture, pi_queue queue, pi_program program, const char *name,
                  const Bytes &bytes, uint64_t offset) {
    fixture.wait(fixture.enqueue(
                     queue, global_write_desc(program, name, bytes.data(), offset, bytes.size())),
                 "writing a variable");
}

Bytes read_global(Fixture &fixture, pi_queue queue, pi_program program, const char *name,
                  uint64_t size, uint64_t offset) {
    Bytes bytes(size, std::byte{0xA5});
    fixture.wait(
        fixture.enqueue(queue, global_read_desc(program, name, bytes.data(), offset, size)),
        "reading a variable");
    return bytes;
}

void require_global(Fixture &fixture, pi_queue queue, pi_program program, const char *name,
                    const Bytes &expected, const std::string &what) {
    const Bytes actual = read_global(fixture, queue, program, name, expected.size());
    require_same_bytes(actual.data(), expected.data(), expected.size(), what);
}

} // namespace pi::suite
