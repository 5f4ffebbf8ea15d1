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

/// Values of specialization constants, by their ids.
using ConstantValues = std::map<uint32_t, std::string>;

/// The same as the driver takes them; the values outlive it.
class DriverConstants {
public:
    explicit DriverConstants(const ConstantValues &values);
    DriverConstants(const DriverConstants &) = delete;
    /// NULL where there is none.
    const ze_module_constants_t *get() const { return ids_.empty() ? nullptr : &constants_; }

private:
    std::vector<uint32_t> ids_;
    std::vector<const void *> values_;
    ze_module_constants_t constants_{};
};

/// Makes a module of what `desc` says, in which nothing is left to link; adds to the log. PI_ERROR_BUILD_FAILED with its begin.
std::shared_ptr<Module> make_module(Place &place, const ze_module_desc_t &desc, std::string &log);

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
    /// Of parts in SPIR-V that are linked.
    Program(Context &context, std::vector<Build> builds, std::string options);

    Context &context() const { return *context_; }
    pi_program_format format() const { return format_; }
    /// Gives specialization constants values from the next build on.
    void specialize(uint32_t count, const pi_specialization_constant *constants);
    /// Makes the modules; PI_ERROR_BUILD_FAILED with the begin of the log. Kernels keep the modules that they are of.
    void build(const pi_program_build_desc &desc);
    /// Sees whether the driver takes it as it is now; what it calls may be in another part.
    void compile(const pi_program_build_desc &desc);
    bool is_compiled_for(const Device &device) const;
    /// What it is compiled of, and with.
    const std::string &source() const { return source_; }
    const ConstantValues &compiled_constants() const { return compiled_constants_; }
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
    void require_source() const;
    /// Makes a module for each of the descriptor's devices, and keeps it if the aim is PI_PROGRAM_BUILT.
    void build_for(const pi_program_build_desc &desc, uint32_t aim);
    std::shared_ptr<Module> make(Build &build, bool part) const;

    const sdk::Ref<Context> context_;
    const pi_program_format format_;
    const std::string source_; ///< empty: it was never ours
    std::optional<sdk::SpirvModule> spirv_;
    ConstantValues constants_, compiled_constants_;
    std::vector<Build> builds_;
    std::string options_;
};

/// A program of compiled parts, linked for the descriptor's devices (link.cpp).
sdk::Ref<Program> link_programs(Context &context, const pi_program_link_desc &desc);

/// PI_ERROR_UNSUPPORTED_FEATURE unless a device of the context has what links parts.
void require_linker(const Context &context);

} // namespace pi::level_zero
