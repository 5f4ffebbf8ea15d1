// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The devices and parts of piProgramBuild, Compile and Link. (Their entries: program.hpp.)
#pragma once

#include <pi/sdk/descriptor.hpp>

#include <algorithm>
#include <vector>

namespace pi::sdk {

/// The devices of a pi_program_build_desc or a pi_program_link_desc, in the context's order. All
/// devices of the context if the descriptor names none.
template <class Device, class Context, class Desc>
std::vector<Device *> read_devices(const Context &context, const Desc &desc) {
    std::vector<const Device *> named;
    read_handles<Device>(context.host(), desc.device_count, desc.devices, "devices",
                         [&](Device &device, const ArgumentName &name) {
                             named.push_back(&context.checked_device(device.handle(), name));
                         });
    std::vector<Device *> devices = context.devices();
    if (!named.empty())
        std::erase_if(devices, [&](const Device *own) {
            return std::find(named.begin(), named.end(), own) == named.end();
        });
    return devices;
}

/// Reads the programs to link, which must be of the context and compiled for all of the devices.
/// Program has
///     is_compiled_for(const Device &)
template <class Program, class Context, class Device>
std::vector<Program *> read_parts(const Context &context, const pi_program_link_desc &desc,
                                  const std::vector<Device *> &devices) {
    enforce<checks::check_link>(desc);
    return read_handles<Program>(
        context.host(), desc.program_count, desc.programs, "desc->programs",
        [&](Program &part, const ArgumentName &name) {
            if (&part.context() != &context)
                fail(PI_ERROR_INVALID_PROGRAM, name, " is of another context");
            for (const Device *device : devices)
                if (!part.is_compiled_for(*device))
                    fail(PI_ERROR_INVALID_OPERATION, name, " is not compiled for ", device->name(),
                         "; call piProgramCompile before");
        });
}

} // namespace pi::sdk
