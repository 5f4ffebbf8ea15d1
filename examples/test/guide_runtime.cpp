// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C++ that docs/runtime-authors.md shows, run on the host plugin. scripts/check-readme compares
// both.
#include <pi/pi_loader.h>
#include <pi/pi_native_kernel.h>
#include <pi/runtime/dlpack.hpp>
#include <pi/runtime/error.hpp>
#include <pi/runtime/handle.hpp>
#include <pi/runtime/storage.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace pi::runtime;

/// Halves numbers at a place, wherever they are now.
static void halve(const Buffer &numbers, PlaceIndex place, pi_queue queue, pi_kernel scale) {
    Acquisition use = numbers.acquire(place, Access::read_write); // does not wait for the bytes
    const float factor = 0.5F;
    pi_kernel_argument arguments[2] = {use.argument()};
    arguments[1].kind = PI_ARGUMENT_VALUE;
    arguments[1].value = &factor;
    arguments[1].size = sizeof factor;
    pi_kernel_launch_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_KERNEL_LAUNCH_DESC;
    desc.kernel = scale;
    desc.dimensions = 1;
    desc.global_size[0] = numbers.size() / sizeof(float);
    desc.argument_count = 2;
    desc.arguments = arguments;
    Event done;
    const std::vector<pi_event> &fetched = use.events(queue); // transfers in flight to this place
    check(piEnqueueKernelLaunch(queue, &desc, static_cast<uint32_t>(fetched.size()), fetched.data(),
                                done.out()),
          "piEnqueueKernelLaunch");
    use.release(done.get()); // when it is complete, the numbers are valid only here
}

/// Halves the numbers of a tensor library at a place; at the end they are in its memory again.
static void halve_tensor(const Runtime &runtime, DLManagedTensorVersioned *theirs, PlaceIndex place,
                         pi_queue queue, pi_kernel scale) {
    const ImportedTensor tensor = import_dlpack(runtime, theirs); // takes ownership, copies nothing
    halve(tensor.buffer, place, queue, scale);
    Acquisition back = tensor.buffer.acquire(tensor.place, Access::read);
    back.wait();
    back.release();
} // the tensor's deleter runs after the last use; runtime.finish() waits for it

/// The other direction: a buffer at a place as a tensor of floats; its deleter ends the use.
static DLManagedTensorVersioned *give(const Buffer &numbers, PlaceIndex place) {
    const auto count = static_cast<int64_t>(numbers.size() / sizeof(float));
    return export_dlpack(numbers.acquire(place, Access::read_write),
                         TensorLayout::dense({PI_DLPACK_FLOAT, 32, 1}, {count}));
}

static void PI_CALL scale(const pi_native_group *group, void *const *arguments) {
    auto *numbers = static_cast<float *>(arguments[0]);
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        numbers[i] *= *static_cast<const float *>(arguments[1]);
}

static pi_kernel make_kernel(pi_context context) {
    static const pi_native_kernel kernels[] = {{"scale", &scale, 2, 0}};
    static const pi_native_program table = {sizeof table, 1, kernels};
    pi_program_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_PROGRAM_DESC;
    desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    desc.data = &table;
    desc.size = sizeof table;
    pi_program program = nullptr;
    pi_kernel kernel = nullptr;
    check(piProgramCreate(context, &desc, &program), "piProgramCreate");
    check(piProgramBuild(program, nullptr), "piProgramBuild");
    check(piKernelCreate(program, "scale", nullptr, &kernel), "piKernelCreate");
    check(piProgramRelease(program), "piProgramRelease");
    return kernel;
}

static bool run(pi_device device) {
    auto topology = Topology::from_devices(std::span(&device, 1));
    Runtime runtime(topology);
    std::vector<float> values(1000);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i);
    const Storage storage(
        runtime,
        {.size = values.size() * sizeof(float), .host_memory = values.data(), .name = "numbers"});
    pi_queue queue = nullptr;
    check(piQueueCreate(topology->context(1), topology->device(1), nullptr, &queue),
          "piQueueCreate");
    pi_kernel kernel = make_kernel(topology->context(1));
    halve(storage.buffer(), 1, queue, kernel);
    halve_tensor(runtime, give(storage.buffer(), host_place), 1, queue, kernel);
    check(piQueueFinish(queue), "piQueueFinish");
    runtime.finish(std::chrono::seconds(10));
    const Acquisition back = storage.buffer().acquire(host_place, Access::read);
    const auto *numbers = reinterpret_cast<const float *>(back.pointer()); // waits
    bool right = true;
    for (size_t i = 0; i < values.size(); ++i)
        right = right && numbers[i] == static_cast<float>(i) / 4;
    check(piKernelRelease(kernel), "piKernelRelease");
    check(piQueueRelease(queue), "piQueueRelease");
    std::puts(to_string(runtime.log(), topology->description()).c_str());
    return right && runtime.finish(std::chrono::seconds(10));
}

int main() {
    pi_loader loader = nullptr;
    pi_device device = nullptr;
    check(piLoaderCreate(nullptr, &loader), "piLoaderCreate");
    check(piLoaderSelectDevices(loader, nullptr, 1, &device, nullptr), "piLoaderSelectDevices");
    const bool right = run(device);
    check(piLoaderRelease(loader), "piLoaderRelease");
    std::puts(right ? "passed" : "the numbers are wrong");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
