// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of a launch.
#pragma once

#include "kernel.hpp"
#include "memory.hpp"
#include "submission.hpp"

#include <array>
#include <cstddef>
#include <memory_resource>
#include <vector>

namespace pi::cuda {

/// Copies of the values, and references to the memory objects.
class Arguments {
public:
    /// PI_ERROR_INVALID_ARGUMENTS, or the error that the argument's kind defines.
    Arguments(const Target &target, Kernel &kernel, const pi_kernel_launch_desc &desc);
    Arguments(const Arguments &) = delete;

    /// For cuLaunchKernel: pointers to the parameters' values.
    void **pointers() { return pointers_.data(); }
    /// Bytes of dynamic shared memory: first local_memory_size, then each PI_ARGUMENT_LOCAL.
    uint64_t local_memory() const { return local_memory_; }
    /// The same, without checking any other argument.
    static uint64_t local_memory_of(const pi_kernel_launch_desc &desc);

private:
    void add(const Target &target, const Kernel &kernel, const pi_kernel_argument &given,
             size_t index);
    void add_value(const void *value, size_t size, const Kernel &kernel, size_t index);
    CUdeviceptr read_buffer(const Target &target, const pi_kernel_argument &given, size_t index);
    /// A CUtexObject or a CUsurfObject: both are integers of the same size.
    CUtexObject read_image(const Target &target, const pi_kernel_argument &given, size_t index);
    void keep(const Target &target, Mem &mem);

    /// The alignment of each value.
    struct alignas(16) Block {
        std::byte bytes[16];
    };
    std::array<Block, 64> few_; ///< avoids allocations for most launches
    std::pmr::monotonic_buffer_resource room_{few_.data(), sizeof few_};
    const std::pmr::polymorphic_allocator<> in_room_{&room_};
    std::pmr::vector<Block> values_{in_room_};   ///< one after another
    std::pmr::vector<size_t> offsets_{in_room_}; ///< of each parameter in values_
    std::pmr::vector<void *> pointers_{in_room_};
    std::vector<sdk::Ref<Mem>> references_;
    uint64_t local_memory_;
};

} // namespace pi::cuda
