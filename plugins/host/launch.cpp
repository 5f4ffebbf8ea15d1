// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernel launches: work-groups run in parallel on the instance's threads.
#include "cooperative.hpp"
#include "executor.hpp"
#include "memory.hpp"
#include "native.hpp"
#include "sampler.hpp"

#include <pi/sdk/lanes.hpp>

#include <algorithm>
#include <atomic>

namespace pi::host {

using sdk::ArgumentName;
using sdk::NativeArguments;

namespace {

/// Each work-group has its own thread, arguments and local memory; all exist before the first one
/// runs.
void run_cooperatively(const Device &device, const sdk::NativeLaunch<Native> &launch) {
    const uint64_t total = launch.geometry.group_total();
    std::vector<sdk::NativeSlot> scratch(total);
    std::vector<std::vector<void *>> pointers;
    for (sdk::NativeSlot &bytes : scratch) {
        if (launch.arguments.local_size())
            bytes = sdk::NativeSlot(launch.arguments.local_size());
        pointers.push_back(launch.arguments.for_group(bytes.get()));
    }
    run_together(device, total, [&](uint64_t number) {
        const pi_native_group group = launch.geometry.group(number);
        launch.kernel->native().function(&group, pointers[number].data());
    });
}

void run(Device &device, const sdk::NativeLaunch<Native> &launch) {
    const uint64_t total = launch.geometry.group_total();
    if (launch.cooperative)
        return run_cooperatively(device, launch);
    const uint64_t threads = std::min<uint64_t>(device.concurrency(), total);
    if (threads == 1)
        return launch.run(0, total);
    // Small enough that no thread has much left to do when the others are done.
    const uint64_t part = std::max<uint64_t>(1, total / (threads * 16));
    std::atomic<uint64_t> next{0};
    device.executor().run_in_lanes(static_cast<unsigned>(threads - 1), [&] {
        const Device::BoundThread bound(device);
        for (uint64_t begin; (begin = next.fetch_add(part, std::memory_order_relaxed)) < total;)
            launch.run(begin, std::min(begin + part, total));
    });
}

const void *keep_sampler(NativeArguments &arguments, Sampler &sampler) {
    const pi_sampler_desc &desc = sampler.desc();
    const pi_native_sampler record = {sizeof record, desc.normalized_coordinates, desc.addressing,
                                      desc.filter};
    arguments.keep(sampler);
    return arguments.keep(&record, sizeof record);
}

} // namespace

void *Native::buffer(NativeArguments &arguments, Queue &queue, const pi_kernel_argument &argument,
                     const ArgumentName &name) {
    Mem &mem = checked_buffer(queue.host(), argument.mem, name);
    sdk::check_buffer_argument(argument, name, mem.size());
    arguments.keep(mem);
    return mem.bytes().at(argument.offset);
}

void *Native::image(NativeArguments &arguments, Queue &queue, const pi_kernel_argument &argument,
                    const ArgumentName &name) {
    Mem &mem = checked_image(queue.host(), argument.mem, name);
    const sdk::ImageShape &shape = mem.image()->shape;
    const sdk::Rectangle &pixels = mem.image()->pixels;
    pi_native_image record{};
    record.struct_size = sizeof record;
    record.image_type = shape.type->type;
    record.channel_order = shape.format.order();
    record.channel_type = shape.format.type();
    record.data = mem.data();
    std::copy(shape.extent.begin(), shape.extent.end(), record.extent);
    record.row_pitch = pixels.row_pitch;
    record.slice_pitch = pixels.slice_pitch;
    record.pixel_size = shape.format.bytes();
    if (argument.image_sampler)
        record.sampler = static_cast<const pi_native_sampler *>(
            keep_sampler(arguments, sdk::checked_sampler(queue.context(), argument.image_sampler,
                                                         name.at("image_sampler"))));
    arguments.keep(mem);
    return arguments.keep(&record, sizeof record);
}

void *Native::sampler(NativeArguments &arguments, Queue &queue, const pi_kernel_argument &argument,
                      const ArgumentName &name) {
    return const_cast<void *>(
        keep_sampler(arguments, sdk::checked_sampler(queue.context(), argument.sampler, name)));
}

void Native::launch(Queue &queue, const sdk::EnqueueArguments &arguments,
                    sdk::NativeLaunch<Native> launch) {
    // The application's thread must not be bound to a device's processors.
    const Cost cost = queue.device().binds_threads() ? Cost::PLUGIN_THREAD : Cost::UNKNOWN;
    queue.enqueue(arguments, cost,
                  [&device = queue.device(), launch = std::move(launch)] { run(device, launch); });
}

} // namespace pi::host
