// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of a launch.
#pragma once

#include "kernel.hpp"
#include "memory.hpp"
#include "submission.hpp"

#include <cstddef>
#include <vector>

namespace pi::level_zero {

/// Copies of the values, and references to the memory objects and samplers.
class Arguments {
public:
    /// PI_ERROR_INVALID_ARGUMENTS, or the error that the argument's kind defines.
    Arguments(const Target &target, const Kernel &kernel, const pi_kernel_launch_desc &desc);
    Arguments(const Arguments &) = delete;

    /// Sets them on the driver's kernel; under the function's mutex.
    void set(Kernel::Function &function, const std::string &name) const;

private:
    struct Argument {
        uint64_t size;
        size_t value; ///< offset into values_
        bool empty;   ///< no value: work-group memory, or a null pointer
    };
    void add(const Target &target, const pi_kernel_argument &given, size_t index);
    void add_value(const void *value, size_t size);
    void add_pointer(const void *pointer);
    void add_image(const Target &target, const pi_kernel_argument &given, size_t index);
    void add_sampler(const Target &target, const pi_kernel_argument &given, size_t index);
    const void *read_buffer(const Target &target, const pi_kernel_argument &given, size_t index);
    template <class Object>
    void keep(const Target &target, Object &object) {
        if (target.references)
            target.references->add(object);
        else if (!target.within_call)
            references_.emplace_back(sdk::Ref<Object>(object));
    }

    std::vector<Argument> arguments_;
    std::vector<std::byte> values_;
    std::vector<sdk::AnyRef> references_;
    uint64_t local_memory_ = 0;
};

} // namespace pi::level_zero
