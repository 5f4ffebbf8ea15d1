// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "program.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pi::cuda {

/// A function of the program's modules. Launches do not modify it.
class Kernel : public sdk::Object<Kernel, pi_kernel> {
public:
    Kernel(Program &program, const char *name);

    Program &program() const { return *program_; }
    Context &context() const { return program_->context(); }
    const std::string &name() const { return name_; }
    /// The sizes of the parameters; nullopt if the driver does not report them (before CUDA 12.4).
    const std::optional<std::vector<size_t>> &parameters() const { return parameters_; }
    uint32_t argument_count() const; ///< PI_ERROR_UNSUPPORTED_FEATURE if unknown

    /// The function on one device, and its limits.
    struct Function {
        Device *device;
        std::shared_ptr<Module> module;
        CUfunction id = nullptr;
        uint64_t max_group = 0;
        uint64_t local_memory = 0;   ///< bytes of static shared memory
        uint64_t private_memory = 0; ///< bytes a work-item
        /// bytes of shared memory that a launch may request in addition
        uint64_t dynamic_memory = 0;
    };
    /// PI_ERROR_INVALID_KERNEL if the program is not built for the device.
    const Function &function(const Device &device) const;

private:
    Function find(Device &device, const std::shared_ptr<Module> &module) const;

    const sdk::Ref<Program> program_;
    const std::string name_;
    std::vector<Function> functions_;
    std::optional<std::vector<size_t>> parameters_;
};

} // namespace pi::cuda
