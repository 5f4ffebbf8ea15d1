// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The connection query where the loader answers instead of a plugin. The signatures match the
// exported functions, so that these tail-jump here.
#pragma once

#include <pi/pi.h>

namespace pi::loader {

/// For calls in which a handle or the output is NULL.
[[gnu::cold]] pi_result refuse_null_connection(pi_device src_device, pi_context src_context,
                                               pi_device dst_device, pi_context dst_context,
                                               pi_memory_connection *out_connection) noexcept;
[[gnu::cold]] pi_result refuse_null_connection_info(pi_device src_device, pi_context src_context,
                                                    pi_device dst_device, pi_context dst_context,
                                                    const pi_memory_connection_query *query,
                                                    pi_memory_connection_info *out_info) noexcept;

/// For handles of several plugin instances: NONE, or PI_ERROR_INVALID_DEVICE if a device and its
/// context are of different instances. No plugin is called.
[[gnu::cold]] pi_result connection_between_plugins(pi_device src_device, pi_context src_context,
                                                   pi_device dst_device, pi_context dst_context,
                                                   pi_memory_connection *out_connection) noexcept;
[[gnu::cold]] pi_result
connection_info_between_plugins(pi_device src_device, pi_context src_context, pi_device dst_device,
                                pi_context dst_context, const pi_memory_connection_query *query,
                                pi_memory_connection_info *out_info) noexcept;

/// Refuses NULL, handles of a wrong kind, and a device and context of different plugin instances.
pi_result check_connection_ends(const char *function, pi_device src_device, pi_context src_context,
                                pi_device dst_device, pi_context dst_context,
                                const pi_memory_connection_info *out_info) noexcept;
pi_result check_connection_output(const char *function,
                                  const pi_memory_connection_info *out_info) noexcept;
/// Copies as much of `info` as fits behind the caller's header, and zeros the rest.
void write_connection_output(const pi_memory_connection_info &info,
                             pi_memory_connection_info *out_info) noexcept;

namespace defaults {

/// piGetMemoryConnectionInfo on top of piGetMemoryConnection: answers for buffers in scope 0, and
/// refuses everything that function does not cover.
pi_result PI_CALL piGetMemoryConnectionInfo(pi_device src_device, pi_context src_context,
                                            pi_device dst_device, pi_context dst_context,
                                            const pi_memory_connection_query *query,
                                            pi_memory_connection_info *out_info) noexcept;

} // namespace defaults
} // namespace pi::loader
