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

/// Calls attempt(), which builds, compiles or links for devices of this one's driver. With
/// QUIRK_BUILD_AGAIN a failure counts only after three attempts.
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
    /// Its SPIR-V.
    void set_module(sdk::SpirvModule module) { module_ = std::move(module); }
    /// Its binary.
    void set_binary(std::vector<unsigned char> binary) { binary_ = std::move(binary); }
    /// Sets values of specialization constants for later builds.
    void specialize(uint32_t count, const pi_specialization_constant *constants);
    /// For the application's program: adopts the state of its builds as far as the vendor reports
    /// it.
    void adopt();
    /// The same for a linked program; only `devices` count.
    void read_link(const std::vector<Device *> &devices, std::string options);
    /// Compiles and links; PI_ERROR_BUILD_FAILED with the beginning of the log.
    void build(const pi_program_build_desc &desc);
    /// Compiles it as a part for linking, which has no kernels.
    void compile(const pi_program_build_desc &desc);
    /// The devices for which it is built; empty if it is not.
    const std::vector<Device *> &devices() const { return built_; }
    bool is_built_for(const Device &device) const;
    /// Compiled and not linked, or a library.
    bool is_compiled_for(const Device &device) const;
    /// Compiled by the application, for devices in an unknown order.
    bool compiled_elsewhere() const { return compiled_elsewhere_; }
    /// PI_ERROR_INVALID_OPERATION unless it is built.
    void require_built() const;
    std::string kernel_names() const;
    uint32_t status(const Device &device) const;
    std::string log(const Device &device) const;
    const std::string &options() const { return options_; }
    /// To be called when a kernel is created from id(), or a command uses its variables.
    void note_use() { used_ = true; }
    std::vector<uint64_t> binary_sizes() const;
    void copy_binaries(uint8_t **targets) const;

private:
    void read_builds();
    std::vector<Device *> read_devices(const pi_program_build_desc &desc) const;
    bool can_compile() const {
        return format_ == PI_PROGRAM_FORMAT_OPENCL_C || format_ == PI_PROGRAM_FORMAT_SPIRV;
    }
    /// `device` is the first of those for which it is built.
    std::string vendor_options(const Device &device, const std::string &options) const;
    /// Whether the driver of `device` must build or compile a new vendor program instead of id().
    bool needs_new_vendor(const Device &device) const;
    /// A new vendor program of the same source: not built, with the specialization constants.
    ProgramOwner create_again() const;
    ProgramOwner create_il_again() const;
    /// Calls build(), which builds or compiles id() by the driver of `device`. If id() has kernels,
    /// which must stay valid, replaces it by a new vendor program first.
    template <class Build>
    cl_int build_vendor(const Device &device, Build &&build);
    /// A build or compilation in progress.
    struct Attempt {
        uint32_t aim; ///< PI_PROGRAM_
        const char *call;
        const std::vector<Device *> &devices;
        const std::string &options;
    };
    /// Records the result; throws unless `code` is CL_SUCCESS.
    void finish(const Attempt &attempt, cl_int code);

    const sdk::Ref<Context> context_;
    const pi_program_format format_;
    ProgramOwner vendor_; ///< of the newest build; kernels keep their own
    std::optional<sdk::SpirvModule> module_;
    std::vector<unsigned char> binary_;
    std::map<uint32_t, std::string> constants_; ///< bytes of the constants that were set
    const std::vector<Device *> candidates_;    ///< the context's, or those that accept the binary
    /// The result of the newest build, compilation or link. While it has failed, its devices are in
    /// failed_.
    std::vector<Device *> built_, compiled_, failed_;
    uint32_t aim_ = PI_PROGRAM_BUILT; ///< of the newest attempt
    bool linked_ = false;             ///< from compiled programs
    bool adopted_ = false;
    std::atomic<bool> used_ = false;
    bool compiled_elsewhere_ = false;
    std::string options_; ///< of the newest attempt
};

/// A program in SPIR-V, for those of the context's devices that support it (il.cpp).
sdk::Ref<Program> create_from_il(Context &context, const pi_program_desc &desc);
/// The SPIR-V from which a vendor's program was created, if it was.
std::optional<sdk::SpirvModule> find_module(const Context &context, cl_program vendor);

/// The devices for which programs are compiled and linked: in the context's order, and all of
/// `candidates` if the driver needs that.
std::vector<Device *> link_devices(const std::vector<Device *> &devices,
                                   const std::vector<Device *> &candidates);

/// Links compiled parts into a program for the descriptor's devices (link.cpp).
sdk::Ref<Program> link_programs(Context &context, const pi_program_link_desc &desc);

} // namespace pi::opencl
