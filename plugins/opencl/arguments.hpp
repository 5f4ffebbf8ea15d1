// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of a launch.
#pragma once

#include "kernel.hpp"
#include "memory.hpp"
#include "submission.hpp"

#include <memory>
#include <span>
#include <vector>

namespace pi::opencl {

/// The arguments of one launch. Within the call they are checked as they are set, without a copy.
/// Otherwise the constructor checks them and copies values, and takes references to objects.
class Arguments {
public:
    /// PI_ERROR_INVALID_ARGUMENTS, or the error that the argument's kind defines.
    Arguments(const Target &target, Kernel &kernel, const pi_kernel_launch_desc &desc);

    /// Sets the arguments that the vendor's kernel does not have already; they stay valid as long
    /// as this lives. Under the kernel's mutex(). Errors as above, and the driver's.
    void set();

private:
    bool set_like(const Argument &now, size_t index);
    Argument read(size_t index);
    Argument read_value(size_t index);
    Argument read_local(size_t index);
    Argument read_buffer(size_t index);
    Argument read_image(size_t index);
    Argument read_sampler(size_t index);
    Argument read_pointer(size_t index);
    template <class Object>
    void keep(Object &object);
    void set(size_t index, const Argument &argument);

    const Target target_;
    Kernel &kernel_;
    std::span<const pi_kernel_argument> given_; ///< the application's
    uint64_t local_used_ = 0; ///< bytes of work-group memory of the arguments read so far
    std::vector<Argument> copies_;
    std::vector<std::unique_ptr<std::byte[]>> values_; ///< values that do not fit an Argument
    std::vector<sdk::AnyRef> references_;
    /// for arguments that do not begin at their mem's beginning
    std::vector<MemOwner> sub_buffers_;
};

} // namespace pi::opencl
