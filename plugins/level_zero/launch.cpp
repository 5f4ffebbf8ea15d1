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

namespace pi::level_zero {

using namespace sdk;

namespace {

WorkLimits limits_of(const Device &device, const Kernel &kernel) {
    const ze_device_compute_properties_t &compute = device.compute();
    return {{compute.maxGroupSizeX, compute.maxGroupSizeY, compute.maxGroupSizeZ},
            compute.maxTotalGroupSize,
            {compute.maxGroupCountX, compute.maxGroupCountY, compute.maxGroupCountZ},
            device.global_offset(),
            kernel.name(),
            device.name()};
}

/// Under the function's mutex: calls set(), a driver call, unless the kernel has the value already.
template <class Value, class Set>
void set_once(const Kernel::Function &function, std::optional<Value> &known, const Value &wish,
              Set set) {
    if (known == wish && !function.given)
        return;
    known.reset();
    set();
    known = wish;
}

/// Under the function's mutex.
void set_group_size(Kernel::Function &function, const Size3 &local) {
    set_once(function, function.group, local, [&] {
        Place &place = function.module->place();
        place.check(place.api().zeKernelSetGroupSize(function.id, narrow(local[0]),
                                                     narrow(local[1]), narrow(local[2])),
                    "zeKernelSetGroupSize", "of kernel for groups of ", local[0], " x ", local[1],
                    " x ", local[2]);
    });
}

/// Under the function's mutex: the number of groups of this size that are resident at once. Sets
/// the kernel's group size.
uint64_t resident_groups(Kernel::Function &function, const WorkSize &work) {
    set_group_size(function, work.local);
    Place &place = function.module->place();
    uint32_t groups = 0;
    place.check(place.api().zeKernelSuggestMaxCooperativeGroupCount(function.id, &groups),
                "zeKernelSuggestMaxCooperativeGroupCount");
    return groups;
}

/// The size that the kernel requires; else the driver's suggestion, if its groups are whole and
/// allowed; else the plugin's own choice.
Size3 choose_local(const Kernel::Function &function, const Size3 &global,
                   const WorkLimits &limits) {
    const ze_kernel_properties_t &properties = function.properties;
    if (properties.requiredGroupSizeX)
        return {properties.requiredGroupSizeX, std::max(properties.requiredGroupSizeY, 1u),
                std::max(properties.requiredGroupSizeZ, 1u)};
    uint32_t x = 0, y = 0, z = 0;
    if (std::max({global[0], global[1], global[2]}) <= UINT32_MAX &&
        function.module->place().api().zeKernelSuggestGroupSize(
            function.id, narrow(global[0]), narrow(global[1]), narrow(global[2]), &x, &y, &z) ==
            ZE_RESULT_SUCCESS &&
        x && y && z && x <= limits.max_items[0] && y <= limits.max_items[1] &&
        z <= limits.max_items[2] && uint64_t{x} * y * z <= limits.max_group && global[0] % x == 0 &&
        global[1] % y == 0 && global[2] % z == 0)
        return {x, y, z};
    constexpr uint64_t wanted_group = 256;
    return choose_whole_groups(global, limits, wanted_group);
}

/// A kernel with a required size accepts no other.
void check_required(const Kernel::Function &function, const Size3 &global, const Size3 &local,
                    const WorkLimits &limits) {
    const ze_kernel_properties_t &properties = function.properties;
    const Size3 required{properties.requiredGroupSizeX, properties.requiredGroupSizeY,
                         properties.requiredGroupSizeZ};
    for (size_t i = 0; i < local.size() && required[0]; ++i)
        if ((required[i] && local[i] != required[i]) || global[i] % local[i])
            fail(PI_ERROR_INVALID_WORK_SIZE, "kernel '", limits.kernel,
                 "' is compiled for groups of ", required[0], " x ", required[1], " x ",
                 required[2], "; local_size[", i, "] is ", local[i], " and global_size[", i, "] ",
                 global[i]);
}

WorkSize read_work_size(const Kernel &kernel, const Device &device,
                        const pi_kernel_launch_desc &desc, bool count_alone = false) {
    const WorkLimits limits = limits_of(device, kernel);
    const Size3 global = read_global_size(desc, limits);
    Kernel::Function &function = kernel.function(device);
    const bool cooperative = desc.flags & PI_LAUNCH_COOPERATIVE;
    std::lock_guard lock(function.mutex);
    const auto resident = [&](const WorkSize &work) { return resident_groups(function, work); };
    const WorkSize work = has_local_size(desc)
                              ? work_of(global, read_local_size(desc, global, limits))
                          : cooperative && !function.properties.requiredGroupSizeX
                              ? choose_cooperative_groups(global, limits, resident)
                              : work_of(global, choose_local(function, global, limits));
    check_required(function, global, work.local, limits);
    if (count_alone)
        return work;
    check_group_counts(work, global, limits);
    if (cooperative)
        check_resident(work, resident(work), limits);
    return work;
}

class LaunchCommand final : public PlainCommand {
public:
    LaunchCommand(const Target &target, Kernel &kernel, const pi_kernel_launch_desc &desc)
        : PlainCommand(target.queue), kernel_(target, kernel),
          function_(kernel.function(target.queue.device())), arguments_(target, kernel, desc),
          flags_(desc.flags), offset_{desc.global_offset[0], desc.global_offset[1],
                                      desc.global_offset[2]},
          work_(read_work_size(kernel, target.queue.device(), desc)) {
        // Arguments that the driver refuses are an error of the call.
        std::lock_guard lock(function_.mutex);
        set_arguments();
    }

private:
    /// Under the function's mutex. On failure the driver's kernel has some of them.
    void set_arguments() {
        function_.set_for = nullptr;
        arguments_.set(function_, kernel_->name());
        function_.set_for = this;
    }

