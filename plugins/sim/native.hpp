// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's side of the sdk's programs and kernels, which are native functions.
#pragma once

#include "queue.hpp"

#include <pi/sdk/native_launch.hpp>

namespace pi::sim {

/// See native_program.hpp and native_launch.hpp.
struct Native {
    using Context = sim::Context;
    using Device = sim::Device;
    using Queue = sim::Queue;

    static constexpr const char *plugin = "sim";
    static constexpr uint64_t max_work_group_size = sim::max_work_group_size;
    static constexpr uint64_t max_local_memory = local_memory_size;
    static constexpr bool cooperative = false;

    static uint32_t concurrency(const Device &device) { return device.spec().compute_units; }
    static void *buffer(sdk::NativeArguments &arguments, Queue &queue,
                        const pi_kernel_argument &argument, const sdk::ArgumentName &name);
    [[noreturn]] static void *image(sdk::NativeArguments &arguments, Queue &queue,
                                    const pi_kernel_argument &argument,
                                    const sdk::ArgumentName &name);
    [[noreturn]] static void *sampler(sdk::NativeArguments &arguments, Queue &queue,
                                      const pi_kernel_argument &argument,
                                      const sdk::ArgumentName &name);
    static void launch(Queue &queue, const sdk::EnqueueArguments &arguments,
                       sdk::NativeLaunch<Native> launch);
};

} // namespace pi::sim
