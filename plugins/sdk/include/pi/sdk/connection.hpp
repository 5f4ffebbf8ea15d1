// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two connection queries of plugins whose contexts check their devices.
//
// A Place is made of {Device &, Context &}. A Context has checked_device(handle, argument name).
#pragma once

#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/object.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace pi::sdk {

/// A connection and the reason for it, one sentence.
struct ConnectionAnswer {
    pi_memory_connection connection;
    std::string reason;
};

/// Writes the channels of a copy, each of them once. More than PI_CONNECTION_MAX_CHANNELS are
/// PI_ERROR_INTERNAL.
inline void write_channels(pi_memory_connection_info &info, const std::vector<uint64_t> &channels) {
    if (channels.size() > PI_CONNECTION_MAX_CHANNELS)
        fail(PI_ERROR_INTERNAL, "a copy takes ", channels.size(), " channels, the most are ",
             PI_CONNECTION_MAX_CHANNELS);
    std::copy(channels.begin(), channels.end(), info.channels);
}

/// `connect` returns the ConnectionAnswer of two places for buffers in scope 0; `describe` the
/// pi_memory_connection_info of two places and a query.
template <class Device, class Context, class Place, auto connect, auto describe>
struct connection_entries {
    static pi_result PI_CALL get(pi_device src_device, pi_context src_context, pi_device dst_device,
                                 pi_context dst_context, pi_memory_connection *out_connection) {
        return with_places(src_device, src_context, dst_device, dst_context,
                           [&](const Place &src, const Place &dst) {
                               require(out_connection, "out_connection");
                               *out_connection = connect(src, dst).connection;
                           });
    }
    static pi_result PI_CALL get_info(pi_device src_device, pi_context src_context,
                                      pi_device dst_device, pi_context dst_context,
                                      const pi_memory_connection_query *query,
                                      pi_memory_connection_info *out_info) {
        return with_places(
            src_device, src_context, dst_device, dst_context,
            [&](const Place &src, const Place &dst) {
                const auto known = read_optional_desc(query, PI_TYPE_MEMORY_CONNECTION_QUERY);
                write_struct(describe(src, dst, known), PI_TYPE_MEMORY_CONNECTION_INFO, out_info);
            });
    }

private:
    template <class Body>
    static pi_result with_places(pi_device src_device, pi_context src_context, pi_device dst_device,
                                 pi_context dst_context, Body &&body) {
        return call<Device>(src_device, [&](Device &first) {
            Context &src = checked<Context>(first.host(), src_context, "src_context");
            Context &dst = checked<Context>(first.host(), dst_context, "dst_context");
            body(Place{src.checked_device(src_device, "src_device"), src},
                 Place{dst.checked_device(dst_device, "dst_device"), dst});
        });
    }
};

} // namespace pi::sdk
