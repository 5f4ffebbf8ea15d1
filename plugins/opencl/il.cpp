// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "il.hpp"
#include "entries.hpp"
#include "program.hpp"

#include <pi/sdk/binary.hpp>
#include <pi/sdk/descriptor.hpp>

namespace pi::opencl {

using namespace sdk;

namespace {

/// A function of an extension that the device supports, or NULL.
template <class Function>
Function extension_function(const Device &device, const char *extension, const char *name) {
    return device.has_extension(extension) ? device.platform().extension_function<Function>(name)
                                           : nullptr;
}

/// CL_DEVICE_IL_VERSION is a list: "SPIR-V_1.0 SPIR-V_1.2".
bool accepts_spirv(const Device &device) {
    return device.get_text(CL_DEVICE_IL_VERSION).find("SPIR-V_") != std::string::npos;
}

void find_programs(const Device &device, unsigned version, Il &il) {
    const Api &api = device.api();
    if (version >= 201 && api.clCreateProgramWithIL && accepts_spirv(device))
        il.create_program = api.clCreateProgramWithIL;
    else if (device.has_extension("cl_khr_il_program") && accepts_spirv(device))
        il.create_program = extension_function<decltype(il.create_program)>(
            device, "cl_khr_il_program", "clCreateProgramWithILKHR");
    il.specialization =
        il.create_program && version >= 202 && api.clSetProgramSpecializationConstant;
}

void find_sub_groups(const Device &device, unsigned version, Il &il) {
    const Api &api = device.api();
    il.core_sub_groups = version >= 201 && api.clGetKernelSubGroupInfo &&
                         device.get<cl_uint>(CL_DEVICE_MAX_NUM_SUB_GROUPS);
    il.get_sub_group_info = il.core_sub_groups
                                ? api.clGetKernelSubGroupInfo
                                : extension_function<decltype(il.get_sub_group_info)>(
                                      device, "cl_khr_subgroups", "clGetKernelSubGroupInfoKHR");
}

void set_vendor_constant(const Api &api, cl_program program, uint32_t id,
                         const std::string &value) {
    check(api.clSetProgramSpecializationConstant(program, id, value.size(), value.data()),
          "clSetProgramSpecializationConstant", "id ", id, ", ", value.size(), " bytes");
}

} // namespace

Il find_il(const Device &device) {
    Il il;
    find_programs(device, device.version(), il);
    find_sub_groups(device, device.version(), il);
    return il;
}

namespace {

/// Creates the program through a device that supports SPIR-V.
ProgramOwner create_vendor_il(const Context &context, const Device &device, const void *data,
                              uint64_t size) {
    cl_int code = CL_SUCCESS;
    ProgramOwner vendor(context.api(), device.il().create_program(context.id(), data, size, &code));
    if (code == CL_INVALID_VALUE)
        throw Error(PI_ERROR_INVALID_BINARY,
                    text(error_text("clCreateProgramWithIL", code), ": ", size,
                         " bytes that the driver does not accept as SPIR-V"));
    check(code, "clCreateProgramWithIL");
    return vendor;
}

} // namespace

Ref<Program> create_from_il(Context &context, const pi_program_desc &desc) {
    std::vector<Device *> takers;
    for (Device *device : context.devices())
        if (device->il().create_program)
            takers.push_back(device);
    if (takers.empty())
        fail(PI_ERROR_UNSUPPORTED_FEATURE, context.devices().front()->name(),
             " does not accept SPIR-V (CL_DEVICE_IL_VERSION), nor does another device of the "
             "context");
    SpirvModule module(desc.data, desc.size);
    ProgramOwner vendor = create_vendor_il(context, *takers.front(), desc.data, desc.size);
    auto program = make<Program>(context, desc.format, std::move(vendor), std::move(takers));
    program->set_module(std::move(module));
    return program;
}

ProgramOwner Program::create_il_again() const {
    const auto words =
        query_list<unsigned char>(api().clGetProgramInfo, "clGetProgramInfo", id(), CL_PROGRAM_IL);
    ProgramOwner vendor =
        create_vendor_il(*context_, *candidates_.front(), words.data(), words.size());
    for (const auto &[id, value] : constants_)
        set_vendor_constant(api(), vendor.get(), id, value);
    return vendor;
}

std::optional<SpirvModule> find_module(const Context &context, cl_program vendor) {
    for (const Device *device : context.devices()) {
        if (!device->il().create_program)
            continue;
        const auto words = query_list<unsigned char>(context.api().clGetProgramInfo,
                                                     "clGetProgramInfo", vendor, CL_PROGRAM_IL);
        return words.empty() ? std::nullopt
                             : std::optional(SpirvModule(words.data(), words.size()));
    }
    return std::nullopt;
}

void Program::specialize(uint32_t count, const pi_specialization_constant *constants) {
    for (const Device *device : candidates_)
        if (!device->il().specialization)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, device->name(),
                 " has no specialization constants: they need SPIR-V and OpenCL 2.2");
    if (format_ != PI_PROGRAM_FORMAT_SPIRV)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "program is of format ", format_,
             "; only SPIR-V has specialization constants");
    if (!module_)
        fail(PI_ERROR_INVALID_OPERATION,
             "program was linked: its specialization constants can no longer be set");
    for (const pi_specialization_constant &one : module_->check(count, constants)) {
        std::string value(static_cast<const char *>(one.value), one.size);
        set_vendor_constant(api(), id(), one.id, value);
        constants_[one.id] = std::move(value);
    }
}

namespace entries {

pi_result PI_CALL piProgramSetSpecializationConstants(pi_program program, uint32_t count,
                                                      const pi_specialization_constant *constants) {
    return call<Program>(program, [&](Program &self) { self.specialize(count, constants); });
}

pi_result PI_CALL piDeviceSelectBinary(pi_device device, uint32_t count,
                                       const pi_program_binary *binaries, uint32_t *out_index) {
    return call<Device>(device, [&](Device &self) {
        require(out_index, "out_index");
        // First what needs no compiler for a language.
        std::vector<BinaryTarget> accepted;
        if (self.il().create_program && self.get<cl_uint>(CL_DEVICE_ADDRESS_BITS) == 64)
            accepted.push_back({"spirv64", PI_PROGRAM_FORMAT_SPIRV});
        if (self.has_compiler())
            accepted.push_back({"opencl_c", PI_PROGRAM_FORMAT_OPENCL_C});
        *out_index = select_binary(accepted, count, binaries);
    });
}

} // namespace entries
} // namespace pi::opencl
