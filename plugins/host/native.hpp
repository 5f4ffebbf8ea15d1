// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's side of the sdk's programs and kernels.
#pragma once

#include "queue.hpp"

#include <pi/sdk/native_launch.hpp>

namespace pi::host {

/// See native_program.hpp and native_launch.hpp.
struct Native {
    using Context = host::Context;
    using Device = host::Device;
    using Queue = host::Queue;

    static constexpr const char *plugin = "host";
    static constexpr uint64_t max_work_group_size = host::max_work_group_size;
    static constexpr uint64_t max_local_memory = local_memory_size;
    static constexpr bool cooperative = true;

    static uint32_t concurrency(const Device &device) { return device.concurrency(); }
    static void *buffer(sdk::NativeArguments &arguments, Queue &queue,
                        const pi_kernel_argument &argument, const sdk::ArgumentName &name);
    static void *image(sdk::NativeArguments &arguments, Queue &queue,
                       const pi_kernel_argument &argument, const sdk::ArgumentName &name);
    static void *sampler(sdk::NativeArguments &arguments, Queue &queue,
                         const pi_kernel_argument &argument, const sdk::ArgumentName &name);
    static void launch(Queue &queue, const sdk::EnqueueArguments &arguments,
                       sdk::NativeLaunch<Native> launch);
};

using Program = sdk::NativeProgram<Native>;
using Kernel = sdk::NativeKernelObject<Native>;

} // namespace pi::host
