// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What memory of one place is to another. In one context devices use each other's memory as far as the driver says so,
// whichever way it is asked; between contexts, and without access, the plugin copies; between drivers nobody does.
#pragma once

#include "context.hpp"

#include <pi/sdk/connection.hpp>

namespace pi::level_zero {

struct ConnectedPlace {
    Device &device;
    Context &context;
    Place &place = context.place(device);
};

/// Of buffers in scope 0.
sdk::ConnectionAnswer connect_buffers(const ConnectedPlace &src, const ConnectedPlace &dst);
pi_memory_connection_info describe_connection(const ConnectedPlace &src, const ConnectedPlace &dst,
                                              const pi_memory_connection_query &query);

using Connections =
    sdk::connection_entries<Device, Context, ConnectedPlace, connect_buffers, describe_connection>;

} // namespace pi::level_zero
