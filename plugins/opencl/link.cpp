// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linking of compiled programs.
#include "program.hpp"

#include <pi/sdk/build_log.hpp>
#include <pi/sdk/program_link.hpp>

namespace pi::opencl {

using namespace sdk;

namespace {

/// Throws with the logs of a failed link; some drivers return a program that has them.
[[noreturn]] void refuse(const Context &context, cl_program vendor, cl_int code,
                         const std::vector<Device *> &devices) {
    std::string words = error_text("clLinkProgram", code), logs;
    for (const Device *device : devices)
        if (vendor)
            logs += build_log_excerpt(query_text(context.api().clGetProgramBuildInfo,
                                                 "clGetProgramBuildInfo", vendor, device->id(),
                                                 CL_PROGRAM_BUILD_LOG));
    throw Error(PI_ERROR_BUILD_FAILED,
                words + ":\n" + (logs.empty() ? "the driver returned no log" : logs));
}

} // namespace

Ref<Program> link_programs(Context &context, const pi_program_link_desc &desc) {
    const Api &api = context.api();
    const std::vector<Device *> devices = read_devices<Device>(context, desc);
    const std::vector<Program *> parts = read_parts<Program>(context, desc, devices);
    const std::vector<Device *> targets = link_devices(devices, context.devices());
    const std::vector<cl_device_id> ids = ids_of(targets);
    std::vector<cl_program> programs;
    programs.reserve(parts.size());
    for (const Program *part : parts) {
        programs.push_back(part->id());
        if (part->compiled_elsewhere() && targets.size() > 1 &&
            targets.front()->quirk(QUIRK_LINKS_FOR_ALL))
            fail(PI_ERROR_UNSUPPORTED_FEATURE,
                 "a cl_program compiled by the application may be for other devices than the "
                 "context's, or in another order: linking it could abort the process");
    }
    const std::string options = desc.options ? desc.options : "";
    ProgramOwner vendor;
    const cl_int code = build_by(*targets.front(), [&] {
        cl_int answer = CL_SUCCESS;
        vendor = {api, api.clLinkProgram(context.id(), static_cast<cl_uint>(ids.size()), ids.data(),
                                         options.c_str(), static_cast<cl_uint>(programs.size()),
                                         programs.data(), nullptr, nullptr, &answer)};
        return answer;
    });
    if (code == CL_LINK_PROGRAM_FAILURE)
        refuse(context, vendor.get(), code, targets);
    check(code, "clLinkProgram", "options '", options, "'");
    auto program =
        make<Program>(context, parts.front()->format(), std::move(vendor), context.devices());
    program->read_link(devices, options);
    return program;
}

} // namespace pi::opencl
