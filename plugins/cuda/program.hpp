// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <memory>
#include <string>
#include <vector>

namespace pi::cuda {

/// A module in a device's primary context.
class Module {
public:
    /// Takes over `id`; if there is `own`, only if that is true in the end.
    Module(Primary &primary, CUmodule id, std::shared_ptr<const bool> own = {})
        : primary_(primary.shared_from_this()), id_(id), own_(std::move(own)) {}
    ~Module();
    Module(const Module &) = delete;
    CUmodule id() const { return id_; }
    Primary &primary() const { return *primary_; }

private:
    const std::shared_ptr<Primary> primary_;
    const CUmodule id_;
    const std::shared_ptr<const bool> own_;
};

/// An image (PTX, a cubin, a fat binary), and the modules that it is on the devices it is built for.
class Program : public sdk::Object<Program, pi_program> {
public:
    Program(Context &context, pi_program_format format, std::string image)
        : Object(context.host()), context_(context), format_(format), image_(std::move(image)) {}
    /// Around the application's module: built, for this device.
    Program(Context &context, Device &device, std::shared_ptr<Module> module);

    Context &context() const { return *context_; }
    pi_program_format format() const { return format_; }
    /// Loads it on the devices; PI_ERROR_BUILD_FAILED with the begin of the log. Kernels keep the modules that they are
    /// of.
    void build(const pi_program_build_desc &desc);
    /// Those it is built for; empty unless it is.
    std::vector<Device *> devices() const;
    /// PI_ERROR_INVALID_OPERATION unless it is built.
    void require_built() const;
    /// NULL unless it is built for this one.
    const std::shared_ptr<Module> &module(const Device &device) const;
    std::string kernel_names() const;
    uint32_t status(const Device &device) const;
    const std::string &log(const Device &device) const;
    const std::string &options() const { return options_; }
    std::vector<uint64_t> binary_sizes() const;
    void copy_binaries(uint8_t **targets) const;

private:
    /// Of one device of the context.
    struct Build {
        Device *device;
        std::shared_ptr<Module> module;
        std::string log;
        uint32_t status = PI_PROGRAM_NOT_BUILT;
    };
    const Build &build_of(const Device &device) const;
    void load(Build &build, const std::string &options);

    const sdk::Ref<Context> context_;
    const pi_program_format format_;
    const std::string image_; ///< with a 0 behind it, which PTX needs
    std::vector<Build> builds_;
    std::string options_;
};

} // namespace pi::cuda
