// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Connections between places. OpenCL's memory belongs to a context; contexts share nothing, and
// platforms know nothing of each other.
#pragma once

#include "context.hpp"

#include <pi/sdk/connection.hpp>

namespace pi::opencl {

struct Place {
    Device &device;
    Context &context;
};

/// For buffers in scope 0.
sdk::ConnectionAnswer connect_buffers(const Place &src, const Place &dst);
pi_memory_connection_info describe_connection(const Place &src, const Place &dst,
                                              const pi_memory_connection_query &query);

using Connections =
    sdk::connection_entries<Device, Context, Place, connect_buffers, describe_connection>;

} // namespace pi::opencl
