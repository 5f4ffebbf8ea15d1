// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernel launches. The vendor's kernel holds its arguments, PI's does not: a launch sets them under
// the kernel's mutex right before it enqueues.
#include "arguments.hpp"
#include "entries.hpp"
#include "submission.hpp"

#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/launch.hpp>

#include <algorithm>

namespace pi::opencl {

using namespace sdk;

namespace {

struct WorkSize {
    cl_uint dimensions = 0;
    std::array<size_t, 3> offset{}, global{1, 1, 1}, local{};
    bool has_local = false;
};

/// The number of work-items, per dimension with its offset and in total, must fit 64 bits.
void check_extent(const Device &device, const pi_kernel_launch_desc &desc, cl_uint i) {
    uint64_t end = 0, total = 1;
    bool overflows = __builtin_add_overflow(desc.global_offset[i], desc.global_size[i], &end);
    for (cl_uint k = 0; k <= i; ++k)
        overflows = __builtin_mul_overflow(total, desc.global_size[k], &total) || overflows;
    if (overflows)
        fail(PI_ERROR_INVALID_WORK_SIZE, "global_offset[", i, "] ", desc.global_offset[i],
             " and global_size[", i, "] ", desc.global_size[i], " exceed 64 bits of work-items");
    if (end > UINT32_MAX && device.quirk(QUIRK_32_BIT_WORK_SIZES))
        fail(PI_ERROR_INVALID_WORK_SIZE, "global_offset[", i, "] + global_size[", i, "] is ", end,
             "; ", device.name(), " counts work-items in 32 bits");
}

WorkSize read_work_size(Kernel &kernel, const Device &device, const pi_kernel_launch_desc &desc) {
    if (desc.dimensions < 1 || desc.dimensions > 3)
        fail(PI_ERROR_INVALID_WORK_SIZE, "dimensions is ", desc.dimensions, "; 1 to 3 is needed");
    const Kernel::Limits &limits = kernel.limits(device);
    WorkSize work;
    work.dimensions = desc.dimensions;
    uint64_t group = 1;
    for (cl_uint i = 0; i < desc.dimensions; ++i) {
        if (!desc.global_size[i])
            fail(PI_ERROR_INVALID_WORK_SIZE, "global_size[", i, "] is 0; at least 1 is needed");
        check_extent(device, desc, i);
        work.offset[i] = desc.global_offset[i];
        work.global[i] = desc.global_size[i];
        work.local[i] = desc.local_size[i];
        work.has_local = work.has_local || desc.local_size[i];
    }
    // If the kernel requires a size, drivers choose none, or a wrong one.
    if (!work.has_local && limits.compiled[0]) {
        std::copy(limits.compiled.begin(), limits.compiled.end(), work.local.begin());
        work.has_local = true;
    }
    for (cl_uint i = 0; work.has_local && i < desc.dimensions; ++i) {
        if (!work.local[i])
            fail(PI_ERROR_INVALID_WORK_SIZE, "local_size[", i,
                 "] is 0, but another dimension's is not; set all or none");
        if (work.local[i] > limits.max_items[i] ||
            __builtin_mul_overflow(group, work.local[i], &group) || group > limits.max_group)
            fail(PI_ERROR_INVALID_WORK_SIZE, "local_size[", i, "] is ", work.local[i], "; kernel '",
                 kernel.name(), "' on ", device.name(), " has at most ", limits.max_items[i],
                 " there and ", limits.max_group, " in a group");
        if (limits.compiled[0] && work.local[i] != limits.compiled[i])
            fail(PI_ERROR_INVALID_WORK_SIZE, "local_size[", i, "] is ", work.local[i], "; kernel '",
                 kernel.name(), "' is compiled for ", limits.compiled[i]);
        if (!device.non_uniform_groups() && work.global[i] % work.local[i])
            fail(PI_ERROR_INVALID_WORK_SIZE, "global_size[", i, "] is ", work.global[i],
                 ", not a multiple of local_size[", i, "], ", work.local[i], ": ", device.name(),
                 " lacks PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS");
    }
    return work;
}

class LaunchCommand final : public VendorCommand {
public:
    /// `usm_kinds`: bits 1 << PI_USM_ of the USM that the kernel accesses indirectly.
    LaunchCommand(const Target &target, Kernel &kernel, const pi_kernel_launch_desc &desc,
                  uint32_t usm_kinds)
        : VendorCommand(target.queue), kernel_(target, kernel),
          work_(read_work_size(kernel, target.queue.device(), desc)),
          arguments_(target, kernel, desc), usm_kinds_(usm_kinds) {}

private:
    /// Arguments set here are set again only if another launch came between.
    void prepare() override {
        std::lock_guard lock(kernel_->mutex());
        arguments_.set();
    }
    void issue(Submission &submission) override {
        std::lock_guard lock(kernel_->mutex());
        try {
            arguments_.set();
            enqueue(submission);
        } catch (...) {
            // After a refused launch the arguments that the driver has are unknown.
            kernel_->forget_arguments();
            throw;
        }
    }
    void enqueue(Submission &submission) {
        const auto launch = [&] {
            submission.add("clEnqueueNDRangeKernel", queue().api().clEnqueueNDRangeKernel,
                           kernel_->id(), work_.dimensions, work_.offset.data(),
                           work_.global.data(), work_.has_local ? work_.local.data() : nullptr);
        };
        if (usm_kinds_ || kernel_->indirect().kinds)
            queue().device().platform().usm()->launch(*kernel_, usm_kinds_, launch);
        else
            launch();
    }

