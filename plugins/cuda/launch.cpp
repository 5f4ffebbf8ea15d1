// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernel launches: the size of the work, and the launch itself.
#include "arguments.hpp"
#include "entries.hpp"
#include "kernel.hpp"

#include <pi/sdk/descriptor.hpp>

#include <algorithm>
#include <array>

namespace pi::cuda {

using namespace sdk;

namespace {

using Size = std::array<uint64_t, 3>;

struct WorkSize {
    Size groups{1, 1, 1}, local{1, 1, 1};
    uint64_t group_items() const { return local[0] * local[1] * local[2]; }
};

uint64_t largest_divisor(uint64_t of, uint64_t most) {
    for (uint64_t candidate = std::min(of, most); candidate > 1; --candidate)
        if (of % candidate == 0)
            return candidate;
    return 1;
}

Size read_global(const pi_kernel_launch_desc &desc) {
    if (desc.dimensions < 1 || desc.dimensions > 3)
        fail(PI_ERROR_INVALID_WORK_SIZE, "dimensions is ", desc.dimensions, "; 1 to 3 is needed");
    Size global{1, 1, 1};
    uint64_t items = 1;
    for (uint32_t i = 0; i < desc.dimensions; ++i) {
        global[i] = desc.global_size[i];
        if (!global[i])
            fail(PI_ERROR_INVALID_WORK_SIZE, "global_size[", i, "] is 0; at least 1 is needed");
        if (__builtin_mul_overflow(items, global[i], &items))
            fail(PI_ERROR_INVALID_WORK_SIZE, "global_size[", i, "] is ", global[i],
                 ": there are more work-items than 64 bits count");
        if (desc.global_offset[i])
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "global_offset[", i, "] is ", desc.global_offset[i],
                 "; CUDA's kernels have no global offset");
    }
    return global;
}

/// Whole groups of about `wanted` work-items, with their first dimension long.
Size choose_local(const Size &global, const Device &device, uint64_t max_group, uint64_t wanted) {
    Size local{1, 1, 1};
    uint64_t left = std::min(max_group, wanted);
    for (size_t i = 0; i < local.size(); ++i) {
        local[i] = largest_divisor(global[i], std::min(left, device.max_items()[i]));
        left = std::max<uint64_t>(1, left / local[i]);
    }
    return local;
}

Size read_local(const pi_kernel_launch_desc &desc, const Size &global, const Device &device,
                const Kernel &kernel) {
    const uint64_t max_group = kernel.function(device).max_group;
    Size local{1, 1, 1};
    uint64_t group = 1;
    for (uint32_t i = 0; i < desc.dimensions; ++i) {
        local[i] = desc.local_size[i];
        if (!local[i])
            fail(PI_ERROR_INVALID_WORK_SIZE, "local_size[", i,
                 "] is 0, but another dimension's is not; set all or none");
        if (local[i] > device.max_items()[i] || __builtin_mul_overflow(group, local[i], &group) ||
            group > max_group)
            fail(PI_ERROR_INVALID_WORK_SIZE, "local_size[", i, "] is ", local[i], "; kernel '",
                 kernel.name(), "' on ", device.name(), " has at most ", device.max_items()[i],
                 " there and ", max_group, " in a group");
        if (global[i] % local[i])
            fail(PI_ERROR_INVALID_WORK_SIZE, "global_size[", i, "] is ", global[i],
                 ", no multiple of local_size[", i, "], ", local[i], ": ", device.name(),
                 " has no PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS");
    }
    return local;
}

bool has_local(const pi_kernel_launch_desc &desc) {
    return std::any_of(desc.local_size, desc.local_size + desc.dimensions,
                       [](uint64_t size) { return size != 0; });
}

/// How many groups of this size are resident together.
uint64_t resident_groups(const Device &device, const Kernel &kernel, uint64_t group_items,
                         uint64_t local_memory) {
    const Kernel::Function &function = kernel.function(device);
    Primary &primary = function.module->primary();
    const Current current(primary);
    int blocks = 0;
    primary.check(primary.api().cuOccupancyMaxActiveBlocksPerMultiprocessor(
                      &blocks, function.id, static_cast<int>(group_items), local_memory),
                  "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return static_cast<uint64_t>(std::max(blocks, 0)) *
           static_cast<uint64_t>(device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
}

WorkSize work_of(const Size &global, const Size &local) {
    WorkSize work;
    work.local = local;
    for (size_t i = 0; i < local.size(); ++i)
        work.groups[i] = global[i] / local[i];
    return work;
}

uint64_t product(const Size &size) {
    return size[0] * size[1] * size[2];
}

/// Of a cooperative launch all groups must be resident together; larger ones are fewer.
WorkSize choose_cooperative(const Size &global, const Device &device, const Kernel &kernel,
                            uint64_t local_memory) {
    const uint64_t max_group = kernel.function(device).max_group;
    WorkSize work;
    for (uint64_t wanted = std::min<uint64_t>(256, max_group);;
         wanted = std::min(2 * wanted, max_group)) {
        work = work_of(global, choose_local(global, device, max_group, wanted));
        if (wanted == max_group ||
            product(work.groups) <=
                resident_groups(device, kernel, work.group_items(), local_memory))
            return work;
    }
}

constexpr uint64_t wanted_group = 256;

WorkSize read_work_size(const Kernel &kernel, const Device &device,
                        const pi_kernel_launch_desc &desc, uint64_t local_memory) {
    const Size global = read_global(desc);
    const bool cooperative = desc.flags & PI_LAUNCH_COOPERATIVE;
    WorkSize work;
    if (has_local(desc))
        work = work_of(global, read_local(desc, global, device, kernel));
    else if (cooperative)
        work = choose_cooperative(global, device, kernel, local_memory);
    else
        work = work_of(
            global, choose_local(global, device, kernel.function(device).max_group, wanted_group));
    for (size_t i = 0; i < work.groups.size(); ++i)
        if (work.groups[i] > device.max_groups()[i])
            fail(PI_ERROR_INVALID_WORK_SIZE, "global_size[", i, "] is ", global[i],
                 ", which groups of ", work.local[i], " make ", work.groups[i], "; ", device.name(),
                 " has at most ", device.max_groups()[i], " there");
    if (cooperative) {
        const uint64_t most = resident_groups(device, kernel, work.group_items(), local_memory);
        if (product(work.groups) > most)
            fail(PI_ERROR_INVALID_WORK_SIZE, "a cooperative launch of ", product(work.groups),
                 " work-groups of ", work.group_items(), "; ", device.name(), " runs ", most,
                 " together");
    }
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

    const Held<Kernel> kernel_;
    Arguments arguments_;
    const bool cooperative_;
    const WorkSize work_;
};

Kernel &checked_kernel(const Queue &queue, pi_kernel handle) {
    Kernel &kernel = checked<Kernel>(queue.host(), handle, "kernel");
    if (&kernel.context() != &queue.context())
        fail(PI_ERROR_INVALID_KERNEL, "kernel '", kernel.name(),
             "' is of another context than the queue");
    static_cast<void>(kernel.function(queue.device()));
    return kernel;
}

pi_kernel_launch_desc read_launch(const Queue &queue, const pi_kernel_launch_desc *desc) {
    auto known = read_desc(desc, PI_TYPE_KERNEL_LAUNCH_DESC);
    const uint64_t cooperative =
        queue.device().cooperative() ? uint64_t{PI_LAUNCH_COOPERATIVE} : uint64_t{0};
    // What a kernel reaches by pointers inside memory needs nothing to be said to the driver.
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
        auto known = read_launch(self, desc);
        require(out_local_size, "out_local_size");
        std::fill(std::begin(known.local_size), std::end(known.local_size), 0); // not read here
        const Kernel &kernel = checked_kernel(self, known.kernel);
        const WorkSize work = read_work_size(kernel, self.device(), known, known.local_memory_size);
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
        const Size global = read_global(known);
        const uint64_t local_memory = Arguments::local_memory_of(known);
        const WorkSize work =
            has_local(known) ? work_of(global, read_local(known, global, self.device(), kernel))
                             : choose_cooperative(global, self.device(), kernel, local_memory);
        *out_count = static_cast<uint32_t>(
            resident_groups(self.device(), kernel, work.group_items(), local_memory));
    });
}

} // namespace entries
} // namespace pi::cuda
