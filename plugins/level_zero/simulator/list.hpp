// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "line.hpp"

namespace pi::level_zero::simulated {

/// The groups of queues: the first does all, the second copies alone.
constexpr std::uint32_t compute_group = 0, copy_group = 1, group_count = 2;
constexpr std::uint32_t queues_of_group[group_count] = {4, 2};
/// The largest pattern of a fill: some that PI has are longer.
constexpr size_t most_pattern[group_count] = {64, 16};

struct Queue : Object {
    ze_command_queue_handle_t handle = nullptr;
    std::shared_ptr<Context> context;
    Device *device = nullptr;
    std::uint32_t group = 0;
    bool synchronous = false;
    std::shared_ptr<Line> line;
};

struct Fence : Object {
    ze_fence_handle_t handle = nullptr;
    std::shared_ptr<Context> context;
    std::shared_ptr<Queue> queue;
    bool signalled = false;
};

struct List : Object {
    ze_command_list_handle_t handle = nullptr;
    std::shared_ptr<Context> context;
    Device *device = nullptr;
    std::uint32_t group = 0;
    std::shared_ptr<Queue> queue;  ///< of an immediate list
    bool closed = false;           ///< of a regular one
    std::vector<Command> commands; ///< of a regular one
};

/// What every append has at its end.
struct Order {
    ze_event_handle_t signal = nullptr;
    std::uint32_t count = 0;
    ze_event_handle_t *waits = nullptr;
};

/// Appends what `fill` makes of the command: a regular list keeps it, an immediate one submits it.
ze_result_t append(ze_command_list_handle_t list, const Order &order,
                   const std::function<void(List &, Command &)> &fill);

/// The events of an array. Throws INVALID_SIZE without one, INVALID_SYNCHRONIZATION_OBJECT for what is no event.
std::vector<std::shared_ptr<Event>> events_of(std::uint32_t count, ze_event_handle_t *handles);

/// A queue of the device, with its line; throws what is wrong with the description.
std::shared_ptr<Queue> make_queue(ze_context_handle_t context, ze_device_handle_t device,
                                  const ze_command_queue_desc_t *description);

} // namespace pi::level_zero::simulated
