// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Connections between places. A buffer is an allocation on its device. Two contexts on one device
// are the same to the driver; between two devices the driver decides whether to grant access.
#pragma once

#include "context.hpp"

#include <pi/sdk/connection.hpp>

namespace pi::cuda {

struct Place {
    Device &device;
    Context &context;
    Primary &primary = context.primary(device);
};

/// For buffers in scope 0. The first query for a pair of devices enables access.
sdk::ConnectionAnswer connect_buffers(const Place &src, const Place &dst);
pi_memory_connection_info describe_connection(const Place &src, const Place &dst,
                                              const pi_memory_connection_query &query);

/// Channels between the device and host memory: one for each direction of its slot, whatever the
/// other end is. Empty where the device's memory is the host's.
std::vector<uint64_t> to_host_channels(const Device &device);
std::vector<uint64_t> from_host_channels(const Device &device);

using Connections =
    sdk::connection_entries<Device, Context, Place, connect_buffers, describe_connection>;

} // namespace pi::cuda
