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

/// What an argument of the vendor's kernel is to be, or was set to.
struct Argument {
    pi_argument_kind kind = 0;
    /// Whether an equal one means the same. A handle or an address alone does not: once freed it comes again for
    /// something else, and drivers may look behind it when it is set.
    uint32_t lasting = false;
    uint64_t size = 0; ///< of a value or of work-group memory
    /// The bytes of a lasting value, and zeros; else the serial of the object or the generation of the USM, if it is
    /// lasting, and a pointer: the cl_mem or cl_sampler, the USM address, the bytes of another value.
    std::array<uint64_t, 2> content{};

    const void *pointer() const { return reinterpret_cast<const void *>(content[1]); }
    /// By words: what was written as words is slow to read in one piece.
    bool has_content(const std::array<uint64_t, 2> &other) const {
        return content[0] == other[0] && content[1] == other[1];
    }
    bool operator==(const Argument &other) const {
        return kind == other.kind && lasting == other.lasting && size == other.size &&
               has_content(other.content);
    }
};

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
    uint32_t argument_count() const { return static_cast<uint32_t>(parameters_.size()); }

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

    /// Held from setting the first argument until the launch is enqueued: the vendor's kernel has hidden state. What
    /// follows is under it.
    std::mutex &mutex() { return mutex_; }
    /// From now on the application may set arguments of its own.
    void share() { shared_ = true; }
    bool shared() const { return shared_; }
    /// Whether the vendor's kernel has this argument, so that it need not be set.
    bool has_argument(size_t index, const Argument &argument) const {
        return argument.lasting && !shared_ && arguments_[index] == argument;
    }
    /// To be cleared before the argument is set, and told what it is set to.
    Argument &argument(size_t index) { return arguments_[index]; }
    void forget_arguments() { arguments_.assign(arguments_.size(), {}); }
    /// The vendor's kernel has a list of USM that it reaches.
    bool lists_usm = false;

private:
    Limits read_limits(const Device &device) const;

    const sdk::Ref<Program> program_;
    const std::string name_;
    KernelOwner vendor_;
    std::vector<Parameter> parameters_;
    std::mutex mutex_;
    bool shared_ = false;
    std::vector<Argument> arguments_; ///< as many as parameters_
    std::vector<std::pair<const Device *, Limits>>
        limits_; ///< of the devices that the program is built for
};

} // namespace pi::opencl
