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
    /// Takes over `id`; if `own` is set, only if *own is true at destruction.
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

/// The same in the driver's form; the values must outlive it.
class DriverConstants {
public:
    explicit DriverConstants(const ConstantValues &values);
    DriverConstants(const DriverConstants &) = delete;
    /// NULL if there are none.
    const ze_module_constants_t *get() const { return ids_.empty() ? nullptr : &constants_; }

private:
    std::vector<uint32_t> ids_;
    std::vector<const void *> values_;
    ze_module_constants_t constants_{};
};

/// Creates a fully linked module from `desc`, and appends to the log. PI_ERROR_BUILD_FAILED with
/// the beginning of the log.
std::shared_ptr<Module> make_module(Place &place, const ze_module_desc_t &desc, std::string &log);

/// A program: SPIR-V or a driver's binary, and its module on each device for which it is built.
class Program : public sdk::Object<Program, pi_program> {
public:
    /// The state for one device of the context.
    struct Build {
        Device *device;
        std::shared_ptr<Module> module;
        std::string log;
        uint32_t status = PI_PROGRAM_NOT_BUILT;
    };

    Program(Context &context, pi_program_format format, std::string source);
    /// Around the application's module: already built, for this device.
    Program(Context &context, Device &device, std::shared_ptr<Module> module);
    /// The result of linking parts in SPIR-V.
    Program(Context &context, std::vector<Build> builds, std::string options);

    Context &context() const { return *context_; }
    pi_program_format format() const { return format_; }
    /// Sets values of specialization constants for later builds.
    void specialize(uint32_t count, const pi_specialization_constant *constants);
    /// Creates the modules; PI_ERROR_BUILD_FAILED with the beginning of the log. Kernels keep their
    /// modules alive.
    void build(const pi_program_build_desc &desc);
    /// Checks that the driver accepts it in its present state; functions that it calls may be in
    /// other parts.
    void compile(const pi_program_build_desc &desc);
    bool is_compiled_for(const Device &device) const;
    /// The source and the constants with which it was compiled.
    const std::string &source() const { return source_; }
    const ConstantValues &compiled_constants() const { return compiled_constants_; }
    /// The devices for which it is built; empty if it is not.
    std::vector<Device *> devices() const;
    /// PI_ERROR_INVALID_OPERATION unless it is built.
    void require_built() const;
    /// The module on this device; NULL unless it is built for it.
    const std::shared_ptr<Module> &module(const Device &device) const;
    /// The same; PI_ERROR_INVALID_OPERATION instead of NULL.
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
    /// Creates a module for each of the descriptor's devices, and keeps it if the aim is
    /// PI_PROGRAM_BUILT.
    void build_for(const pi_program_build_desc &desc, uint32_t aim);
    std::shared_ptr<Module> make(Build &build, bool part) const;

    const sdk::Ref<Context> context_;
    const pi_program_format format_;
    const std::string source_; ///< empty for the application's modules
    std::optional<sdk::SpirvModule> spirv_;
    ConstantValues constants_, compiled_constants_;
    std::vector<Build> builds_;
    std::string options_;
};

/// Links compiled parts into a program for the descriptor's devices (link.cpp).
sdk::Ref<Program> link_programs(Context &context, const pi_program_link_desc &desc);

/// PI_ERROR_UNSUPPORTED_FEATURE unless a device of the context can link parts.
void require_linker(const Context &context);

} // namespace pi::level_zero
