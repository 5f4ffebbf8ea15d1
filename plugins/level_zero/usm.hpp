// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's part of the sdk's USM. Allocations belong to their context. All its devices use
// HOST; SHARED and DEVICE are used by their own device and those to which the driver gives access.
#pragma once

#include "submission.hpp"

#include <pi/sdk/usm.hpp>

namespace pi::level_zero {

/// A command that calls run() once all its dependencies are complete.
template <class Run>
class OrderedCommand final : public ListCommand {
public:
    OrderedCommand(const Target &target, Run run)
        : ListCommand(target.queue, true), run_(std::move(run)) {}

private:
    void issue(Submission &) override {}
    void completed() override { run_(); }

    Run run_;
};

struct Usm {
    using Context = level_zero::Context;
    using Device = level_zero::Device;
    using Queue = level_zero::Queue;
    using Memory = Storage;
    static constexpr bool across_contexts = false;
    static constexpr uint64_t known_requirements =
        PI_MEM_REQUIRE_CONTIGUOUS | PI_MEM_REQUIRE_PINNED;

    static sdk::UsmTable<Memory> &table(const Context &context) { return context.instance().usm(); }
    static void require(const Context &) {} // every device has USM
    static void require(const Queue &) {}
    static Device &owner(const Context &context, pi_device device, pi_usm_kind kind);
    static std::string name(const Device &device) { return device.name(); }
    static void check_scope(const Device &device, uint32_t scope);
    static uint64_t alignment(const Device &device, uint64_t asked);
    static uint64_t min_alignment(const Device &) { return level_zero::min_alignment; }
    static uint64_t max_alignment(const Device &) { return level_zero::max_alignment; }
    static Memory allocate(Context &context, Device &device, pi_usm_kind kind, uint64_t size,
                           uint64_t alignment, uint64_t requirements);
    /// Sub-devices share their root device's memory.
    static const void *source(const Device &device, pi_usm_kind kind);
    template <class Run>
    static void enqueue(Queue &queue, const sdk::EnqueueArguments &arguments, Run run) {
        enqueue_list<OrderedCommand<Run>>(queue, arguments, std::move(run));
    }
};

using UsmRange = sdk::UsmRange<Storage>;

/// The place that owns the range; NULL for host memory.
Place *owner_of(const UsmRange &range);
/// PI_ERROR_INVALID_USM_POINTER if the queue's device has no access to the range.
void check_usable(const Queue &queue, const UsmRange &range, const void *pointer,
                  const sdk::ArgumentName &name);
/// The same check for a kernel argument. Pointers outside of USM are left to the driver, since a
/// kernel may also be given the end of a range.
void check_usm_argument(const Queue &queue, const void *pointer, const sdk::ArgumentName &name);

} // namespace pi::level_zero
