// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels, the arguments and descriptors to launch them with, and the words that they wrote.
#pragma once

#include "objects.hpp"

namespace pi_test {

inline Owned<pi_kernel> make_kernel(pi_program program, const char *name) {
    Owned<pi_kernel> kernel;
    OK(piKernelCreate(program, name, nullptr, kernel.out()));
    return kernel;
}

inline pi_kernel_argument buffer_argument(pi_mem mem, uint64_t offset = 0, uint64_t size = 0) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_BUFFER;
    argument.mem = mem;
    argument.offset = offset;
    argument.size = size;
    return argument;
}
inline pi_kernel_argument image_argument(pi_mem image, pi_sampler sampler = nullptr) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_IMAGE;
    argument.mem = image;
    argument.image_sampler = sampler;
    return argument;
}
inline pi_kernel_argument sampler_argument(pi_sampler sampler) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_SAMPLER;
    argument.sampler = sampler;
    return argument;
}
inline pi_kernel_argument local_argument(uint64_t size) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_LOCAL;
    argument.size = size;
    return argument;
}
/// References the value.
template <class T>
pi_kernel_argument value_argument(const T &value) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_VALUE;
    argument.value = &value;
    argument.size = sizeof value;
    return argument;
}

/// In one dimension; the arguments are referenced, not copied.
inline pi_kernel_launch_desc launch_desc(pi_kernel kernel,
                                         const std::vector<pi_kernel_argument> &arguments,
                                         uint64_t items, uint64_t group = 0) {
    auto d = pi::desc<pi_kernel_launch_desc>();
    d.kernel = kernel;
    d.dimensions = 1;
    d.argument_count = static_cast<uint32_t>(arguments.size());
    d.arguments = arguments.data();
    d.global_size[0] = items;
    d.local_size[0] = group;
    return d;
}

template <class Item>
std::vector<Item> read_items(pi_queue queue, pi_mem mem, size_t count) {
    std::vector<Item> items(count);
    const pi_region region = range(0, 0, count * sizeof(Item));
    const auto d = read_desc(mem, items.data(), region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferRead(queue, &d, 0, nullptr, nullptr));
    return items;
}
inline std::vector<uint32_t> read_words(pi_queue queue, pi_mem mem, size_t count) {
    return read_items<uint32_t>(queue, mem, count);
}

/// "count_up" of the simulated drivers' unit-test kernels: on a buffer of 4-byte words.
inline constexpr const char *count_up = "function count_up pointer 4\n";

} // namespace pi_test
