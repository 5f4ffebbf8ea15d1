// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's part of the sdk's USM, which is valid in its own context only.
#pragma once

#include "submission.hpp"

#include <pi/sdk/usm.hpp>

namespace pi::opencl {

/// A command that calls run() once all its dependencies are complete.
template <class Run>
class OrderedCommand final : public VendorCommand {
public:
    OrderedCommand(Queue &queue, Run run) : VendorCommand(queue), run_(std::move(run)) {}

private:
    void issue(Submission &submission) override { submission.add_marker(); }
    void completed() override { run_(); }

    Run run_;
};

struct Usm {
    using Context = opencl::Context;
    using Device = opencl::Device;
    using Queue = opencl::Queue;
    using Memory = UsmMemory;
    static constexpr bool across_contexts = false;
    static constexpr uint64_t known_requirements =
        PI_MEM_REQUIRE_CONTIGUOUS | PI_MEM_REQUIRE_PINNED;

    static sdk::UsmTable<Memory> &table(const Context &context) { return context.instance().usm(); }
    static void require(const Context &context);
    static void require(const Queue &queue) { require(queue.device()); }
    static void require(const Device &device);
    static Device &owner(const Context &context, pi_device device, pi_usm_kind kind);
    static std::string name(const Device &device) { return device.name(); }
    static void check_scope(const Device &device, uint32_t scope);
    static uint64_t alignment(const Device &device, uint64_t asked);
    static uint64_t min_alignment(const Device &device) { return device.min_alignment(); }
    static uint64_t max_alignment(const Device &) { return uint64_t{2} * 1024 * 1024; }
    static Memory allocate(Context &context, Device &device, pi_usm_kind kind, uint64_t size,
                           uint64_t alignment, uint64_t requirements);
    template <class Run>
    static void enqueue(Queue &queue, const sdk::EnqueueArguments &arguments, Run run) {
        enqueue_vendor<OrderedCommand<Run>>(queue, arguments, std::move(run));
    }
};

/// Checks a kernel argument: PI_ERROR_UNSUPPORTED_FEATURE where the queue's device has no USM,
/// PI_ERROR_INVALID_USM_POINTER for USM of another context. Pointers outside of USM are left to the
/// driver, since a kernel may also be given the end of a range. Returns whether it is USM.
bool check_usm_argument(const Queue &queue, const void *pointer, const sdk::ArgumentName &name);

} // namespace pi::opencl
