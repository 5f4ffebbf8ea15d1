// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "native.hpp"

#include "memory.hpp"
#include "migration.hpp"
#include "plugin.hpp"

namespace pi::sim {

void *Native::buffer(sdk::NativeArguments &arguments, Queue &queue,
                     const pi_kernel_argument &argument, const sdk::ArgumentName &name) {
    Mem &mem = checked_mem(queue.place(), argument.mem, name);
    sdk::NativeArguments::check_range(argument, name, mem.size());
    check_offset(mem, argument.offset, queue.device(), name);
    arguments.keep(mem);
    return mem.bytes().at(argument.offset);
}

void *Native::image(sdk::NativeArguments &, Queue &queue, const pi_kernel_argument &argument,
                    const sdk::ArgumentName &name) {
    // Whatever it is, it is no image.
    sdk::checked<Mem>(queue.host(), argument.mem, name);
    sdk::fail(PI_ERROR_INVALID_MEM_OBJECT, name, " is a buffer; a simulated machine has no images");
}

void *Native::sampler(sdk::NativeArguments &, Queue &, const pi_kernel_argument &,
                      const sdk::ArgumentName &name) {
    sdk::fail(PI_ERROR_INVALID_SAMPLER, name, " is no sampler: a simulated machine has none");
}

void Native::launch(Queue &queue, const sdk::EnqueueArguments &arguments,
                    sdk::NativeLaunch<Native> launch) {
    const Device &device = queue.device();
    const DeviceSpec &spec = device.spec();
    const auto own = spec.kernels.find(launch.kernel->native().name);
    const KernelSpec &time = own == spec.kernels.end() ? spec.kernel : own->second;
    const auto &size = launch.geometry.size;
    const double items =
        static_cast<double>(size[0]) * static_cast<double>(size[1]) * static_cast<double>(size[2]);
    Transfer transfer;
    transfer.task.duration = whole_time(time.launch_time + items * time.item_time);
    transfer.task.channels = {queue.links().processors(device.site())};
    std::vector<Mem *> written; // whatever it has and may be written
    std::vector<Site> sites;
    for (const sdk::AnyRef &object : launch.arguments.kept()) {
        Mem &mem = Mem::from(static_cast<pi_mem>(object.handle()));
        sites.push_back(mem.site());
        if (!(mem.flags() & PI_MEM_READ_ONLY))
            written.push_back(&mem);
    }
    queue.enqueue(arguments, std::move(transfer), sites,
                  writing(queue, std::move(written),
                          shared([launch = std::move(launch)](uint64_t, sdk::Event &) {
                              launch.run(0, launch.geometry.group_total());
                          })));
}

} // namespace pi::sim
