// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"
#include "jit.hpp"

#include <memory>
#include <string>
#include <vector>

namespace pi::cuda {

/// A module in a device's primary context.
class Module {
public:
    /// Takes over `id`; if `own` is set, only if *own is true at destruction.
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

/// A program: CUDA C++, PTX, a cubin or a fat binary; and its module on each device for which it is
/// built.
class Program : public sdk::Object<Program, pi_program> {
public:
    /// The state for one device of the context.
    struct Build {
        Device *device;
        std::shared_ptr<Module> module;
        std::string log;
        uint32_t status = PI_PROGRAM_NOT_BUILT;
        std::string image; ///< compiled or loaded image, 0-terminated, as PTX requires
    };

    Program(Context &context, pi_program_format format, std::string source)
        : Object(context.host()), context_(context), format_(format), source_(std::move(source)) {}
    /// Around the application's module: already built, for this device.
    Program(Context &context, Device &device, std::shared_ptr<Module> module);
    /// The result of linking.
    Program(Context &context, pi_program_format format, std::vector<Build> builds,
            std::string options)
        : Object(context.host()), context_(context), format_(format), builds_(std::move(builds)),
          options_(std::move(options)) {}

    Context &context() const { return *context_; }
    pi_program_format format() const { return format_; }
    /// Loads it on the devices; PI_ERROR_BUILD_FAILED with the beginning of the log. Kernels keep
    /// their modules alive.
    void build(const pi_program_build_desc &desc);
    /// Compiles it, as a part for linking.
    void compile(const pi_program_build_desc &desc);
    bool is_compiled_for(const Device &device) const;
    /// The image compiled for the device.
    const std::string &image(const Device &device) const { return build_of(device).image; }
    /// The devices for which it is built; empty if it is not.
    std::vector<Device *> devices() const;
    /// PI_ERROR_INVALID_OPERATION unless it is built.
    void require_built() const;
    /// The module on this device; NULL unless it is built for it.
    const std::shared_ptr<Module> &module(const Device &device) const;
    std::string kernel_names() const;
    uint32_t status(const Device &device) const;
    const std::string &log(const Device &device) const;
    const std::string &options() const { return options_; }
    std::vector<uint64_t> binary_sizes() const;
    void copy_binaries(uint8_t **targets) const;

private:
    const Build &build_of(const Device &device) const;
    /// PI_ERROR_INVALID_OPERATION if it has no source.
    void require_source() const;
    /// Makes the image for a device. Devices of equal architecture share one compilation.
    void translate(Build &build, const BuildOptions &options, bool part);
    /// Performs the step for each of the devices: succeeds for all or for none.
    template <class Step>
    void for_devices(const pi_program_build_desc &desc, uint32_t aim, const Step &step);

    const sdk::Ref<Context> context_;
    const pi_program_format format_;
    const std::string source_; ///< empty for the application's modules and for linked programs
    std::vector<Build> builds_;
    std::string options_;
};

/// Loads the build's image as its module; the driver's messages go to its log.
void load_module(Context &context, Program::Build &build, const BuildOptions &words);

/// Links compiled parts into a program for the descriptor's devices (link.cpp).
sdk::Ref<Program> link_programs(Context &context, const pi_program_link_desc &desc);

} // namespace pi::cuda
