// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"
#include "entries.hpp"
#include "nvrtc.hpp"

#include <pi/sdk/program.hpp>
#include <pi/sdk/program_link.hpp>

#include <algorithm>

namespace pi::cuda {

using namespace sdk;

Module::~Module() {
    if (own_ && !*own_)
        return;
    primary_->instance().reap([primary = primary_, id = id_] {
        try {
            const Current current(*primary);
            primary->note(primary->api().cuModuleUnload(id));
        } catch (...) {
            // The context is lost, and so is the module.
        }
    });
}

void load_module(Context &context, Program::Build &build, const BuildOptions &words) {
    Primary &primary = context.primary(*build.device);
    primary.require_alive();
    JitOptions options(words);
    const Current current(primary);
    CUmodule id = nullptr;
    const CUresult code = primary.api().cuModuleLoadDataEx(
        &id, build.image.c_str(), options.count(), options.names(), options.values());
    build.log += options.log();
    check_built(primary, code, "cuModuleLoadDataEx", options.log());
    try {
        build.module = std::make_shared<Module>(primary, id);
    } catch (...) {
        primary.note(primary.api().cuModuleUnload(id));
        throw;
    }
}

void Program::require_source() const {
    if (source_.empty())
        fail(PI_ERROR_INVALID_OPERATION,
             "program was linked or created from a CUmodule: it is built already");
}

template <class Step>
void Program::for_devices(const pi_program_build_desc &desc, uint32_t aim, const Step &step) {
    require_source();
    const std::vector<Device *> devices = read_devices<Device>(*context_, desc);
    options_ = desc.options ? desc.options : "";
    builds_.clear();
    for (Device *device : devices)
        builds_.push_back({device, {}, {}, PI_PROGRAM_FAILED, {}});
    Build *failing = &builds_.front();
    const auto give_up = [&](const std::string &log) {
        if (failing->log.find(log) == std::string::npos) // after the compiler's warnings
            failing->log += (failing->log.empty() ? "" : "\n") + log;
        for (Build &one : builds_)
            one.module.reset();
    };
    try {
        const BuildOptions options(options_);
        for (Build &one : builds_) {
            failing = &one;
            step(one, options);
        }
    } catch (const BuildError &error) {
        give_up(error.log);
        throw;
    } catch (const Error &error) {
        give_up(error.text());
        throw;
    }
    // Only now: the step must have succeeded on all devices.
    for (Build &one : builds_)
        one.status = aim;
}

void Program::translate(Build &build, const BuildOptions &options, bool part) {
    if (format_ != PI_PROGRAM_FORMAT_CUDA_C) {
        options.require_known();
        build.image = source_;
        return;
    }
    const int capability = build.device->compute_capability();
    for (const Build &done : builds_)
        if (&done != &build && !done.image.empty() &&
            done.device->compute_capability() == capability) {
            build.image = done.image;
            build.log = done.log;
            return;
        }
    build.image =
        context_->instance().nvrtc().compile(source_, options, capability, part, build.log);
}

void Program::build(const pi_program_build_desc &desc) {
    for_devices(desc, PI_PROGRAM_BUILT, [&](Build &build, const BuildOptions &options) {
        translate(build, options, false);
        load_module(*context_, build, options);
    });
}

void Program::compile(const pi_program_build_desc &desc) {
    require_source();
    if (format_ != PI_PROGRAM_FORMAT_PTX && format_ != PI_PROGRAM_FORMAT_CUDA_C)
        fail(PI_ERROR_INVALID_OPERATION, "program is a binary, which cannot be compiled");
    for_devices(desc, PI_PROGRAM_COMPILED, [&](Build &build, const BuildOptions &options) {
        translate(build, options, true);
        Primary &primary = context_->primary(*build.device);
        primary.require_alive();
        // The linker is used as a check that the PTX compiles; linking starts over when all parts
        // are there. NVRTC's output needs no check.
        if (format_ == PI_PROGRAM_FORMAT_PTX)
            Linker(primary, options).add(CU_JIT_INPUT_PTX, build.image, "program");
    });
}

bool Program::is_compiled_for(const Device &device) const {
    return status(device) == PI_PROGRAM_COMPILED;
}

std::vector<Device *> Program::devices() const {
    std::vector<Device *> devices;
    for (const Build &build : builds_)
        if (build.status == PI_PROGRAM_BUILT)
            devices.push_back(build.device);
    return devices;
}

void Program::require_built() const {
    if (devices().empty())
        fail(PI_ERROR_INVALID_OPERATION,
             !builds_.empty() && builds_.front().status == PI_PROGRAM_COMPILED
                 ? "program is only compiled; call piProgramLink"
                 : "program is not built; call piProgramBuild first");
}

const Program::Build &Program::build_of(const Device &device) const {
    static const Build &none = *new Build; // leaked: exit handlers may call this
    const auto found = std::find_if(builds_.begin(), builds_.end(),
                                    [&](const Build &build) { return build.device == &device; });
    return found == builds_.end() ? none : *found;
}

const std::shared_ptr<Module> &Program::module(const Device &device) const {
    return build_of(device).module;
}
uint32_t Program::status(const Device &device) const {
    return build_of(device).status;
}
const std::string &Program::log(const Device &device) const {
    return build_of(device).log;
}

std::string Program::kernel_names() const {
    require_built();
    const Module &module = *this->module(*devices().front());
    Primary &primary = module.primary();
    const Api &cu = primary.api();
    if (!cu.cuModuleGetFunctionCount || !cu.cuModuleEnumerateFunctions || !cu.cuFuncGetName)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the driver, of CUDA ", version_text(cu.version()),
             ", does not report a module's kernels; CUDA 12.4 and newer do");
    const Current current(primary);
    unsigned count = 0;
    primary.check(cu.cuModuleGetFunctionCount(&count, module.id()), "cuModuleGetFunctionCount");
    std::vector<CUfunction> kernels(count);
    primary.check(cu.cuModuleEnumerateFunctions(kernels.data(), count, module.id()),
                  "cuModuleEnumerateFunctions");
    std::string names;
    for (const CUfunction function : kernels) {
        const char *name = nullptr;
        primary.check(cu.cuFuncGetName(&name, function), "cuFuncGetName");
        names += text(names.empty() ? "" : ";", name);
    }
    return names;
}

std::vector<uint64_t> Program::binary_sizes() const {
    require_built();
    std::vector<uint64_t> sizes;
    for (const Build &build : builds_)
        sizes.push_back(build.image.size());
    return sizes;
}

void Program::copy_binaries(uint8_t **targets) const {
    for (const Build &build : builds_)
        if (uint8_t *target = *targets++)
            std::copy(build.image.begin(), build.image.end(), target);
}

namespace entries {

pi_result PI_CALL piProgramCreate(pi_context context, const pi_program_desc *desc,
                                  pi_program *out_program) {
    return call<Context>(context, [&](Context &self) {
        const auto known = read_program_desc(desc, out_program);
        if (known.format == PI_PROGRAM_FORMAT_CUDA_C)
            self.instance().nvrtc(); // throws if there is no compiler
        else if (known.format != PI_PROGRAM_FORMAT_PTX && known.format != PI_PROGRAM_FORMAT_CUBIN &&
                 known.format != PI_PROGRAM_FORMAT_DEVICE_BINARY)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "format is ", known.format,
                 "; PI_PROGRAM_FORMAT_CUDA_C, _PTX, _CUBIN and _DEVICE_BINARY are supported");
        *out_program = make<Program>(self, known.format,
                                     std::string(static_cast<const char *>(known.data), known.size))
                           .give();
    });
}

} // namespace entries
} // namespace pi::cuda
