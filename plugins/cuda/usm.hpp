// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's part of the sdk's USM. Addresses are valid on the host and all devices. All of them
// use HOST and SHARED; DEVICE is used by its own device and those to which the driver gives access.
// All contexts on a device share its primary context, so one context's USM is usable in the others.
#pragma once

#include "submission.hpp"

#include <pi/sdk/usm.hpp>

namespace pi::cuda {

/// A command that calls run() once all its dependencies are complete.
template <class Run>
class OrderedCommand final : public StreamCommand {
public:
    OrderedCommand(const Target &target, Run run)
        : StreamCommand(target.queue, true), run_(std::move(run)) {}

private:
    void issue(Submission &) override {}
    void completed() override { run_(); }

    Run run_;
};

struct Usm {
    using Context = cuda::Context;
    using Device = cuda::Device;
    using Queue = cuda::Queue;
    using Memory = Storage;
    static constexpr bool across_contexts = true; // check_usable() checks access
    static constexpr uint64_t known_requirements =
        PI_MEM_REQUIRE_CONTIGUOUS | PI_MEM_REQUIRE_PINNED;

    static sdk::UsmTable<Memory> &table(const Context &context) { return context.instance().usm(); }
    static void require(const Context &) {} // every device has USM
    static void require(const Queue &) {}
    static Device &owner(const Context &context, pi_device device, pi_usm_kind kind);
    static std::string name(const Device &device) { return device.name(); }
    static void check_scope(const Device &device, uint32_t scope);
    static uint64_t alignment(const Device &device, uint64_t asked);
    static uint64_t min_alignment(const Device &) { return cuda::min_alignment; }
    static uint64_t max_alignment(const Device &) { return cuda::max_alignment; }
    static Memory allocate(Context &context, Device &device, pi_usm_kind kind, uint64_t size,
                           uint64_t alignment, uint64_t requirements);
    static Memory allocate_pooled(Context &context, Device &device, pi_usm_kind kind, uint64_t size,
                                  uint64_t alignment);
    static const void *source(const Device &device, pi_usm_kind kind) {
        return kind == PI_USM_HOST ? nullptr : &device;
    }
    template <class Run>
    static void enqueue(Queue &queue, const sdk::EnqueueArguments &arguments, Run run) {
        enqueue_stream<OrderedCommand<Run>>(queue, arguments, std::move(run));
    }
};

using UsmRange = sdk::UsmRange<Storage>;

/// The primary context that owns the range; NULL for memory that all devices use.
Primary *owner_of(const UsmRange &range);
/// PI_ERROR_INVALID_USM_POINTER if the queue's device has no access to the range.
void check_usable(const Queue &queue, const UsmRange &range, const void *pointer,
                  const sdk::ArgumentName &name);
/// The same check for a kernel argument. Pointers outside of USM are left to the driver, since a
/// kernel may also be given the end of a range.
void check_usm_argument(const Queue &queue, const void *pointer, const sdk::ArgumentName &name);

} // namespace pi::cuda
