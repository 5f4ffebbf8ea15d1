// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "line.hpp"

namespace pi::level_zero::simulated {

/// The queue groups: the first supports all commands, the second copies only.
constexpr std::uint32_t compute_group = 0, copy_group = 1, group_count = 2;
constexpr std::uint32_t queues_of_group[group_count] = {4, 2};
/// The longest pattern of a fill; PI has longer ones.
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
    std::shared_ptr<Queue> queue;  ///< an immediate list's
    bool closed = false;           ///< regular lists only
    std::vector<Command> commands; ///< regular lists only
};

/// The last parameters of every append function.
struct Order {
    ze_event_handle_t signal = nullptr;
    std::uint32_t count = 0;
    ze_event_handle_t *waits = nullptr;
};

/// Appends the command that `fill` completes: a regular list stores it, an immediate one submits
/// it.
ze_result_t append(ze_command_list_handle_t list, const Order &order,
                   const std::function<void(List &, Command &)> &fill);

/// The events of an array. Throws INVALID_SIZE without one, INVALID_SYNCHRONIZATION_OBJECT for
/// anything but an event.
std::vector<std::shared_ptr<Event>> events_of(std::uint32_t count, ze_event_handle_t *handles);

/// Creates a queue of the device, with its line; throws the code of an error in the descriptor.
std::shared_ptr<Queue> make_queue(ze_context_handle_t context, ze_device_handle_t device,
                                  const ze_command_queue_desc_t *descriptor);

} // namespace pi::level_zero::simulated
