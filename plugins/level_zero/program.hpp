// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <pi/sdk/spirv.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pi::level_zero {

/// A module on a device.
class Module {
public:
    /// Takes over `id`; if there is `own`, only if that is true in the end.
    Module(Place &place, ze_module_handle_t id, std::shared_ptr<const bool> own = {})
        : context_(place.context().shared_from_this()), place_(place), id_(id),
          own_(std::move(own)) {}
    ~Module();
    Module(const Module &) = delete;
    ze_module_handle_t id() const { return id_; }
    Place &place() const { return place_; }

private:
    const std::shared_ptr<DriverContext> context_;
    Place &place_;
    const ze_module_handle_t id_;
    const std::shared_ptr<const bool> own_;
};

/// SPIR-V or a driver's binary, and the modules that it is on the devices it is built for.
class Program : public sdk::Object<Program, pi_program> {
public:
    /// Of one device of the context.
    struct Build {
        Device *device;
        std::shared_ptr<Module> module;
        std::string log;
        uint32_t status = PI_PROGRAM_NOT_BUILT;
    };

    Program(Context &context, pi_program_format format, std::string source);
    /// Around the application's module: built, for this device.
    Program(Context &context, Device &device, std::shared_ptr<Module> module);

    Context &context() const { return *context_; }
    pi_program_format format() const { return format_; }
    /// Gives specialization constants values from the next build on.
    void specialize(uint32_t count, const pi_specialization_constant *constants);
    /// Makes the modules; PI_ERROR_BUILD_FAILED with the begin of the log. Kernels keep the modules that they are of.
    void build(const pi_program_build_desc &desc);
    /// Those it is built for; empty unless it is.
    std::vector<Device *> devices() const;
    /// PI_ERROR_INVALID_OPERATION unless it is built.
    void require_built() const;
    /// NULL unless it is built for this one.
    const std::shared_ptr<Module> &module(const Device &device) const;
    /// PI_ERROR_INVALID_OPERATION instead.
    Module &built_module(const Device &device) const;
    std::string kernel_names() const;
    bool has_kernel(const Device &device, std::string_view name) const;
    uint32_t status(const Device &device) const;
    const std::string &log(const Device &device) const;
    const std::string &options() const { return options_; }
    std::vector<uint64_t> binary_sizes() const;
    void copy_binaries(uint8_t **targets) const;

private:
    const Build &build_of(const Device &device) const;
    void build_for(Build &build);

    const sdk::Ref<Context> context_;
    const pi_program_format format_;
    const std::string source_; ///< empty: it was never ours
    std::optional<sdk::SpirvModule> spirv_;
    std::map<uint32_t, std::string>
        constants_; ///< values of specialization constants, by their ids
    std::vector<Build> builds_;
    std::string options_;
};

} // namespace pi::level_zero
