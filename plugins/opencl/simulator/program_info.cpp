// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries of SPIR-V programs. Once a program is built, the driver below answers most of them.
#include "layer.hpp"

#include <algorithm>

namespace simulated {

namespace {

const cl_icd_dispatch &below() {
    return *layer().below;
}

/// The positions of the program's devices in the driver's program.
std::vector<size_t> positions(const Program &program) {
    std::vector<size_t> all;
    for (cl_device_id device : program.devices)
        all.push_back(
            static_cast<size_t>(std::find(program.targets.begin(), program.targets.end(), device) -
                                program.targets.begin()));
    return all;
}

std::vector<size_t> binary_sizes(const Program &program) {
    std::vector<size_t> known, all;
    if (program.vendor)
        known = ask_list<size_t>(below().clGetProgramInfo, program.vendor, CL_PROGRAM_BINARY_SIZES);
    for (const size_t at : positions(program))
        all.push_back(at < known.size() ? known[at] : 0);
    return all;
}

cl_int get_binaries(const Program &program, size_t size, void *value, size_t *out_size) {
    std::vector<unsigned char *> targets(program.devices.size());
    const size_t needed = targets.size() * sizeof(targets[0]);
    if (value && size < needed)
        return CL_INVALID_VALUE;
    if (out_size)
        *out_size = needed;
    if (!value || !program.vendor)
        return CL_SUCCESS;
    std::memcpy(targets.data(), value, needed);
    std::vector<unsigned char *> vendor(program.targets.size());
    const std::vector<size_t> places = positions(program);
    for (size_t i = 0; i < targets.size(); ++i)
        if (places[i] < vendor.size())
            vendor[places[i]] = targets[i];
    return below().clGetProgramInfo(program.vendor, CL_PROGRAM_BINARIES,
                                    vendor.size() * sizeof(vendor[0]), vendor.data(), nullptr);
}

cl_int CL_API_CALL get_program_info(cl_program handle, cl_program_info name, size_t size,
                                    void *value, size_t *out_size) {
    const auto program = layer().find(handle);
    if (!program) {
        const cl_int code = below().clGetProgramInfo(handle, name, size, value, out_size);
        // PoCL does not know this query for programs without IL.
        return name == CL_PROGRAM_IL && code == CL_INVALID_VALUE
                   ? answer_bytes(nullptr, 0, size, value, out_size)
                   : code;
    }
    const std::lock_guard lock(program->mutex);
    switch (name) {
    case CL_PROGRAM_REFERENCE_COUNT:
        return answer(program->references, size, value, out_size);
    case CL_PROGRAM_CONTEXT:
        return answer(program->context, size, value, out_size);
    case CL_PROGRAM_NUM_DEVICES:
        return answer(static_cast<cl_uint>(program->devices.size()), size, value, out_size);
    case CL_PROGRAM_DEVICES:
        return answer(program->devices, size, value, out_size);
    case CL_PROGRAM_SOURCE:
        return answer(std::string(), size, value, out_size);
    case CL_PROGRAM_IL:
        return answer(program->il, size, value, out_size);
    case CL_PROGRAM_BINARY_SIZES:
        return answer(binary_sizes(*program), size, value, out_size);
    case CL_PROGRAM_BINARIES:
        return get_binaries(*program, size, value, out_size);
    default:
        return program->attempt == CL_BUILD_SUCCESS && program->vendor
                   ? below().clGetProgramInfo(program->vendor, name, size, value, out_size)
                   : CL_INVALID_PROGRAM_EXECUTABLE;
    }
}

cl_int CL_API_CALL get_build_info(cl_program handle, cl_device_id device,
                                  cl_program_build_info name, size_t size, void *value,
                                  size_t *out_size) {
    const auto program = layer().find(handle);
    if (!program)
        return below().clGetProgramBuildInfo(handle, device, name, size, value, out_size);
    const std::lock_guard lock(program->mutex);
    if (std::find(program->devices.begin(), program->devices.end(), root_of(device)) ==
        program->devices.end())
        return CL_INVALID_DEVICE;
    const cl_build_status status = program->status(device);
    switch (name) {
    case CL_PROGRAM_BUILD_STATUS:
        return answer(status, size, value, out_size);
    case CL_PROGRAM_BUILD_OPTIONS:
        return answer(status == CL_BUILD_NONE ? std::string() : program->options, size, value,
                      out_size);
    case CL_PROGRAM_BUILD_LOG:
        return answer(status == CL_BUILD_NONE ? std::string() : program->log, size, value,
                      out_size);
    case CL_PROGRAM_BINARY_TYPE:
        return answer(status == CL_BUILD_SUCCESS
                          ? program->type
                          : cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_NONE},
                      size, value, out_size);
    case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
        return answer(size_t{0}, size, value, out_size);
    default:
        return CL_INVALID_VALUE;
    }
}

} // namespace

void add_program_info_functions(cl_icd_dispatch &table) {
    table.clGetProgramInfo = get_program_info;
    table.clGetProgramBuildInfo = get_build_info;
}

} // namespace simulated
