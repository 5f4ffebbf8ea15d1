// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exported functions: a null check, a load, a tail jump. All other code is out of line and also
// reached by a jump, so that no stub needs a frame. (A test reads the machine code.)

#include "connection.hpp"
#include "error.hpp"
#include "functions.hpp"

namespace pi::loader {
namespace {

[[gnu::cold, gnu::noinline]] pi_result refuse_null(const char *function, pi_kind kind,
                                                   pi_result code) {
    return fail(code, "{}: {} is NULL", function, kind_name(kind));
}

template <auto Slot, typename Handle, typename... Rest>
[[gnu::always_inline]] inline pi_result forward(const char *function, Handle handle, Rest... rest) {
    if (handle == nullptr) [[unlikely]]
        return refuse_null(function, HandleTraits<Handle>::kind, HandleTraits<Handle>::error);
    return (dispatch_of(handle)->*Slot)(handle, rest...);
}

} // namespace
} // namespace pi::loader

#define PI_DEFINITION_BODY(name, ...)                                                              \
    return pi::loader::forward<&pi_dispatch::name>(#name, __VA_ARGS__);
#include "definitions.def"

pi_result piGetMemoryConnection(pi_device src_device, pi_context src_context, pi_device dst_device,
                                pi_context dst_context, pi_memory_connection *out_connection) {
    using namespace pi::loader;
    if (src_device == nullptr || src_context == nullptr || dst_device == nullptr ||
        dst_context == nullptr || out_connection == nullptr) [[unlikely]]
        return refuse_null_connection(src_device, src_context, dst_device, dst_context,
                                      out_connection);
    const pi_dispatch *dispatch = dispatch_of(src_device);
    if (dispatch != dispatch_of(src_context) || dispatch != dispatch_of(dst_device) ||
        dispatch != dispatch_of(dst_context)) [[unlikely]]
        return connection_between_plugins(src_device, src_context, dst_device, dst_context,
                                          out_connection);
    return dispatch->piGetMemoryConnection(src_device, src_context, dst_device, dst_context,
                                           out_connection);
}

pi_result piGetMemoryConnectionInfo(pi_device src_device, pi_context src_context,
                                    pi_device dst_device, pi_context dst_context,
                                    const pi_memory_connection_query *query,
                                    pi_memory_connection_info *out_info) {
    using namespace pi::loader;
    if (src_device == nullptr || src_context == nullptr || dst_device == nullptr ||
        dst_context == nullptr || out_info == nullptr) [[unlikely]]
        return refuse_null_connection_info(src_device, src_context, dst_device, dst_context, query,
                                           out_info);
    const pi_dispatch *dispatch = dispatch_of(src_device);
    if (dispatch != dispatch_of(src_context) || dispatch != dispatch_of(dst_device) ||
        dispatch != dispatch_of(dst_context)) [[unlikely]]
        return connection_info_between_plugins(src_device, src_context, dst_device, dst_context,
                                               query, out_info);
    return dispatch->piGetMemoryConnectionInfo(src_device, src_context, dst_device, dst_context,
                                               query, out_info);
}
