// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piVerifyMemoryConnection: the arguments, earlier results, and the answer.

#include "connection.hpp"
#include "descriptor.hpp"
#include "enumerators.hpp"
#include "error.hpp"
#include "functions.hpp"
#include "layer.hpp"
#include "plugin.hpp"
#include "verification.hpp"
#include "verification_kernel.hpp"
#include "verified.hpp"

#include <pi/pi_loader.h>

#include <array>
#include <bit>

namespace pi::loader {
namespace {

constexpr const char *verify_name = "piVerifyMemoryConnection";

pi_result read_desc(const pi_memory_verification_desc *desc, pi_memory_verification_desc &out) {
    out = {};
    out.struct_size = sizeof out;
    out.type = PI_TYPE_MEMORY_VERIFICATION_DESC;
    if (desc == nullptr)
        return PI_SUCCESS;
    if (const pi_result result =
            read_descriptor(verify_name, "desc", desc, PI_TYPE_MEMORY_VERIFICATION_DESC, out))
        return result;
    if (const pi_result result = check_flags(verify_name, out.flags,
                                             PI_VERIFY_DEEP | PI_VERIFY_AGAIN | PI_VERIFY_KERNELS))
        return result;
    if (out.kind > PI_MEMORY_KIND_IMPORTED)
        return fail(PI_ERROR_INVALID_ENUMERATION,
                    "{}: desc->kind is {}, should be a PI_MEMORY_KIND_ value", verify_name,
                    out.kind);
    if (out.kind == PI_MEMORY_KIND_IMAGE)
        return fail(PI_ERROR_UNSUPPORTED_FEATURE,
                    "{}: desc->kind is PI_MEMORY_KIND_IMAGE (1); images cannot be verified",
                    verify_name);
    if (out.kind != PI_MEMORY_KIND_IMPORTED && (out.host_ptr != nullptr || out.size != 0))
        return fail(PI_ERROR_INVALID_VALUE,
                    "{}: desc->host_ptr or desc->size is set, but desc->kind is {}; both are only "
                    "for PI_MEMORY_KIND_IMPORTED (5)",
                    verify_name, name_memory_kind(out.kind));
    if ((out.host_ptr == nullptr) != (out.size == 0))
        return fail(PI_ERROR_INVALID_SIZE,
                    "{}: desc->host_ptr is {} and desc->size is {}; set both, or neither",
                    verify_name, out.host_ptr, out.size);
    return PI_SUCCESS;
}

/// A device as text, and whether that text means the same device in another process.
struct Identity {
    std::string text;
    bool lasting;
};

template <typename Value>
bool ask(const pi_dispatch &plugin, pi_device device, pi_device_info info, Value &value) {
    return plugin.piDeviceGetInfo(device, info, sizeof value, &value, nullptr) == PI_SUCCESS;
}

std::string ask_text(const pi_dispatch &plugin, pi_device device, pi_device_info info) {
    uint64_t size = 0;
    if (plugin.piDeviceGetInfo(device, info, 0, nullptr, &size) != PI_SUCCESS || size == 0)
        return "";
    std::string text(size, '\0');
    if (plugin.piDeviceGetInfo(device, info, size, text.data(), nullptr) != PI_SUCCESS)
        return "";
    text.resize(text.find('\0'));
    return text;
}

Identity identity_of(const pi_dispatch &plugin, pi_device device) {
    std::array<uint8_t, 16> uuid{};
    std::array<uint8_t, 8> luid{};
    const bool has_uuid = ask(plugin, device, PI_DEVICE_INFO_UUID, uuid);
    const bool has_luid = ask(plugin, device, PI_DEVICE_INFO_LUID, luid);
    const std::string pci = ask_text(plugin, device, PI_DEVICE_INFO_PCI_ADDRESS);
    pi_device parent = nullptr;
    pi_platform platform = nullptr;
    uint32_t backend = PI_BACKEND_SIMULATED;
    // A machine file may change at any time, so results of simulated devices are not stored.
    const bool known = ask(plugin, device, PI_DEVICE_INFO_PARENT, parent) && parent == nullptr &&
                       ask(plugin, device, PI_DEVICE_INFO_PLATFORM, platform) &&
                       plugin.piPlatformGetInfo(platform, PI_PLATFORM_INFO_BACKEND, sizeof backend,
                                                &backend, nullptr) == PI_SUCCESS &&
                       backend != PI_BACKEND_SIMULATED;
    Identity identity{fmt::format("{} {} uuid {:02x} luid {:02x} pci {}",
                                  ask_text(plugin, device, PI_DEVICE_INFO_NAME),
                                  ask_text(plugin, device, PI_DEVICE_INFO_DRIVER_VERSION),
                                  fmt::join(uuid, ""), fmt::join(luid, ""), pci),
                      known && (has_uuid || has_luid || !pci.empty())};
    if (!identity.lasting)
        identity.text += fmt::format(" {} of {}", static_cast<const void *>(device),
                                     static_cast<const void *>(parent));
    return identity;
}

VerifiedKey key_of(const PluginInstance &instance, const pi_dispatch &plugin,
                   const VerificationRequest &request) {
    const ErrorScope unanswered;
    const Identity src = identity_of(plugin, request.src.device);
    const Identity dst = identity_of(plugin, request.dst.device);
    const pi_memory_verification_desc &how = request.how;
    std::string text = fmt::format(
        "{}; {} -> {}; {}; connection {}, kind {}, scopes {} -> {}", instance.build(), src.text,
        dst.text, request.src.context == request.dst.context ? "one context" : "two contexts",
        request.connection, how.kind, how.src_scope, how.dst_scope);
    // Drivers decide by size and alignment whether they use memory in place.
    if (how.host_ptr != nullptr)
        text +=
            fmt::format(", 2^{} bytes at 2^{}", std::bit_width(how.size),
                        std::min(std::countr_zero(reinterpret_cast<uintptr_t>(how.host_ptr)), 12));
    return {std::move(text), src.lasting && dst.lasting};
}

/// The known result of `key`, else that of run(), which may throw CallFailed.
template <typename Run>
pi_result known_or_seen(VerifiedConnections &known, const VerifiedKey &key, uint64_t flags,
                        Verified &seen, Run &&run) {
    const bool deep = (flags & PI_VERIFY_DEEP) != 0;
    const bool again = (flags & PI_VERIFY_AGAIN) != 0;
    if (!again) {
        if (std::optional<Verified> before = known.find(key, deep)) {
            seen = std::move(*before);
            return PI_SUCCESS;
        }
    }
    pi_result result = PI_SUCCESS;
    std::string problem;
    {
        const ErrorScope scope;
        try {
            seen = {run(), deep};
        } catch (const CallFailed &failed) {
            result = failed.result;
            problem = ErrorScope::text(result);
        }
    }
    if (result != PI_SUCCESS)
        return fail(result, "{}: {}", verify_name, problem);
    known.record(key, seen, again);
    return PI_SUCCESS;
}

struct Answer {
    Verified seen;
    std::string note; ///< why kernels were not tried
};

/// Verifies what the connection relies on, then the connection, then kernels. Each has its own
/// result; the first failure is the answer.
pi_result verify_all(const pi_dispatch *dispatch, const VerificationRequest &request,
                     Answer &answer) {
    const TableChain &chain = TableChain::of(dispatch);
    const pi_dispatch &plugin = chain.queries();
    VerifiedConnections &known = chain.instance->verified();
    const uint64_t flags = request.how.flags;
    const auto plain = [&](const VerificationRequest &each) {
        return known_or_seen(known, key_of(*chain.instance, plugin, each), flags, answer.seen,
                             [&] { return verify(plugin, each); });
    };
    // Memory that src imports for dst must first be verified between the host and src.
    if (request.how.kind == PI_MEMORY_KIND_IMPORTED && !is_one_place(request)) {
        VerificationRequest at_src = request;
        at_src.dst = request.src;
        at_src.connection = PI_MEMORY_CONNECTION_UNIFIED;
        at_src.how.dst_scope = request.how.src_scope;
        const pi_result result = plain(at_src);
        if (result != PI_SUCCESS || !answer.seen.text.empty())
            return result;
    }
    const pi_result result = plain(request);
    if (result != PI_SUCCESS || !answer.seen.text.empty() || (flags & PI_VERIFY_KERNELS) == 0 ||
        request.connection != PI_MEMORY_CONNECTION_UNIFIED)
        return result;
    VerifiedKey key = key_of(*chain.instance, plugin, request);
    key.text += ", kernels";
    try {
        return known_or_seen(known, key, flags, answer.seen, [&] {
            return verify_kernels(plugin, chain.instance->handle(), request);
        });
    } catch (const NoKernel &none) {
        answer.note = fmt::format("kernels were not tried: {}", none.reason);
        return PI_SUCCESS;
    }
}

bool is_usm(pi_memory_kind kind) {
    return kind >= PI_MEMORY_KIND_USM_HOST && kind <= PI_MEMORY_KIND_USM_SHARED;
}

void set_verified(pi_memory_connection_info &info, const Answer &answer) {
    const bool arrived = answer.seen.text.empty();
    info.verified = arrived ? PI_VERIFIED_YES : PI_VERIFIED_FAILED;
    const std::string &text = arrived ? answer.note : answer.seen.text;
    const std::size_t size = std::min(text.size(), sizeof info.verified_text - 1);
    std::memcpy(info.verified_text, text.data(), size);
}

pi_result verify_connection(pi_device src_device, pi_context src_context, pi_device dst_device,
                            pi_context dst_context, const pi_memory_verification_desc *desc,
                            pi_memory_connection_info *out_info) {
    if (const pi_result result = check_connection_ends(verify_name, src_device, src_context,
                                                       dst_device, dst_context, out_info))
        return result;
    VerificationRequest request{{src_device, src_context}, {dst_device, dst_context}, 0, {}};
    if (const pi_result result = read_desc(desc, request.how))
        return result;
    if (const pi_result result = check_connection_output(verify_name, out_info))
        return result;
    if (PluginInstance::callback_depth() > 0)
        return fail(PI_ERROR_WOULD_BLOCK,
                    "{}: called inside a callback, where nothing may wait for commands",
                    verify_name);

    pi_memory_connection_info info{};
    info.struct_size = sizeof info;
    info.type = PI_TYPE_MEMORY_CONNECTION_INFO;
    info.next = out_info->next;
    pi_memory_connection_query query{};
    query.struct_size = sizeof query;
    query.type = PI_TYPE_MEMORY_CONNECTION_QUERY;
    query.kind = request.how.kind;
    query.src_scope = request.how.src_scope;
    query.dst_scope = request.how.dst_scope;
    const pi_dispatch *dispatch = dispatch_of(src_device);
    const bool one_plugin = dispatch == dispatch_of(dst_device);
    const auto get_info = one_plugin ? TableChain::of(dispatch).queries().piGetMemoryConnectionInfo
                                     : &connection_info_between_plugins;
    if (const pi_result result =
            get_info(src_device, src_context, dst_device, dst_context, &query, &info))
        return result;
    info.verified = PI_VERIFIED_UNKNOWN;
    std::memset(info.verified_text, 0, sizeof info.verified_text);

    request.connection = info.connection;
    const bool needs_check =
        (info.connection == PI_MEMORY_CONNECTION_MIGRATABLE ||
         info.connection == PI_MEMORY_CONNECTION_UNIFIED) &&
        (!is_one_place(request) || request.how.kind == PI_MEMORY_KIND_IMPORTED);
    if (needs_check) {
        if (is_usm(request.how.kind) && src_context != dst_context)
            return fail(PI_ERROR_UNSUPPORTED_FEATURE,
                        "{}: desc->kind is {}, and the contexts differ; USM can be verified only "
                        "within one context",
                        verify_name, name_memory_kind(request.how.kind));
        Answer answer;
        if (const pi_result result = verify_all(dispatch, request, answer))
            return result;
        set_verified(info, answer);
    }
    write_connection_output(info, out_info);
    return PI_SUCCESS;
}

} // namespace
} // namespace pi::loader

pi_result piVerifyMemoryConnection(pi_device src_device, pi_context src_context,
                                   pi_device dst_device, pi_context dst_context,
                                   const pi_memory_verification_desc *desc,
                                   pi_memory_connection_info *out_info) {
    return pi::loader::guarded("piVerifyMemoryConnection", [&] {
        return pi::loader::verify_connection(src_device, src_context, dst_device, dst_context, desc,
                                             out_info);
    });
}