    const CommandRef<Kernel> kernel_;
    const WorkSize work_;
    Arguments arguments_;
    const uint32_t usm_kinds_;
};

/// The kernel, checked for the queue.
Kernel &checked_kernel(const Queue &queue, pi_kernel handle) {
    Kernel &kernel = checked<Kernel>(queue.host(), handle, "kernel");
    if (&kernel.context() != &queue.context())
        fail(PI_ERROR_INVALID_KERNEL, "kernel '", kernel.name(), "' is of ",
             kernel.context().description(), ", the queue of ", queue.context().description());
    return kernel;
}

constexpr uint64_t indirect_flags =
    PI_LAUNCH_INDIRECT_USM_HOST | PI_LAUNCH_INDIRECT_USM_DEVICE | PI_LAUNCH_INDIRECT_USM_SHARED;

/// The PI_LAUNCH_INDIRECT_ flags that the device supports.
uint64_t indirect_usm(const Device &device) {
    return device.usm_kinds() ? indirect_flags : 0;
}
/// The kinds of those flags, as bits 1 << PI_USM_.
uint32_t reached_usm(uint64_t flags) {
    static_assert(PI_LAUNCH_INDIRECT_USM_HOST == 1 << PI_USM_HOST << 8 &&
                  PI_LAUNCH_INDIRECT_USM_DEVICE == 1 << PI_USM_DEVICE << 8 &&
                  PI_LAUNCH_INDIRECT_USM_SHARED == 1 << PI_USM_SHARED << 8);
    return static_cast<uint32_t>((flags & indirect_flags) >> 8);
}

uint64_t largest_divisor(uint64_t of, uint64_t most) {
    for (uint64_t candidate = std::min(of, most); candidate > 1; --candidate)
        if (of % candidate == 0)
            return candidate;
    return 1;
}

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueKernelLaunch(pi_queue queue, const pi_kernel_launch_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_launch_desc(desc);
        check_flags(known.flags, PI_COMMAND_BLOCKING | indirect_usm(self.device()), "flags");
        Kernel &kernel = checked_kernel(self, known.kernel);
        if (known.cluster_size[0] || known.cluster_size[1] || known.cluster_size[2])
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "cluster_size is set; OpenCL has no clusters");
        if (known.local_memory_size)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "local_memory_size is ", known.local_memory_size,
                 "; OpenCL supports work-group memory only as PI_ARGUMENT_LOCAL");
        enqueue_vendor<LaunchCommand>(self,
                                      {known.flags, known.type, wait_count, wait_list, out_event},
                                      kernel, known, reached_usm(known.flags));
    });
}

pi_result PI_CALL piKernelGetSuggestedLocalSize(pi_queue queue, const pi_kernel_launch_desc *desc,
                                                uint64_t out_local_size[3]) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_size_query(desc);
        require(out_local_size, "out_local_size");
        Kernel &kernel = checked_kernel(self, known.kernel);
        const WorkSize work = read_work_size(kernel, self.device(), known);
        const Kernel::Limits &limits = kernel.limits(self.device());
        // Drivers prefer whole groups with a long first dimension.
        uint64_t left =
            std::min<uint64_t>(limits.max_group, std::max<uint64_t>(limits.multiple, 256));
        for (size_t i = 0; i < 3; ++i) {
            uint64_t size = 1;
            if (limits.compiled[0])
                size = limits.compiled[i];
            else if (i < work.dimensions)
                size = largest_divisor(work.global[i], std::min(left, limits.max_items[i]));
            left = std::max<uint64_t>(1, left / size);
            out_local_size[i] = size;
        }
    });
}

} // namespace entries
} // namespace pi::opencl