    void issue(Submission &submission) override {
        const Api &ze = submission.api();
        std::lock_guard lock(function_.mutex);
        if (function_.set_for != this || function_.given)
            set_arguments();
        Place &place = submission.place();
        set_group_size(function_, work_.local);
        set_once(function_, function_.indirect, indirect(), [&] {
            place.check(ze.zeKernelSetIndirectAccess(function_.id, indirect()),
                        "zeKernelSetIndirectAccess");
        });
        if (place.device().global_offset())
            set_once(function_, function_.offset, offset_, [&] {
                place.check(ze.zeKernelSetGlobalOffsetExp(function_.id, narrow(offset_[0]),
                                                          narrow(offset_[1]), narrow(offset_[2])),
                            "zeKernelSetGlobalOffsetExp");
            });
        const ze_group_count_t groups{narrow(work_.groups[0]), narrow(work_.groups[1]),
                                      narrow(work_.groups[2])};
        const bool cooperative = flags_ & PI_LAUNCH_COOPERATIVE;
        submission.whole(
            cooperative ? "zeCommandListAppendLaunchCooperativeKernel"
                        : "zeCommandListAppendLaunchKernel",
            [&](const Submission::Order &order) {
                const auto launch = cooperative ? ze.zeCommandListAppendLaunchCooperativeKernel
                                                : ze.zeCommandListAppendLaunchKernel;
                return launch(submission.list(), function_.id, &groups, order.signal,
                              order.wait_count, order.waits);
            },
            "kernel '", kernel_->name(), "'");
    }
    ze_kernel_indirect_access_flags_t indirect() const {
        return (flags_ & PI_LAUNCH_INDIRECT_USM_HOST ? ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST : 0) |
               (flags_ & PI_LAUNCH_INDIRECT_USM_DEVICE ? ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE
                                                       : 0) |
               (flags_ & PI_LAUNCH_INDIRECT_USM_SHARED ? ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED : 0);
    }

    const CommandRef<Kernel> kernel_;
    Kernel::Function &function_;
    const Arguments arguments_;
    const uint64_t flags_;
    const Size3 offset_;
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
        queue.device().engines().cooperative ? uint64_t{PI_LAUNCH_COOPERATIVE} : uint64_t{0};
    check_flags(known.flags,
                PI_COMMAND_BLOCKING | cooperative | PI_LAUNCH_INDIRECT_USM_HOST |
                    PI_LAUNCH_INDIRECT_USM_DEVICE | PI_LAUNCH_INDIRECT_USM_SHARED,
                "flags");
    if (known.cluster_size[0] || known.cluster_size[1] || known.cluster_size[2])
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "cluster_size is set; Level Zero has no clusters");
    if (known.local_memory_size)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "local_memory_size is ", known.local_memory_size,
             "; Level Zero supports work-group memory only as PI_ARGUMENT_LOCAL");
    for (const uint64_t offset : known.global_offset)
        if (offset > UINT32_MAX)
            fail(PI_ERROR_INVALID_WORK_SIZE, "global_offset is ", offset,
                 "; Level Zero supports 32 bits");
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
        enqueue_list<LaunchCommand>(
            self, {known.flags, known.type, wait_count, wait_list, out_event}, kernel, known);
    });
}

pi_result PI_CALL piKernelGetSuggestedLocalSize(pi_queue queue, const pi_kernel_launch_desc *desc,
                                                uint64_t out_local_size[3]) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_size_query(desc);
        require(out_local_size, "out_local_size");
        const Kernel &kernel = checked_kernel(self, known.kernel);
        const WorkSize work = read_work_size(kernel, self.device(), known);
        std::copy(work.local.begin(), work.local.end(), out_local_size);
    });
}

pi_result PI_CALL piKernelGetMaxCooperativeGroups(pi_queue queue, const pi_kernel_launch_desc *desc,
                                                  uint32_t *out_count) {
    return call<Queue>(queue, [&](Queue &self) {
        auto known = read_launch(self, desc);
        require(out_count, "out_count");
        if (!self.device().engines().cooperative)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, self.device().name(),
                 " has no cooperative launches");
        Kernel &kernel = checked_kernel(self, known.kernel);
        known.flags |= PI_LAUNCH_COOPERATIVE;
        const WorkSize work = read_work_size(kernel, self.device(), known, true);
        Kernel::Function &function = kernel.function(self.device());
        std::lock_guard lock(function.mutex);
        *out_count = static_cast<uint32_t>(resident_groups(function, work));
    });
}

} // namespace entries
} // namespace pi::level_zero
