// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "object.hpp"

#include <set>

namespace pi::level_zero::simulated {

struct EventPool : Object {
    ze_event_pool_handle_t handle = nullptr;
    std::shared_ptr<Context> context;
    ze_event_pool_flags_t flags = 0;
    std::uint32_t count = 0;
    std::set<std::uint32_t> used; ///< indices of live events
};

struct Event : Object {
    ze_event_handle_t handle = nullptr;
    std::shared_ptr<Context> context;
    std::shared_ptr<EventPool> pool;
    std::uint32_t index = 0;
    bool signalled = false;
    ze_kernel_timestamp_result_t times{};
};

/// The devices' clock, in ticks.
std::uint64_t device_ticks();

/// Nanoseconds of a tick, and the number of bits after which counters wrap.
constexpr std::uint64_t tick_nanoseconds = 80;
constexpr std::uint32_t timestamp_bits = 40, kernel_timestamp_bits = 32;

constexpr std::uint64_t low_bits(std::uint64_t ticks, std::uint32_t bits) {
    return ticks & ((std::uint64_t(1) << bits) - 1);
}

} // namespace pi::level_zero::simulated
