// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/pi.hpp>
#include <pi/pi_native_kernel.h>
#include <pi/runtime/storage.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace pi::runtime; // pi::Queue, pi::Kernel and so on are those of pi.hpp

constexpr uint64_t count = 1 << 18;
constexpr const char *source = "kernel void add_one(global int *numbers) {"
                               "    numbers[get_global_id(0)] += 1; }";

/// The same kernel for devices that run functions of this process.
static void PI_CALL add_one(const pi_native_group *group, void *const *arguments) {
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        static_cast<int *>(arguments[0])[i] += 1;
}
static const pi_native_kernel kernels[] = {{"add_one", &add_one, 1, 0, {}}};
static const pi_native_program table = {sizeof table, 1, kernels};

/// Empty if the device accepts neither form of the kernel.
static pi::Kernel make_kernel(pi::ContextRef context, pi_device device) {
    const uint32_t formats =
        pi::nothrow::DeviceRef(device).info<PI_DEVICE_INFO_PROGRAM_FORMATS>().value_or(0);
    auto desc = pi::desc<pi_program_desc>();
    if ((formats & 1U << PI_PROGRAM_FORMAT_OPENCL_C) != 0) {
        desc.format = PI_PROGRAM_FORMAT_OPENCL_C;
        desc.data = source;
        desc.size = std::strlen(source);
    } else if ((formats & 1U << PI_PROGRAM_FORMAT_NATIVE_TABLE) != 0) {
        desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
        desc.data = &table;
        desc.size = sizeof table;
    } else {
        return {};
    }
    const pi::Program program = pi::Program::create(context, desc);
    program.build();
    return pi::Kernel::create(program, "add_one");
}

/// Adds 1 to the numbers at a place, wherever they are now.
static void add_one_at(PlaceIndex place, const Topology &topology, const Buffer &numbers,
                       const pi::Kernel &kernel) {
    const pi::Queue queue = pi::Queue::create(pi::ContextRef(topology.context(place)),
                                              pi::DeviceRef(topology.device(place)));
    Acquisition use = numbers.acquire(place, Access::read_write); // transfers stale bytes
    const pi_kernel_argument argument = use.argument();
    auto launch = pi::desc<pi_kernel_launch_desc>();
    launch.kernel = kernel.get();
    launch.dimensions = 1;
    launch.global_size[0] = count;
    launch.argument_count = 1;
    launch.arguments = &argument;
    const pi::Event done = queue.enqueue(launch, use.events(queue.get())); // after the transfer
    queue.flush();
    use.release(done.get()); // does not wait: the use ends when the kernel is complete
}

/// Up to three devices of PI_DEVICE_SELECTOR, or of all, as places with their selectors as names.
static std::shared_ptr<const Topology> find_places(const pi::Loader &loader) {
    std::vector<pi_device> devices;
    std::vector<std::string> names;
    for (const pi::DeviceRef device : loader.select_devices()) {
        if (devices.size() < 3) {
            devices.push_back(device.get());
            names.push_back(loader.device_selector(device));
        }
    }
    return Topology::from_devices(devices, names);
}

/// How the bytes came to each place, and why that way.
static void print(const std::vector<TransferRecord> &log, const Topology &topology) {
    for (const TransferRecord &record : log) {
        std::printf("%s -> %s: ", topology.info(record.source).name.c_str(),
                    topology.info(record.destination).name.c_str());
        std::printf("%s (%s), %llu bytes\n    %s\n", to_string(record.kind),
                    to_string(record.style), static_cast<unsigned long long>(record.bytes),
                    record.reason.c_str());
    }
}

int main() {
    const pi::Loader loader = pi::Loader::create(); // finds and opens the plugins
    const std::shared_ptr<const Topology> topology = find_places(loader);
    std::puts(topology->to_string().c_str()); // how the column's place can use the row's memory
    const Runtime runtime(topology);
    // Without imports each place has memory of its own, as on a discrete GPU.
    const Storage storage(
        runtime, {.size = count * sizeof(int), .routes = all_routes & ~mask_of(RouteKind::import)});
    const Buffer numbers = storage.buffer();
    Acquisition zeros = numbers.acquire(host_place, Access::discard_write);
    std::memset(zeros.pointer(), 0, numbers.size());
    zeros.release();
    int launched = 0;
    for (PlaceIndex place = 1; place < topology->size(); ++place) {
        const pi::ContextRef context(topology->context(place));
        const pi::Kernel kernel = make_kernel(context, topology->device(place));
        if (kernel.get() == nullptr) { // a device without kernels: the bytes get there all the same
            numbers.acquire(place, Access::read).wait();
            continue;
        }
        add_one_at(place, *topology, numbers, kernel);
        ++launched;
    }
    const Acquisition back = numbers.acquire(host_place, Access::read);
    const int number = reinterpret_cast<const int *>(back.pointer())[count - 1]; // waits
    runtime.finish(std::chrono::seconds(10));
    print(runtime.log(), *topology);
    std::printf("%d kernels, and the last number is %d\n", launched, number);
    return number == launched ? EXIT_SUCCESS : EXIT_FAILURE;
}
