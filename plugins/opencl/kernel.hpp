// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "program.hpp"

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pi::opencl {

/// The kind of a parameter; ANY if the driver does not report it.
enum class Parameter { ANY, VALUE, BUFFER, LOCAL, IMAGE, SAMPLER };

/// An argument, as it was or is to be set on the vendor's kernel.
struct Argument {
    pi_argument_kind kind = 0;
    /// Whether an equal Argument has the same effect. Not so for a handle or address alone: after a
    /// release it may be reused for another object, and drivers may dereference it when it is set.
    uint32_t lasting = false;
    uint64_t size = 0; ///< bytes of a value or of work-group memory
    /// For a lasting value: its bytes, padded with zeros. Otherwise [0] is the object's serial or
    /// the USM's generation, if lasting, and [1] a pointer: the cl_mem, the cl_sampler, the USM
    /// address, or another value's bytes.
    std::array<uint64_t, 2> content{};

    const void *pointer() const { return reinterpret_cast<const void *>(content[1]); }
    /// Compares words: they were written as words, and a wider load would stall on the store
    /// buffer.
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
    /// Around one of the program's vendor kernels.
    Kernel(Program &program, KernelOwner vendor, std::string name);

    Program &program() const { return *program_; }
    Context &context() const { return program_->context(); }
    const Api &api() const { return program_->api(); }
    cl_kernel id() const { return vendor_.get(); }
    const std::string &name() const { return name_; }
    const std::vector<Parameter> &parameters() const { return parameters_; }
    uint32_t argument_count() const { return static_cast<uint32_t>(parameters_.size()); }

    /// The limits of a launch on one device.
    struct Limits {
        uint64_t max_group = 0;
        std::array<uint64_t, 3> max_items{1, 1, 1};
        std::array<uint64_t, 3> compiled{}; ///< the required group size; zeros = none
        uint64_t multiple = 1;
        uint64_t local_memory = 0; ///< bytes available to a work-group
    };
    /// PI_ERROR_INVALID_KERNEL if the program is not built for the device.
    const Limits &limits(const Device &device) const;

    /// To be locked from setting the first argument until the launch is enqueued: the vendor's
    /// kernel holds the arguments. It guards what follows.
    std::mutex &mutex() { return mutex_; }
    /// To be called before the application can set arguments of its own.
    void share() { shared_ = true; }
    bool shared() const { return shared_; }
    /// Whether the vendor's kernel has this argument already.
    bool has_argument(size_t index, const Argument &argument) const {
        return argument.lasting && !shared_ && arguments_[index] == argument;
    }
    /// The record of an argument: to be cleared before the argument is set, and assigned after.
    Argument &argument(size_t index) { return arguments_[index]; }
    void forget_arguments() { arguments_.assign(arguments_.size(), {}); }
    /// The USM for which the vendor's kernel is set for indirect access.
    struct Indirect {
        uint32_t kinds = 0;      ///< bits 1 << PI_USM_
        uint64_t generation = 0; ///< the USM table's for which its list holds; 0 = none
    };
    Indirect &indirect() { return indirect_; }

private:
    Limits read_limits(const Device &device) const;

    const sdk::Ref<Program> program_;
    const std::string name_;
    KernelOwner vendor_;
    std::vector<Parameter> parameters_;
    std::mutex mutex_;
    bool shared_ = false;
    Indirect indirect_;
    std::vector<Argument> arguments_; ///< as many as parameters_
    std::vector<std::pair<const Device *, Limits>>
        limits_; ///< for the devices for which the program is built
};

} // namespace pi::opencl
