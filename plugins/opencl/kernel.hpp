// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "program.hpp"

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pi::opencl {

/// What a parameter takes; ANY where the driver does not tell.
enum class Parameter { ANY, VALUE, BUFFER, LOCAL, IMAGE, SAMPLER };

class Kernel : public sdk::Object<Kernel, pi_kernel> {
public:
    Kernel(Program &program, const char *name);
    /// Around one of the program's.
    Kernel(Program &program, KernelOwner vendor, std::string name);

    Program &program() const { return *program_; }
    Context &context() const { return program_->context(); }
    const Api &api() const { return program_->api(); }
    cl_kernel id() const { return vendor_.get(); }
    const std::string &name() const { return name_; }
    const std::vector<Parameter> &parameters() const { return parameters_; }

    /// What limits a launch on one device.
    struct Limits {
        uint64_t max_group = 0;
        std::array<uint64_t, 3> max_items{1, 1, 1};
        std::array<uint64_t, 3> compiled{}; ///< zeros = none
        uint64_t multiple = 1;
        uint64_t local_memory = 0; ///< bytes that a work-group can have
    };
    /// PI_ERROR_INVALID_KERNEL if the program is not built for the device.
    const Limits &limits(const Device &device) const;

    /// Held from setting the first argument until the launch is enqueued: the vendor's kernel has hidden state.
    std::mutex &mutex() { return mutex_; }
    /// From now on the application may set arguments of its own. Under mutex().
    void share() { shared_ = true; }
    bool shared() const { return shared_; }
    /// The launch whose arguments are set: compared, and never 0 again. Guarded by mutex().
    uint64_t arguments_of = 0;
    /// The vendor's kernel has a list of USM that it reaches. Guarded by mutex().
    bool lists_usm = false;
    /// A number for a launch. Under mutex().
    uint64_t next_launch() { return ++launches_; }

private:
    Limits read_limits(const Device &device) const;

    const sdk::Ref<Program> program_;
    const std::string name_;
    KernelOwner vendor_;
    std::vector<Parameter> parameters_;
    std::mutex mutex_;
    bool shared_ = false;
    uint64_t launches_ = 0;
    std::vector<std::pair<const Device *, Limits>>
        limits_; ///< of the devices that the program is built for
};

} // namespace pi::opencl
