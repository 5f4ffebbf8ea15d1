// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/describe/descriptor.hpp>
#include <pi/runtime/facade.hpp>

#include <algorithm>
#include <cstring>

namespace pi::runtime::facade {
namespace {

/// Those of the devices that belong to the part.
std::vector<pi_device> devices_in(const Part &part, std::span<const pi_device> devices) {
    std::vector<pi_device> in_part;
    std::copy_if(devices.begin(), devices.end(), std::back_inserter(in_part),
                 [&part](pi_device device) { return part.has(device); });
    return in_part;
}

/// The part of the first of the devices, whose error is more useful than that of a part which was
/// not named; 0 for an empty list.
std::size_t first_part(const Context &context, std::span<const pi_device> devices) {
    return devices.empty() ? 0 : context.part_index(devices.front());
}

runtime::Program program_of(const Part &part, const pi_program_desc &desc) {
    runtime::Program program;
    check(piProgramCreate(part.context.get(), &desc, program.out()), "piProgramCreate");
    return program;
}

bool same_binary(const pi_program_desc &a, const pi_program_desc &b) {
    return a.size == b.size && (a.data == b.data || std::memcmp(a.data, b.data, a.size) == 0);
}

[[noreturn]] void no_program() {
    throw Error(PI_ERROR_INVALID_PROGRAM, "the program is not for this device");
}

} // namespace

std::shared_ptr<Program> Program::create(std::shared_ptr<Context> context,
                                         const pi_program_desc &desc) {
    const auto parts = context->parts();
    std::shared_ptr<Program> program(new Program(std::move(context), parts.size()));
    program->parts_.make_each([&](std::size_t part) { return program_of(parts[part], desc); });
    return program;
}

std::shared_ptr<Program> Program::create_from_binaries(std::shared_ptr<Context> context,
                                                       std::span<const pi_device> devices,
                                                       std::span<const pi_program_desc> binaries) {
    const auto parts = context->parts();
    std::shared_ptr<Program> program(new Program(std::move(context), parts.size()));
    const std::size_t reporting = first_part(program->context(), devices);
    program->parts_.make_each(reporting, [&](std::size_t part) {
        const pi_program_desc *desc = nullptr;
        for (std::size_t i = 0; i < devices.size(); ++i) {
            if (!parts[part].has(devices[i])) {
                continue;
            }
            if (desc != nullptr && !same_binary(*desc, binaries[i])) {
                throw Error(PI_ERROR_UNSUPPORTED_FEATURE,
                            "devices of one platform have different binaries");
            }
            desc = &binaries[i];
        }
        if (desc == nullptr) {
            no_program();
        }
        return program_of(parts[part], *desc);
    });
    return program;
}

std::shared_ptr<Program> Program::adopt(std::shared_ptr<Context> context, std::size_t part,
                                        runtime::Program program) {
    const std::size_t count = context->parts().size();
    std::shared_ptr<Program> adopted(new Program(std::move(context), count));
    adopted->parts_.make_each([&](std::size_t index) -> runtime::Program {
        if (index != part) {
            no_program();
        }
        return std::move(program);
    });
    return adopted;
}

std::shared_ptr<Program> Program::link(std::shared_ptr<Context> context,
                                       std::span<const std::shared_ptr<Program>> programs,
                                       std::span<const pi_device> devices, const char *options) {
    const auto parts = context->parts();
    std::shared_ptr<Program> linked(new Program(std::move(context), parts.size()));
    const std::size_t reporting = first_part(linked->context(), devices);
    linked->parts_.make_each(reporting, [&](std::size_t part) -> runtime::Program {
        const std::vector<pi_device> in_part = devices_in(parts[part], devices);
        if (!devices.empty() && in_part.empty()) {
            no_program();
        }
        std::vector<pi_program> inputs;
        for (const std::shared_ptr<Program> &program : programs) {
            inputs.push_back(program->parts_.at(part).get());
        }
        auto desc = pi::desc<pi_program_link_desc>();
        desc.program_count = static_cast<uint32_t>(inputs.size());
        desc.programs = inputs.data();
        desc.device_count = static_cast<uint32_t>(in_part.size());
        desc.devices = in_part.data();
        desc.options = options;
        runtime::Program program;
        check(piProgramLink(parts[part].context.get(), &desc, program.out()), "piProgramLink");
        return program;
    });
    return linked;
}

void Program::build_each(const char *name, Build function, std::span<const pi_device> devices,
                         const char *options) {
    const auto parts = context_->parts();
    for (const pi_device device : devices) {
        context_->part_index(device); // throws for a device of another context
    }
    for (std::size_t part = 0; part < parts.size(); ++part) {
        const std::vector<pi_device> in_part = devices_in(parts[part], devices);
        const auto &entry = parts_.entries()[part];
        // A part without the program fails only if it is named.
        if (devices.empty() ? !entry.handle : in_part.empty()) {
            continue;
        }
        auto desc = pi::desc<pi_program_build_desc>();
        desc.device_count = static_cast<uint32_t>(in_part.size());
        desc.devices = in_part.data();
        desc.options = options;
        check(function(parts_.at(part).get(), &desc), name);
    }
}

void Program::build(std::span<const pi_device> devices, const char *options) {
    build_each("piProgramBuild", piProgramBuild, devices, options);
}

void Program::compile(std::span<const pi_device> devices, const char *options) {
    build_each("piProgramCompile", piProgramCompile, devices, options);
}

void Program::set_constants(std::span<const pi_specialization_constant> constants) {
    for (const auto &entry : parts_.entries()) {
        if (entry.handle) {
            check(piProgramSetSpecializationConstants(entry.handle.get(),
                                                      static_cast<uint32_t>(constants.size()),
                                                      constants.data()),
                  "piProgramSetSpecializationConstants");
        }
    }
}

pi_program Program::at(pi_device device) const {
    return parts_.at(context_->part_index(device)).get();
}

std::vector<pi_device> Program::built_devices() const {
    std::vector<pi_device> built;
    for (const pi_device device : context_->devices()) {
        const auto &entry = parts_.entries()[context_->part_index(device)];
        uint32_t status = PI_PROGRAM_NOT_BUILT;
        if (entry.handle &&
            piProgramGetBuildInfo(entry.handle.get(), device, PI_PROGRAM_BUILD_INFO_STATUS,
                                  sizeof status, &status, nullptr) == PI_SUCCESS &&
            status == PI_PROGRAM_BUILT) {
            built.push_back(device);
        }
    }
    return built;
}

std::shared_ptr<Kernel> Kernel::create(std::shared_ptr<Program> program, const char *name) {
    const std::size_t count = program->context().parts().size();
    std::shared_ptr<Kernel> kernel(new Kernel(program->shared_context(), program, count));
    const std::size_t reporting = first_part(program->context(), program->built_devices());
    kernel->parts_.make_each(reporting, [&](std::size_t part) {
        runtime::Kernel made;
        check(piKernelCreate(program->parts().at(part).get(), name, nullptr, made.out()),
              "piKernelCreate");
        return made;
    });
    return kernel;
}

std::shared_ptr<Kernel> Kernel::adopt(std::shared_ptr<Context> context,
                                      std::shared_ptr<Program> program, std::size_t part,
                                      runtime::Kernel kernel) {
    if (program == nullptr) {
        pi_program own = nullptr;
        check(piKernelGetInfo(kernel.get(), PI_KERNEL_INFO_PROGRAM, sizeof own, &own, nullptr),
              "piKernelGetInfo(PROGRAM)");
        program = Program::adopt(context, part, runtime::Program::share(own));
    }
    const std::size_t count = context->parts().size();
    std::shared_ptr<Kernel> adopted(new Kernel(std::move(context), std::move(program), count));
    adopted->parts_.make_each([&](std::size_t index) -> runtime::Kernel {
        if (index != part) {
            throw Error(PI_ERROR_INVALID_KERNEL, "the kernel is not for this device");
        }
        return std::move(kernel);
    });
    return adopted;
}

pi_kernel Kernel::at(pi_device device) const {
    return parts_.at(context_->part_index(device)).get();
}

pi_kernel Kernel::any() const {
    for (const auto &entry : parts_.entries()) {
        if (entry.handle) {
            return entry.handle.get();
        }
    }
    return parts_.at(0).get(); // throws
}

} // namespace pi::runtime::facade
