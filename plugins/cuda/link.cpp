// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linking of compiled programs.
#include "program.hpp"

#include <pi/sdk/program_link.hpp>

namespace pi::cuda {

using namespace sdk;

Ref<Program> link_programs(Context &context, const pi_program_link_desc &desc) {
    const std::vector<Device *> devices = read_devices<Device>(context, desc);
    const std::vector<Program *> parts = read_parts<Program>(context, desc, devices);
    const std::string words = desc.options ? desc.options : "";
    const BuildOptions options(words);
    options.require_known();
    std::vector<Program::Build> builds;
    for (Device *device : devices) {
        Primary &primary = context.primary(*device);
        primary.require_alive();
        Program::Build build{device, {}, {}, PI_PROGRAM_BUILT, {}};
        {
            Linker linker(primary, options);
            for (size_t i = 0; i < parts.size(); ++i)
                linker.add(CU_JIT_INPUT_PTX, parts[i]->image(*device), text("programs[", i, "]"));
            build.image = linker.complete();
        }
        load_module(context, build, options);
        builds.push_back(std::move(build));
    }
    return make<Program>(context, parts.front()->format(), std::move(builds), words);
}

} // namespace pi::cuda
