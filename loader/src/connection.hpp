// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The connection query where the loader answers instead of a plugin. The signatures are those of the
// exported functions, so that these tail-jump here.
#pragma once

#include <pi/pi.h>

namespace pi::loader {

/// One of the handles, or the output, is NULL.
[[gnu::cold]] pi_result refuse_null_connection(pi_device src_device, pi_context src_context,
                                               pi_device dst_device, pi_context dst_context,
                                               pi_memory_connection *out_connection) noexcept;
[[gnu::cold]] pi_result refuse_null_connection_info(pi_device src_device, pi_context src_context,
                                                    pi_device dst_device, pi_context dst_context,
                                                    const pi_memory_connection_query *query,
                                                    pi_memory_connection_info *out_info) noexcept;

/// The handles are of more than one plugin instance: NONE where each end is of one, and
/// PI_ERROR_INVALID_DEVICE where a device and its context are of two. No plugin is asked.
[[gnu::cold]] pi_result connection_between_plugins(pi_device src_device, pi_context src_context,
                                                   pi_device dst_device, pi_context dst_context,
                                                   pi_memory_connection *out_connection) noexcept;
[[gnu::cold]] pi_result
connection_info_between_plugins(pi_device src_device, pi_context src_context, pi_device dst_device,
                                pi_context dst_context, const pi_memory_connection_query *query,
                                pi_memory_connection_info *out_info) noexcept;

/// Refuses what is NULL, is not of its kind, or is a device and a context of two plugin instances.
pi_result check_connection_ends(const char *function, pi_device src_device, pi_context src_context,
                                pi_device dst_device, pi_context dst_context,
                                const pi_memory_connection_info *out_info) noexcept;
pi_result check_connection_output(const char *function,
                                  const pi_memory_connection_info *out_info) noexcept;
/// Writes what fits of `info` behind the caller's header, and zeros beyond it.
void write_connection_output(const pi_memory_connection_info &info,
                             pi_memory_connection_info *out_info) noexcept;

namespace defaults {

/// piGetMemoryConnectionInfo on top of piGetMemoryConnection: right for buffers in scope 0, refused
/// for what that function does not speak of.
pi_result PI_CALL piGetMemoryConnectionInfo(pi_device src_device, pi_context src_context,
                                            pi_device dst_device, pi_context dst_context,
                                            const pi_memory_connection_query *query,
                                            pi_memory_connection_info *out_info) noexcept;

} // namespace defaults
} // namespace pi::loader
