// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "connection.hpp"

#include "descriptor.hpp"
#include "enumerators.hpp"
#include "error.hpp"
#include "functions.hpp"
#include "layer.hpp"

namespace pi::loader {
namespace {

constexpr const char *get = "piGetMemoryConnection";
constexpr const char *get_info = "piGetMemoryConnectionInfo";

pi_result refuse_null(const char *function, pi_device src_device, pi_context src_context,
                      pi_device dst_device, pi_context dst_context, const char *output) {
    if (src_device == nullptr)
        return fail(PI_ERROR_INVALID_DEVICE, "{}: src_device is NULL", function);
    if (src_context == nullptr)
        return fail(PI_ERROR_INVALID_CONTEXT, "{}: src_context is NULL", function);
    if (dst_device == nullptr)
        return fail(PI_ERROR_INVALID_DEVICE, "{}: dst_device is NULL", function);
    if (dst_context == nullptr)
        return fail(PI_ERROR_INVALID_CONTEXT, "{}: dst_context is NULL", function);
    return fail(PI_ERROR_INVALID_NULL_POINTER, "{}: {} is NULL", function, output);
}

template <typename Handle>
pi_result check_kind(const char *function, const char *argument, Handle handle) {
    if (header_of(handle)->kind == HandleTraits<Handle>::kind)
        return PI_SUCCESS;
    return fail(HandleTraits<Handle>::error, "{}: {} is a {}, should be a {}", function, argument,
                kind_name(header_of(handle)->kind), kind_name(HandleTraits<Handle>::kind));
}

pi_result check_end(const char *function, const char *end, pi_device device, pi_context context) {
    const bool is_src = end[0] == 's';
    if (const pi_result result = check_kind(function, is_src ? "src_device" : "dst_device", device))
        return result;
    if (const pi_result result =
            check_kind(function, is_src ? "src_context" : "dst_context", context))
        return result;
    if (dispatch_of(device) != dispatch_of(context))
        return fail(PI_ERROR_INVALID_DEVICE,
                    "{}: {}_device and {}_context belong to different plugin instances", function,
                    end, end);
    return PI_SUCCESS;
}

pi_result check_ends(const char *function, pi_device src_device, pi_context src_context,
                     pi_device dst_device, pi_context dst_context) {
    const pi_result result = check_end(function, "src", src_device, src_context);
    return result != PI_SUCCESS ? result : check_end(function, "dst", dst_device, dst_context);
}

// NULL stands for a query of buffers in scope 0.
pi_result read_query(const pi_memory_connection_query *query, pi_memory_connection_query &out) {
    out = {sizeof out, PI_TYPE_MEMORY_CONNECTION_QUERY};
    if (query == nullptr)
        return PI_SUCCESS;
    if (const pi_result result =
            read_descriptor(get_info, "query", query, PI_TYPE_MEMORY_CONNECTION_QUERY, out))
        return result;
    if (out.kind > PI_MEMORY_KIND_IMPORTED)
        return fail(PI_ERROR_INVALID_ENUMERATION,
                    "{}: query->kind is {}, should be a PI_MEMORY_KIND_ value", get_info, out.kind);
    return PI_SUCCESS;
}

void set_reason(pi_memory_connection_info &info, std::string_view reason) {
    const std::size_t size = std::min(reason.size(), sizeof info.reason - 1);
    std::memcpy(info.reason, reason.data(), size);
}

} // namespace

pi_result check_connection_output(const char *function,
                                  const pi_memory_connection_info *out_info) noexcept {
    if (out_info->struct_size < sizeof(pi_struct_header))
        return fail(PI_ERROR_INVALID_DESCRIPTOR, "{}: out_info->struct_size is {}, should be {}",
                    function, out_info->struct_size, sizeof(pi_memory_connection_info));
    if (out_info->type != PI_TYPE_MEMORY_CONNECTION_INFO)
        return fail(PI_ERROR_INVALID_DESCRIPTOR, "{}: out_info->type is {}, should be {}", function,
                    name_struct_type(out_info->type),
                    name_struct_type(PI_TYPE_MEMORY_CONNECTION_INFO));
    for (auto *next = static_cast<const pi_struct_header *>(out_info->next); next != nullptr;
         next = static_cast<const pi_struct_header *>(next->next)) {
        if ((next->type & PI_TYPE_MAY_IGNORE_BIT) == 0)
            return fail(PI_ERROR_UNSUPPORTED_FEATURE, "{}: out_info->next: {} is not accepted here",
                        function, name_struct_type(next->type));
    }
    return PI_SUCCESS;
}

void write_connection_output(const pi_memory_connection_info &info,
                             pi_memory_connection_info *out_info) noexcept {
    constexpr std::size_t begin = sizeof(pi_struct_header);
    const std::size_t size = out_info->struct_size;
    const std::size_t known = std::min(size, sizeof info);
    auto *bytes = reinterpret_cast<unsigned char *>(out_info);
    std::memcpy(bytes + begin, reinterpret_cast<const unsigned char *>(&info) + begin,
                known - begin);
    std::memset(bytes + known, 0, size - known);
}

pi_result check_connection_ends(const char *function, pi_device src_device, pi_context src_context,
                                pi_device dst_device, pi_context dst_context,
                                const pi_memory_connection_info *out_info) noexcept {
    if (src_device == nullptr || src_context == nullptr || dst_device == nullptr ||
        dst_context == nullptr || out_info == nullptr)
        return refuse_null(function, src_device, src_context, dst_device, dst_context, "out_info");
    return check_ends(function, src_device, src_context, dst_device, dst_context);
}

pi_result refuse_null_connection(pi_device src_device, pi_context src_context, pi_device dst_device,
                                 pi_context dst_context, pi_memory_connection *) noexcept {
    return refuse_null(get, src_device, src_context, dst_device, dst_context, "out_connection");
}

pi_result refuse_null_connection_info(pi_device src_device, pi_context src_context,
                                      pi_device dst_device, pi_context dst_context,
                                      const pi_memory_connection_query *,
                                      pi_memory_connection_info *) noexcept {
    return refuse_null(get_info, src_device, src_context, dst_device, dst_context, "out_info");
}

pi_result connection_between_plugins(pi_device src_device, pi_context src_context,
                                     pi_device dst_device, pi_context dst_context,
                                     pi_memory_connection *out_connection) noexcept {
    if (const pi_result result = check_ends(get, src_device, src_context, dst_device, dst_context))
        return result;
    *out_connection = PI_MEMORY_CONNECTION_NONE;
    return PI_SUCCESS;
}

pi_result connection_info_between_plugins(pi_device src_device, pi_context src_context,
                                          pi_device dst_device, pi_context dst_context,
                                          const pi_memory_connection_query *query,
                                          pi_memory_connection_info *out_info) noexcept {
    pi_memory_connection_query read;
    if (const pi_result result =
            check_ends(get_info, src_device, src_context, dst_device, dst_context))
        return result;
    if (const pi_result result = read_query(query, read))
        return result;
    if (const pi_result result = check_connection_output(get_info, out_info))
        return result;
    pi_memory_connection_info info{};
    info.connection = PI_MEMORY_CONNECTION_NONE;
    set_reason(info, "different plugins or plugin instances: only through the host");
    write_connection_output(info, out_info);
    return PI_SUCCESS;
}

pi_result defaults::piGetMemoryConnectionInfo(pi_device src_device, pi_context src_context,
                                              pi_device dst_device, pi_context dst_context,
                                              const pi_memory_connection_query *query,
                                              pi_memory_connection_info *out_info) noexcept {
    pi_memory_connection_query read;
    if (const pi_result result = read_query(query, read))
        return result;
    if (const pi_result result = check_connection_output(get_info, out_info))
        return result;
    if (read.kind != PI_MEMORY_KIND_BUFFER || read.src_scope != 0 || read.dst_scope != 0)
        return fail(
            PI_ERROR_UNSUPPORTED_FEATURE,
            "{}: query has kind {}, src_scope {} and dst_scope {}; this plugin answers only "
            "PI_MEMORY_KIND_BUFFER (0) in scope 0",
            get_info, name_memory_kind(read.kind), read.src_scope, read.dst_scope);

    pi_memory_connection_info info{};
    const pi_dispatch &base = TableChain::of(dispatch_of(src_device)).base();
    if (const pi_result result = base.piGetMemoryConnection(src_device, src_context, dst_device,
                                                            dst_context, &info.connection))
        return result;
    set_reason(info, "from piGetMemoryConnection; the plugin reports no details");
    write_connection_output(info, out_info);
    return PI_SUCCESS;
}

} // namespace pi::loader
