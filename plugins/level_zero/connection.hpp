// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Connections between places. Within a context, devices use each other's memory as far as both of
// the driver's queries say so. The plugin copies between contexts, and where there is no access;
// nothing connects different drivers.
#pragma once

#include "context.hpp"

#include <pi/sdk/connection.hpp>

namespace pi::level_zero {

struct ConnectedPlace {
    Device &device;
    Context &context;
    Place &place = context.place(device);
};

/// For buffers in scope 0.
sdk::ConnectionAnswer connect_buffers(const ConnectedPlace &src, const ConnectedPlace &dst);
pi_memory_connection_info describe_connection(const ConnectedPlace &src, const ConnectedPlace &dst,
                                              const pi_memory_connection_query &query);

using Connections =
    sdk::connection_entries<Device, Context, ConnectedPlace, connect_buffers, describe_connection>;

} // namespace pi::level_zero
