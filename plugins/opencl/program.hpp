// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <pi/sdk/spirv.hpp>

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pi::opencl {

/// What `attempt()` answers, which builds, compiles or links for devices of this one's driver. With QUIRK_BUILD_AGAIN a
/// failure is believed when it comes three times.
template <class Attempt>
cl_int build_by(const Device &device, Attempt &&attempt) {
    cl_int code = CL_SUCCESS;
    for (int left = device.quirk(QUIRK_BUILD_AGAIN) ? 3 : 1; left > 0; --left) {
        code = attempt();
        if (code != CL_BUILD_PROGRAM_FAILURE && code != CL_COMPILE_PROGRAM_FAILURE &&
            code != CL_LINK_PROGRAM_FAILURE)
            break;
    }
    return code;
}

class Program : public sdk::Object<Program, pi_program> {
public:
    Program(Context &context, pi_program_format format, ProgramOwner vendor,
            std::vector<Device *> candidates);

    Context &context() const { return *context_; }
    const Api &api() const { return context_->api(); }
    cl_program id() const { return vendor_.get(); }
    pi_program_format format() const { return format_; }
    /// The SPIR-V that it was made of.
    void set_module(sdk::SpirvModule module) { module_ = std::move(module); }
    /// The bytes that it was made of.
    void set_binary(std::vector<unsigned char> binary) { binary_ = std::move(binary); }
    /// Gives specialization constants values from the next build on.
    void specialize(uint32_t count, const pi_specialization_constant *constants);
    /// It is around the application's, of which we do not know all: takes over what the vendor tells of its builds.
    void adopt();
    /// The same of one that was just linked, of which only `devices` count.
    void read_link(const std::vector<Device *> &devices, std::string options);
    /// Compiles and links; PI_ERROR_BUILD_FAILED with the begin of the log.
    void build(const pi_program_build_desc &desc);
    /// Compiles to a part of a program, which has no kernels.
    void compile(const pi_program_build_desc &desc);
    /// Those it is built for; empty unless built.
    const std::vector<Device *> &devices() const { return built_; }
    bool is_built_for(const Device &device) const;
    /// Compiled, and not linked; also a library.
    bool is_compiled_for(const Device &device) const;
    /// Compiled by the application, for devices in an order that cannot be asked.
    bool compiled_elsewhere() const { return compiled_elsewhere_; }
    /// PI_ERROR_INVALID_OPERATION unless built.
    void require_built() const;
    std::string kernel_names() const;
    uint32_t status(const Device &device) const;
    std::string log(const Device &device) const;
    const std::string &options() const { return options_; }
    /// A kernel was made of id().
    void note_kernel() { had_kernels_ = true; }
    std::vector<uint64_t> binary_sizes() const;
    void copy_binaries(uint8_t **targets) const;

private:
    void read_builds();
    std::vector<Device *> read_devices(const pi_program_build_desc &desc) const;
    bool can_compile() const {
        return format_ == PI_PROGRAM_FORMAT_OPENCL_C || format_ == PI_PROGRAM_FORMAT_SPIRV;
    }
    /// `device` is the first of those that it is built for.
    std::string vendor_options(const Device &device, const std::string &options) const;
    /// Whether a build or compilation by the driver of `device` must not be one of id().
    bool needs_new_vendor(const Device &device) const;
    /// The same program of the vendor's once more: not built, with the specialization constants.
    ProgramOwner create_again() const;
    ProgramOwner create_il_again() const;
    /// What `build()` answers, which builds or compiles id() by the driver of `device`. Where id() has kernels, which
    /// must stay as they are, it becomes another.
    template <class Build>
    cl_int build_vendor(const Device &device, Build &&build);
    /// A build or a compilation.
    struct Attempt {
        uint32_t aim; ///< PI_PROGRAM_
        const char *call;
        const std::vector<Device *> &devices;
        const std::string &options;
    };
    /// Notes what became of it; throws unless `code` is CL_SUCCESS.
    void finish(const Attempt &attempt, cl_int code);

    const sdk::Ref<Context> context_;
    const pi_program_format format_;
    ProgramOwner vendor_; ///< of the newest build; kernels keep theirs
    std::optional<sdk::SpirvModule> module_;
    std::vector<unsigned char> binary_;
    std::map<uint32_t, std::string> constants_; ///< the bytes of those that were set
    const std::vector<Device *> candidates_;    ///< the context's, or those that a binary is for
    /// By what the newest build, compilation or link has made. While one fails, those that it was for have failed.
    std::vector<Device *> built_, compiled_, failed_;
    uint32_t aim_ = PI_PROGRAM_BUILT; ///< of it
    bool linked_ = false;             ///< of compiled programs
    bool adopted_ = false;
    std::atomic<bool> had_kernels_ = false;
    bool compiled_elsewhere_ = false;
    std::string options_; ///< of it
};

/// A program of SPIR-V, for those of the context's devices that take it (il.cpp).
sdk::Ref<Program> create_from_il(Context &context, const pi_program_desc &desc);
/// The SPIR-V that a vendor's program was made of, if it was.
std::optional<sdk::SpirvModule> find_module(const Context &context, cl_program vendor);

/// Where the vendor is given programs to link, and so to compile: in the context's order, and all of `candidates`
/// where the driver needs that.
std::vector<Device *> link_devices(const std::vector<Device *> &devices,
                                   const std::vector<Device *> &candidates);

/// A program of compiled parts, linked for the descriptor's devices (link.cpp).
sdk::Ref<Program> link_programs(Context &context, const pi_program_link_desc &desc);

} // namespace pi::opencl
