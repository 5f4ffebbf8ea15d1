// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels.hpp"

#include "library.hpp"
#include "native_kernels.hpp"
#include "spirv.hpp"

#include <algorithm>
#include <cstring>

namespace pi::suite {
namespace {

// ----- OpenCL C -----

constexpr const char *broken_opencl_text = "kernel void broken(global uint *data) { this is no C }";

// ----- Native functions -----

// Its struct_size is not even that of its first fields.
constexpr pi_native_program broken_native_program = {4, 1, nullptr};

// ----- Modules of simulated devices (plugins/{cuda,level_zero}/simulator/README.md) -----

const std::string &simulated_cuda_text() {
    static const std::string text =
        simulated_cuda_module(PI_SUITE_KERNELS_LIBRARY,
                              "function add pointer 4\nfunction combine pointer pointer pointer 4\n"
                              "function visit pointer 8 8\nfunction reverse pointer shared\n"
                              "function butterfly pointer shared shared\n"
                              "function is_null pointer pointer\n"
                              "function follow addresses 4\n");
    return text;
}

constexpr const char *broken_simulated_cuda_text =
    "PI simulated CUDA module 1\nfunction broken this is no parameter\n";

const std::string &simulated_level_zero_text() {
    static const std::string text = simulated_level_zero_module(
        PI_SUITE_KERNELS_LIBRARY,
        "function add pointer 4\nfunction combine pointer pointer pointer 4\n"
        "function visit pointer 8 8\nfunction reverse pointer local\n"
        "function butterfly pointer local local\n"
        "function is_null pointer pointer\n"
        "function follow addresses 4\n");
    return text;
}

constexpr const char *broken_simulated_level_zero_text =
    "PI simulated Level Zero module 1\nfunction broken this is no parameter\n";

// ----- PTX -----

constexpr const char *broken_ptx_text = ".version 5.0\n.target sm_50\nthis is no instruction\n";

// ----- The table of formats, best first -----

struct Source {
    pi_program_format format;
    const void *data;
    uint64_t size;
    const void *broken_data;
    uint64_t broken_size;
    bool simulated = false; // for devices of the simulated driver alone
};

const std::vector<Source> &sources() {
    static const std::vector<Source> table = [] {
        std::vector<Source> all{
            {PI_PROGRAM_FORMAT_OPENCL_C, opencl_c_kernels().data(), opencl_c_kernels().size(),
             broken_opencl_text, std::strlen(broken_opencl_text)},
            {PI_PROGRAM_FORMAT_SPIRV, spirv::kernels().data(), spirv::kernels().size(),
             spirv::broken().data(), spirv::broken().size()},
            {PI_PROGRAM_FORMAT_NATIVE_TABLE, &native_program, sizeof native_program,
             &broken_native_program, sizeof broken_native_program},
            {PI_PROGRAM_FORMAT_CUBIN, simulated_cuda_text().data(), simulated_cuda_text().size(),
             broken_simulated_cuda_text, std::strlen(broken_simulated_cuda_text), true},
            // Behind the former, which simulated devices of CUDA take, too.
            {PI_PROGRAM_FORMAT_DEVICE_BINARY, simulated_level_zero_text().data(),
             simulated_level_zero_text().size(), broken_simulated_level_zero_text,
             std::strlen(broken_simulated_level_zero_text), true},
            {PI_PROGRAM_FORMAT_PTX, ptx_kernels().data(), ptx_kernels().size(), broken_ptx_text,
             std::strlen(broken_ptx_text)}};
        std::erase_if(all, [](const Source &source) { return source.size == 0; });
        return all;
    }();
    return table;
}

const Source &source_of(pi_program_format format) {
    for (const Source &source : sources()) {
        if (source.format == format)
            return source;
    }
    throw Failure{join("the suite has no kernels of format ", format)};
}

pi_program_desc program_desc(pi_program_format format, const void *data, uint64_t size) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = format;
    desc.data = data;
    desc.size = size;
    return desc;
}

} // namespace

pi_program_format kernel_format(Fixture &fixture, pi_device device) {
    fixture.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM", device);
    const pi_device on = device != nullptr ? device : fixture.device();
    const auto formats = get_info<uint32_t>(&piDeviceGetInfo, on, PI_DEVICE_INFO_PROGRAM_FORMATS);
    for (const Source &source : sources()) {
        if ((formats & (1u << source.format)) != 0 && (!source.simulated || is_simulated(on)))
            return source.format;
    }
    skip("the device runs none of the formats that the suite's kernels are written in "
         "(OpenCL C, native table, modules of simulated devices; SPIR-V and PTX if the "
         "suite was built with compilers for them)");
}

void need_program_format(Fixture &fixture, pi_program_format format, pi_device device) {
    fixture.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM", device);
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_PROGRAM_FORMATS);
    if ((formats & (1u << format)) == 0)
        skip(join("another device runs no programs of format ", format));
}

bool has_kernels(Fixture &fixture) {
    try {
        kernel_format(fixture);
        return true;
    } catch (const Skip &) {
        return false;
    }
}

pi_program_desc kernel_program_desc(pi_program_format format) {
    const Source &source = source_of(format);
    return program_desc(format, source.data, source.size);
}

pi_program_desc broken_program_desc(pi_program_format format) {
    const Source &source = source_of(format);
    return program_desc(format, source.broken_data, source.broken_size);
}

uint32_t build_status(pi_program program, pi_device device) {
    uint32_t status = poison<uint32_t>();
    require_success(piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_STATUS,
                                          sizeof status, &status, nullptr),
                    "the build status");
    return status;
}

