// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What memory of one place is to another: a buffer is an allocation on its device; two contexts on
// one device are the same to the driver, and between two devices it is the driver's to grant access.
#pragma once

#include "context.hpp"

#include <pi/sdk/connection.hpp>

namespace pi::cuda {

struct Place {
    Device &device;
    Context &context;
    Primary &primary = context.primary(device);
};

/// Of buffers in scope 0. The first question of a pair of devices enables access.
sdk::ConnectionAnswer connect_buffers(const Place &src, const Place &dst);
pi_memory_connection_info describe_connection(const Place &src, const Place &dst,
                                              const pi_memory_connection_query &query);

/// What goes from the device to the host's memory, and what comes from there, each have the slot's direction to
/// themselves, whatever is at its other end. None where the device's memory is the host's.
std::vector<uint64_t> to_host_channels(const Device &device);
std::vector<uint64_t> from_host_channels(const Device &device);

using Connections =
    sdk::connection_entries<Device, Context, Place, connect_buffers, describe_connection>;

} // namespace pi::cuda
