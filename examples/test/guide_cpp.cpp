// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/pi.hpp>
#include <pi/pi_native_kernel.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

static void PI_CALL scale(const pi_native_group *group, void *const *arguments) {
    auto *numbers = static_cast<float *>(arguments[0]);
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        numbers[i] *= *static_cast<const float *>(arguments[1]);
}

static pi::Kernel make_kernel(pi::ContextRef context) {
    static const pi_native_kernel kernels[] = {{"scale", &scale, 2, 0}};
    static const pi_native_program table = {sizeof table, 1, kernels};
    auto desc = pi::desc<pi_program_desc>(); // size and type are set, all else is zero
    desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    desc.data = &table;
    desc.size = sizeof table;
    const pi::Program program = pi::Program::create(context, desc);
    program.build();
    return pi::Kernel::create(program, "scale");
}

static void scale_numbers(pi::DeviceRef device, std::vector<float> &numbers, float factor) {
    const pi::Platform platform = device.info<PI_DEVICE_INFO_PLATFORM>();
    const pi::Context context = pi::Context::create(platform, device);
    const pi::Queue queue = pi::Queue::create(context, device, PI_QUEUE_OUT_OF_ORDER);
    const uint64_t size = numbers.size() * sizeof(float);
    const pi::Mem mem = pi::Mem::buffer_create(context, device, size);
    const pi::Kernel kernel = make_kernel(context);

    const pi_region all = pi::region(size);
    auto write = pi::desc<pi_buffer_write_desc>();
    write.mem = mem.get();
    write.host_ptr = numbers.data();
    write.region_count = 1;
    write.regions = &all;
    const pi::Event written = queue.enqueue(write); // piEnqueueMemBufferWrite

    const pi_kernel_argument arguments[] = {pi::buffer_argument(mem), pi::value_argument(factor)};
    auto launch = pi::desc<pi_kernel_launch_desc>();
    launch.kernel = kernel.get();
    launch.dimensions = 1;
    launch.global_size[0] = numbers.size();
    launch.argument_count = 2;
    launch.arguments = arguments;
    const pi::Event scaled = queue.enqueue(launch, written); // or {written, another}, or a vector

    auto read = pi::desc<pi_buffer_read_desc>();
    read.flags = PI_COMMAND_BLOCKING;
    read.mem = mem.get();
    read.host_ptr = numbers.data();
    read.region_count = 1;
    read.regions = &all;
    queue.enqueue(read, scaled, pi::no_event);
    // Everything is released here, also after an exception.
}

int main() {
    try {
        const pi::Loader loader = pi::Loader::create();
        std::vector<float> numbers(1000, 1.5F);
        const pi::DeviceRef device = loader.select_devices("host").at(0); // or all
        std::printf("%s\n", device.info<PI_DEVICE_INFO_NAME>().c_str());
        scale_numbers(device, numbers, 4);
        for (const float number : numbers)
            if (number != 6) {
                std::puts("the numbers are wrong");
                return EXIT_FAILURE;
            }
        std::puts("passed");
        return EXIT_SUCCESS;
    } catch (const pi::Error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
}
