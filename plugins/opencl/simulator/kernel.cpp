// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of SPIR-V programs are the driver's own; the layer records which program they belong to.
// It also answers sub-group queries of all kernels.
#include "layer.hpp"

#include <algorithm>
#include <optional>

namespace simulated {

namespace {

const cl_icd_dispatch &below() {
    return *layer().below;
}

constexpr cl_kernel_sub_group_info compile_size_intel =
    0x410A; // CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL

void adopt(cl_kernel kernel, const std::shared_ptr<Program> &program) {
    const std::lock_guard lock(layer().mutex);
    layer().kernels[kernel] = {program, 1};
}

cl_kernel CL_API_CALL create_kernel(cl_program handle, const char *name, cl_int *out_code) {
    const auto program = layer().find(handle);
    if (!program)
        return below().clCreateKernel(handle, name, out_code);
    const std::lock_guard lock(program->mutex);
    if (!program->vendor || program->attempt != CL_BUILD_SUCCESS) {
        set_code(out_code, CL_INVALID_PROGRAM_EXECUTABLE);
        return nullptr;
    }
    cl_kernel kernel = below().clCreateKernel(program->vendor, name, out_code);
    if (kernel)
        adopt(kernel, program);
    return kernel;
}

cl_int CL_API_CALL create_kernels(cl_program handle, cl_uint capacity, cl_kernel *kernels,
                                  cl_uint *out_count) {
    const auto program = layer().find(handle);
    if (!program)
        return below().clCreateKernelsInProgram(handle, capacity, kernels, out_count);
    const std::lock_guard lock(program->mutex);
    if (!program->vendor || program->attempt != CL_BUILD_SUCCESS)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    cl_uint count = 0;
    const cl_int code =
        below().clCreateKernelsInProgram(program->vendor, capacity, kernels, &count);
    for (cl_uint i = 0; code == CL_SUCCESS && kernels && i < count; ++i)
        adopt(kernels[i], program);
    if (code == CL_SUCCESS && out_count)
        *out_count = count;
    return code;
}

cl_kernel CL_API_CALL clone_kernel(cl_kernel kernel, cl_int *out_code) {
    std::shared_ptr<Program> program;
    {
        const std::lock_guard lock(layer().mutex);
        if (const auto found = layer().kernels.find(kernel); found != layer().kernels.end())
            program = found->second.program;
    }
    cl_kernel clone = below().clCloneKernel(kernel, out_code);
    if (clone && program)
        adopt(clone, program);
    return clone;
}

cl_int CL_API_CALL retain_kernel(cl_kernel kernel) {
    const cl_int code = below().clRetainKernel(kernel);
    const std::lock_guard lock(layer().mutex);
    if (const auto found = layer().kernels.find(kernel);
        code == CL_SUCCESS && found != layer().kernels.end())
        ++found->second.references;
    return code;
}

cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
    std::shared_ptr<Program> last;
    {
        // Before the driver releases it: afterwards the address may be another kernel's.
        const std::lock_guard lock(layer().mutex);
        if (const auto found = layer().kernels.find(kernel);
            found != layer().kernels.end() && !--found->second.references) {
            last = std::move(found->second.program);
            layer().kernels.erase(found);
        }
    }
    return below().clReleaseKernel(kernel);
}

std::shared_ptr<Program> program_of(cl_kernel kernel) {
    const std::lock_guard lock(layer().mutex);
    const auto found = layer().kernels.find(kernel);
    return found == layer().kernels.end() ? nullptr : found->second.program;
}

cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info name, size_t size, void *value,
                                   size_t *out_size) {
    if (name == CL_KERNEL_PROGRAM)
        if (const auto program = program_of(kernel))
            return answer(program->handle(), size, value, out_size);
    return below().clGetKernelInfo(kernel, name, size, value, out_size);
}

