// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that are linked of compiled ones.
#include "entries.hpp"
#include "program.hpp"

#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/program_link.hpp>
#include <pi/sdk/trampoline.hpp>

#include <algorithm>

namespace pi::cuda {

using namespace sdk;

namespace {

Ref<Program> link(Context &context, const pi_program_link_desc &desc) {
    const std::vector<Device *> devices = read_devices<Device>(context, desc);
    const std::vector<Program *> parts = read_parts<Program>(context, desc, devices);
    const std::string words = desc.options ? desc.options : "";
    const BuildOptions options(words);
    options.require_known();
    std::vector<Program::Build> builds;
    for (Device *device : context.devices()) {
        if (std::find(devices.begin(), devices.end(), device) == devices.end())
            continue;
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

} // namespace

namespace entries {

pi_result PI_CALL piProgramLink(pi_context context, const pi_program_link_desc *desc,
                                pi_program *out_program) {
    return call<Context>(context, [&](Context &self) {
        if (CallbackScope::active())
            fail(PI_ERROR_WOULD_BLOCK, "linking programs inside a callback");
        const auto known = read_desc(desc, PI_TYPE_PROGRAM_LINK_DESC);
        require(out_program, "out_program");
        check_flags(known.flags, 0, "flags");
        *out_program = link(self, known).give();
    });
}

} // namespace entries
} // namespace pi::cuda
