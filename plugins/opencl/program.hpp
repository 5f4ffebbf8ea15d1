// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <string>
#include <vector>

namespace pi::opencl {

class Program : public sdk::Object<Program, pi_program> {
public:
    Program(Context &context, pi_program_format format, ProgramOwner vendor,
            std::vector<Device *> candidates);

    Context &context() const { return *context_; }
    const Api &api() const { return context_->api(); }
    cl_program id() const { return vendor_.get(); }
    pi_program_format format() const { return format_; }
    /// Takes over what the vendor tells of a program that was built without us.
    void read_builds();
    /// Builds; PI_ERROR_BUILD_FAILED with the begin of the log.
    void build(const pi_program_build_desc &desc);
    /// Those it is built for; empty unless built.
    const std::vector<Device *> &devices() const { return built_; }
    bool is_built_for(const Device &device) const;
    /// PI_ERROR_INVALID_OPERATION unless built.
    void require_built() const;
    std::string kernel_names() const;
    uint32_t status(const Device &device) const;
    std::string log(const Device &device) const;
    const std::string &options() const { return options_; }

private:
    std::vector<Device *> read_devices(const pi_program_build_desc &desc) const;

    const sdk::Ref<Context> context_;
    const pi_program_format format_;
    ProgramOwner vendor_;
    const std::vector<Device *> candidates_; ///< the context's, or those that a binary is for
    std::vector<Device *> built_, failed_;
    std::string options_;
};

} // namespace pi::opencl
