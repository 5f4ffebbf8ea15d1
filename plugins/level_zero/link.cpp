// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linking of compiled programs. The driver builds one module from the parts' SPIR-V
// (ZE_experimental_module_program), so the result has a binary; zeModuleDynamicLink would leave as
// many modules as there are parts.
#include "program.hpp"

#include <pi/sdk/program_link.hpp>

#include <algorithm>
#include <deque>

namespace pi::level_zero {

using namespace sdk;

namespace {

/// The parts as the driver expects them: each with its own constants, and with its own options and
/// the link's.
class Inputs {
public:
    Inputs(const std::vector<Program *> &parts, const std::string &options) {
        for (const Program *part : parts) {
            sizes_.push_back(part->source().size());
            sources_.push_back(reinterpret_cast<const uint8_t *>(part->source().data()));
            options_.push_back(part->options() + ' ' + options);
            constants_.emplace_back(part->compiled_constants());
        }
        for (const std::string &words : options_)
            flags_.push_back(words.c_str());
        for (const DriverConstants &one : constants_)
            values_.push_back(one.get());
        program_.count = static_cast<uint32_t>(parts.size());
        program_.inputSizes = sizes_.data();
        program_.pInputModules = sources_.data();
        program_.pBuildFlags = flags_.data();
        program_.pConstants = values_.data();
    }
    Inputs(const Inputs &) = delete;

    /// Valid as long as this lives. The descriptor's own input is ignored, but the loader's
    /// validation layers check it.
    ze_module_desc_t desc() const {
        auto desc = typed<ze_module_desc_t>(ZE_STRUCTURE_TYPE_MODULE_DESC);
        desc.pNext = &program_;
        desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
        desc.inputSize = sizes_.front();
        desc.pInputModule = sources_.front();
        return desc;
    }

private:
    std::vector<size_t> sizes_;
    std::vector<const uint8_t *> sources_;
    std::vector<std::string> options_;
    std::vector<const char *> flags_;
    std::deque<DriverConstants> constants_;
    std::vector<const ze_module_constants_t *> values_;
    ze_module_program_exp_desc_t program_ =
        typed<ze_module_program_exp_desc_t>(ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC);
};

} // namespace

void require_linker(const Context &context) {
    const std::vector<Device *> &devices = context.devices();
    if (std::none_of(devices.begin(), devices.end(),
                     [](const Device *device) { return device->links_parts(); }))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "no device of the context links SPIR-V (",
             ZE_MODULE_PROGRAM_EXP_NAME, "): link the parts with spirv-link, and build the result");
}

Ref<Program> link_programs(Context &context, const pi_program_link_desc &desc) {
    require_linker(context);
    const std::vector<Device *> devices = read_devices<Device>(context, desc);
    const std::vector<Program *> parts = read_parts<Program>(context, desc, devices);
    const std::string options = desc.options ? desc.options : "";
    const Inputs inputs(parts, options);
    std::vector<Program::Build> builds;
    for (Device *device : devices) {
        Program::Build build{device, {}, {}, PI_PROGRAM_BUILT};
        build.module = make_module(context.place(*device), inputs.desc(), build.log);
        builds.push_back(std::move(build));
    }
    return make<Program>(context, std::move(builds), options);
}

} // namespace pi::level_zero