/// The size of a work-group of up to three dimensions; nullopt if the kernel cannot have it.
std::optional<size_t> group_size(size_t most, size_t input_size, const void *input) {
    if (!input || !input_size || input_size % sizeof(size_t) || input_size > 3 * sizeof(size_t))
        return std::nullopt;
    size_t sizes[3] = {1, 1, 1};
    std::memcpy(sizes, input, input_size);
    const size_t all = sizes[0] * sizes[1] * sizes[2];
    return all && all <= most ? std::optional(all) : std::nullopt;
}

struct SubGroups {
    size_t most = 0, required = 0, size = sub_group_size;
};

SubGroups sub_groups_of(cl_kernel kernel, cl_device_id device) {
    SubGroups found;
    below().clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof found.most,
                                     &found.most, nullptr);
    if (const auto program = program_of(kernel)) {
        const std::lock_guard lock(program->mutex);
        found.required = program->built.required_sub_group_size(
            ask_text(below().clGetKernelInfo, kernel, CL_KERNEL_FUNCTION_NAME));
    }
    if (found.required)
        found.size = found.required;
    return found;
}

/// The queries of cl_khr_subgroups and cl_intel_required_subgroup_size.
cl_int extension_info(const SubGroups &groups, cl_kernel_sub_group_info name, size_t input_size,
                      const void *input, size_t size, void *value, size_t *out_size) {
    if (name == compile_size_intel)
        return answer(groups.required, size, value, out_size);
    if (name != CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE &&
        name != CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE)
        return CL_INVALID_VALUE;
    const auto group = group_size(groups.most, input_size, input);
    if (!group)
        return CL_INVALID_VALUE;
    return name == CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE
               ? answer(std::min(groups.size, *group), size, value, out_size)
               : answer((*group + groups.size - 1) / groups.size, size, value, out_size);
}

cl_int CL_API_CALL get_sub_group_info(cl_kernel kernel, cl_device_id device,
                                      cl_kernel_sub_group_info name, size_t input_size,
                                      const void *input, size_t size, void *value,
                                      size_t *out_size) {
    if (!is_changed(device))
        return below().clGetKernelSubGroupInfo(kernel, device, name, input_size, input, size, value,
                                               out_size);
    if (layer().mode == Mode::KHR || !takes_il(device))
        return CL_INVALID_OPERATION;
    if (layer().mode == Mode::POCL7 && name == compile_size_intel)
        return CL_INVALID_VALUE;
    const SubGroups groups = sub_groups_of(kernel, device);
    switch (name) {
    case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT: {
        if (!input || input_size != sizeof(size_t) || size % sizeof(size_t))
            return CL_INVALID_VALUE;
        const size_t count = *static_cast<const size_t *>(input);
        std::vector<size_t> local(size / sizeof(size_t), 1);
        if (!local.empty())
            local[0] = count * groups.size;
        if (!count || count > groups.most / groups.size)
            local.assign(local.size(), 0);
        return answer(local, size, value, out_size);
    }
    case CL_KERNEL_MAX_NUM_SUB_GROUPS:
        return answer((groups.most + groups.size - 1) / groups.size, size, value, out_size);
    case CL_KERNEL_COMPILE_NUM_SUB_GROUPS:
        return answer(size_t{0}, size, value, out_size);
    default:
        return extension_info(groups, name, input_size, input, size, value, out_size);
    }
}

} // namespace

cl_int CL_API_CALL get_sub_group_info_khr(cl_kernel kernel, cl_device_id device,
                                          cl_kernel_sub_group_info name, size_t input_size,
                                          const void *input, size_t size, void *value,
                                          size_t *out_size) {
    if (!takes_il(device))
        return CL_INVALID_OPERATION;
    return extension_info(sub_groups_of(kernel, device), name, input_size, input, size, value,
                          out_size);
}

void add_kernel_functions(cl_icd_dispatch &table) {
    table.clCreateKernel = create_kernel;
    table.clCreateKernelsInProgram = create_kernels;
    table.clCloneKernel = clone_kernel;
    table.clRetainKernel = retain_kernel;
    table.clReleaseKernel = release_kernel;
    table.clGetKernelInfo = get_kernel_info;
    table.clGetKernelSubGroupInfo = get_sub_group_info;
}

} // namespace simulated
