// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "program.hpp"

#include <pi/sdk/work_size.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pi::level_zero {

/// A function of the program's modules.
class Kernel : public sdk::Object<Kernel, pi_kernel> {
public:
    /// The driver's kernel on one device. It holds arguments and sizes until a launch is appended
    /// to a list: the mutex keeps launches apart.
    struct Function {
        Device *device;
        std::shared_ptr<Module> module;
        ze_kernel_handle_t id = nullptr;
        std::shared_ptr<const bool>
            own{}; ///< if set, the kernel is destroyed at the end only if *own is true
        ze_kernel_properties_t properties{};
        std::mutex mutex;              ///< guards what follows
        const void *set_for = nullptr; ///< the launch whose arguments it has
        /// Other settings of the kernel, where known.
        std::optional<sdk::Size3> group{}, offset{};
        std::optional<ze_kernel_indirect_access_flags_t> indirect{};
        bool given = false; ///< the application has its handle, and may change its settings
    };

    Kernel(Program &program, const char *name);
    /// Around the application's kernel, for one device.
    Kernel(Program &program, Device &device, ze_kernel_handle_t id,
           std::shared_ptr<const bool> own);
    ~Kernel();

    Program &program() const { return *program_; }
    Context &context() const { return program_->context(); }
    const std::string &name() const { return name_; }
    uint32_t argument_count() const { return functions_.front()->properties.numKernelArgs; }
    /// PI_ERROR_INVALID_KERNEL if the program is not built for the device.
    Function &function(const Device &device) const;

private:
    void read_properties(Function &function);

    const sdk::Ref<Program> program_;
    std::string name_;
    std::vector<std::unique_ptr<Function>> functions_;
};

} // namespace pi::level_zero
