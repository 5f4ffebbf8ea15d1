// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's side of the sdk's USM. The kinds differ only in what queries return: host and
// devices address one memory, so commands can use the USM of every context and device of the
// instance.
#pragma once

#include "queue.hpp"
#include "storage.hpp"

#include <pi/sdk/usm.hpp>

namespace pi::host {

struct Usm {
    using Context = host::Context;
    using Device = host::Device;
    using Queue = host::Queue;
    using Memory = Storage;
    static constexpr bool across_contexts = true;
    static constexpr uint64_t known_requirements =
        PI_MEM_REQUIRE_CONTIGUOUS | PI_MEM_REQUIRE_PINNED;

    static sdk::UsmTable<Memory> &table(const Context &context);
    static void require(const Context &) {} // every device has USM
    static void require(const Queue &) {}
    static Device &owner(const Context &context, pi_device device, pi_usm_kind);
    static std::string name(const Device &device);
    static void check_scope(const Device &, uint32_t scope);
    static void check_requirements(uint64_t requirements, uint32_t scope);
    static void check_poolable(uint32_t scope);
    static uint64_t alignment(const Device &, uint64_t asked);
    static uint64_t min_alignment(const Device &) { return host::min_alignment; }
    static uint64_t max_alignment(const Device &) { return host::max_alignment; }
    static Memory allocate(Context &, Device &device, pi_usm_kind, uint64_t size,
                           uint64_t alignment, uint64_t requirements) {
        return Storage::allocate(device, size, alignment, requirements);
    }
    template <class Run>
    static void enqueue(Queue &queue, const sdk::EnqueueArguments &arguments, Run run) {
        queue.enqueue(arguments, Cost::SMALL, std::move(run));
    }
};

} // namespace pi::host
