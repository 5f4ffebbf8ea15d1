// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernel launches: the size of the work, and the launch itself.
#include "arguments.hpp"
#include "entries.hpp"
#include "kernel.hpp"

#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/launch.hpp>
#include <pi/sdk/work_size.hpp>

#include <algorithm>

namespace pi::cuda {

using namespace sdk;

namespace {

/// Limits of launches: CUDA's kernels have no global offset.
WorkLimits limits_of(const Device &device, const Kernel &kernel) {
    return {device.max_items(),  kernel.function(device).max_group,
            device.max_groups(), false,
            kernel.name(),       device.name()};
}

/// The number of groups of this size that are resident at once.
uint64_t resident_groups(const Device &device, const Kernel &kernel, const WorkSize &work,
                         uint64_t local_memory) {
    const Kernel::Function &function = kernel.function(device);
    Primary &primary = function.module->primary();
    const Current current(primary);
    int blocks = 0;
    primary.check(primary.api().cuOccupancyMaxActiveBlocksPerMultiprocessor(
                      &blocks, function.id, static_cast<int>(work.group_items()), local_memory),
                  "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return static_cast<uint64_t>(std::max(blocks, 0)) *
           static_cast<uint64_t>(device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
}

constexpr uint64_t wanted_group = 256;

WorkSize read_work_size(const Kernel &kernel, const Device &device,
                        const pi_kernel_launch_desc &desc, uint64_t local_memory) {
    const WorkLimits limits = limits_of(device, kernel);
    const Size3 global = read_global_size(desc, limits);
    const bool cooperative = desc.flags & PI_LAUNCH_COOPERATIVE;
    const auto resident = [&](const WorkSize &work) {
        return resident_groups(device, kernel, work, local_memory);
    };
    const WorkSize work =
        has_local_size(desc) ? work_of(global, read_local_size(desc, global, limits))
        : cooperative        ? choose_cooperative_groups(global, limits, resident)
                             : work_of(global, choose_whole_groups(global, limits, wanted_group));
    check_group_counts(work, global, limits);
    if (cooperative)
        check_resident(work, resident(work), limits);
    return work;
}

class LaunchCommand final : public PlainCommand {
public:
    LaunchCommand(const Target &target, Kernel &kernel, const pi_kernel_launch_desc &desc)
        : PlainCommand(target.queue), kernel_(target, kernel), arguments_(target, kernel, desc),
          cooperative_(desc.flags & PI_LAUNCH_COOPERATIVE),
          work_(read_work_size(kernel, target.queue.device(), desc, arguments_.local_memory())) {}

private:
    static unsigned narrow(uint64_t size) { return static_cast<unsigned>(size); }

    void issue(Submission &submission) override {
        const Api &cu = submission.api();
        const CUfunction function = kernel_->function(queue().device()).id;
        const auto &[groups, local] = work_;
        const unsigned shared = narrow(arguments_.local_memory());
        if (cooperative_)
            return submission.add(
                cu.cuLaunchCooperativeKernel(function, narrow(groups[0]), narrow(groups[1]),
                                             narrow(groups[2]), narrow(local[0]), narrow(local[1]),
                                             narrow(local[2]), shared, submission.stream(),
                                             arguments_.pointers()),
                "cuLaunchCooperativeKernel", "kernel '", kernel_->name(), "'");
        submission.add(cu.cuLaunchKernel(function, narrow(groups[0]), narrow(groups[1]),
                                         narrow(groups[2]), narrow(local[0]), narrow(local[1]),
                                         narrow(local[2]), shared, submission.stream(),
                                         arguments_.pointers(), nullptr),
                       "cuLaunchKernel", "kernel '", kernel_->name(), "'");
    }

    const CommandRef<Kernel> kernel_;
    Arguments arguments_;
    const bool cooperative_;
    const WorkSize work_;
};

Kernel &checked_kernel(const Queue &queue, pi_kernel handle) {
    Kernel &kernel = checked<Kernel>(queue.host(), handle, "kernel");
    if (&kernel.context() != &queue.context())
        fail(PI_ERROR_INVALID_KERNEL, "kernel '", kernel.name(),
             "' belongs to another context than queue");
    static_cast<void>(kernel.function(queue.device()));
    return kernel;
}

pi_kernel_launch_desc read_launch(const Queue &queue, const pi_kernel_launch_desc *desc) {
    auto known = read_launch_desc(desc);
    const uint64_t cooperative =
        queue.device().cooperative() ? uint64_t{PI_LAUNCH_COOPERATIVE} : uint64_t{0};
    // Memory that a kernel reaches by pointers inside memory needs no declaration to the driver.
    check_flags(known.flags,
                PI_COMMAND_BLOCKING | cooperative | PI_LAUNCH_INDIRECT_USM_HOST |
                    PI_LAUNCH_INDIRECT_USM_DEVICE | PI_LAUNCH_INDIRECT_USM_SHARED,
                "flags");
    if (known.cluster_size[0] || known.cluster_size[1] || known.cluster_size[2])
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "cluster_size is set; this plugin does not launch clusters");
    return known;
}

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueKernelLaunch(pi_queue queue, const pi_kernel_launch_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_launch(self, desc);
        Kernel &kernel = checked_kernel(self, known.kernel);
        enqueue_stream<LaunchCommand>(
            self, {known.flags, known.type, wait_count, wait_list, out_event}, kernel, known);
    });
}

pi_result PI_CALL piKernelGetSuggestedLocalSize(pi_queue queue, const pi_kernel_launch_desc *desc,
                                                uint64_t out_local_size[3]) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_size_query(desc);
        require(out_local_size, "out_local_size");
        const Kernel &kernel = checked_kernel(self, known.kernel);
        const WorkSize work = read_work_size(kernel, self.device(), known, 0);
        std::copy(work.local.begin(), work.local.end(), out_local_size);
    });
}

pi_result PI_CALL piKernelGetMaxCooperativeGroups(pi_queue queue, const pi_kernel_launch_desc *desc,
                                                  uint32_t *out_count) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_launch(self, desc);
        require(out_count, "out_count");
        if (!self.device().cooperative())
            fail(PI_ERROR_UNSUPPORTED_FEATURE, self.device().name(),
                 " has no cooperative launches");
        Kernel &kernel = checked_kernel(self, known.kernel);
        const WorkLimits limits = limits_of(self.device(), kernel);
        const Size3 global = read_global_size(known, limits);
        const uint64_t local_memory = Arguments::local_memory_of(known);
        const auto resident = [&](const WorkSize &work) {
            return resident_groups(self.device(), kernel, work, local_memory);
        };
        const WorkSize work = has_local_size(known)
                                  ? work_of(global, read_local_size(known, global, limits))
                                  : choose_cooperative_groups(global, limits, resident);
        *out_count = static_cast<uint32_t>(resident(work));
    });
}

} // namespace entries
} // namespace pi::cuda