void require_options(pi_program program, pi_device device, const std::string &expected,
                     const std::string &what) {
    const auto ask = [&](pi_program of, uint32_t name, uint64_t size, void *value, uint64_t *out) {
        return piProgramGetBuildInfo(of, device, name, size, value, out);
    };
    require_equal(text_or(ask, program, PI_PROGRAM_BUILD_INFO_OPTIONS, expected), expected, what);
}

Program make_program(Fixture &fixture) {
    return make_program(fixture, fixture.place());
}

Program make_program(Fixture &fixture, const Place &place) {
    const pi_program_desc desc = kernel_program_desc(kernel_format(fixture, place.device));
    Program program;
    require_success(piProgramCreate(place.context, &desc, program.out()),
                    "piProgramCreate of the suite's kernels");
    require_success(piProgramBuild(program, nullptr), "piProgramBuild of the suite's kernels");
    return program;
}

Program create_program(pi_context context, pi_program_format format, const void *data,
                       uint64_t size) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = format;
    desc.data = data;
    desc.size = size;
    Program program;
    require_success(piProgramCreate(context, &desc, program.out()), "piProgramCreate");
    return program;
}

Program make_program(pi_context context, pi_program_format format, const void *data,
                     uint64_t size) {
    Program program = create_program(context, format, data, size);
    require_success(piProgramBuild(program, nullptr), "piProgramBuild");
    return program;
}

Program create_valued(Fixture &fixture) {
    if (kernel_format(fixture) != PI_PROGRAM_FORMAT_OPENCL_C)
        skip("the device compiles no text");
    constexpr std::string_view text = "kernel void set(global uint *data) { data[0] = VALUE; }";
    return create_program(fixture.context(), PI_PROGRAM_FORMAT_OPENCL_C, text.data(), text.size());
}

Kernel make_kernel(pi_program program, const std::string &name) {
    Kernel kernel;
    require_success(piKernelCreate(program, name.c_str(), nullptr, kernel.out()),
                    "piKernelCreate of ", name);
    return kernel;
}

Arguments &Arguments::buffer(pi_mem mem, uint64_t offset, uint64_t size) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_BUFFER;
    argument.mem = mem;
    argument.offset = offset;
    argument.size = size;
    arguments_.push_back(argument);
    return *this;
}

Arguments &Arguments::bytes(const void *data, std::size_t size) {
    Bytes &copy = values_.emplace_back(size);
    std::memcpy(copy.data(), data, size);
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_VALUE;
    argument.value = copy.data();
    argument.size = size;
    arguments_.push_back(argument);
    return *this;
}

Arguments &Arguments::pointer(const void *address) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_POINTER;
    argument.pointer = address;
    arguments_.push_back(argument);
    return *this;
}

Arguments &Arguments::local(uint64_t size) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_LOCAL;
    argument.size = size;
    arguments_.push_back(argument);
    return *this;
}

Arguments &Arguments::image(pi_mem image, pi_sampler image_sampler) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_IMAGE;
    argument.mem = image;
    argument.image_sampler = image_sampler;
    arguments_.push_back(argument);
    return *this;
}

Arguments &Arguments::sampler(pi_sampler sampler) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_SAMPLER;
    argument.sampler = sampler;
    arguments_.push_back(argument);
    return *this;
}

pi_kernel_launch_desc launch_desc(pi_kernel kernel, const Arguments &arguments, uint32_t dimensions,
                                  const Size3 &global_size, const Size3 &local_size) {
    auto desc = pi::desc<pi_kernel_launch_desc>();
    desc.kernel = kernel;
    desc.dimensions = dimensions;
    desc.argument_count = arguments.count();
    desc.arguments = arguments.data();
    for (int axis = 0; axis < 3; ++axis) {
        desc.global_size[axis] = global_size[axis];
        desc.local_size[axis] = local_size[axis];
    }
    return desc;
}

pi_kernel_launch_desc launch_desc(pi_kernel kernel, const Arguments &arguments,
                                  uint64_t global_size, uint64_t local_size) {
    return launch_desc(kernel, arguments, 1, {global_size, 0, 0}, {local_size, 0, 0});
}

uint64_t largest_group(Fixture &fixture, pi_kernel kernel) {
    uint64_t size = 0;
    if (piKernelGetGroupInfo(kernel, fixture.device(), PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE,
                             sizeof size, &size, nullptr) == PI_SUCCESS)
        return size;
    return get_info<uint64_t>(&piDeviceGetInfo, fixture.device(),
                              PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
}

uint32_t group_size(Fixture &fixture, pi_kernel kernel, uint32_t wanted) {
    const auto items =
        get_info<Size3>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES);
    return static_cast<uint32_t>(
        std::min({largest_group(fixture, kernel), items[0], uint64_t{wanted}}));
}

bool is_of_cuda(pi_program_format format) {
    return format == PI_PROGRAM_FORMAT_CUBIN || format == PI_PROGRAM_FORMAT_PTX ||
           format == PI_PROGRAM_FORMAT_CUDA_C;
}

uint64_t local_memory_size(Fixture &fixture) {
    return info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_LOCAL_MEMORY_SIZE,
                   uint64_t{0});
}

void need_local_memory(Fixture &fixture, uint64_t size) {
    const uint64_t most = local_memory_size(fixture);
    if (most < size)
        skip(join("the device reports ", most, " bytes of work-group memory, the test needs ",
                  size));
}

Bytes bytes_of(const std::vector<uint32_t> &values) {
    Bytes bytes(values.size() * sizeof(uint32_t));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

std::vector<uint32_t> words_of(const Bytes &bytes) {
    std::vector<uint32_t> values(bytes.size() / sizeof(uint32_t));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(uint32_t));
    return values;
}

} // namespace pi::suite
