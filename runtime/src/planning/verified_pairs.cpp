// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "planning/verified_pairs.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/pi_loader.h>
#include <pi/runtime/error.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace pi::runtime {
namespace {

/// Whether the result says nothing about the connection: the same call may succeed later.
bool is_passing(pi_result result) {
    return result == PI_ERROR_WOULD_BLOCK || result == PI_ERROR_OUT_OF_HOST_MEMORY ||
           result == PI_ERROR_OUT_OF_DEVICE_MEMORY || result == PI_ERROR_OUT_OF_RESOURCES;
}

} // namespace

Verification::~Verification() = default;

VerifiedPairs::VerifiedPairs(const Topology &topology)
    : topology_(topology), states_(size_t{topology.size()} * topology.size() * 4) {}

size_t VerifiedPairs::index(const MemoryPair &pair) const {
    return (size_t{pair.src} * topology_.size() + pair.dst) * 4 + (pair.imported ? 2 : 0) +
           (pair.kernels ? 1 : 0);
}

Verified VerifiedPairs::of(const MemoryPair &pair) const {
    if (pair.scope.empty()) {
        return states_.at(index(pair)).load(std::memory_order_acquire);
    }
    const std::lock_guard lock(mutex_);
    const auto found = seen_.find(pair);
    return found == seen_.end() ? Verified::unknown : found->second.verified;
}

std::string VerifiedPairs::text(const MemoryPair &pair) const {
    const std::lock_guard lock(mutex_);
    const auto found = seen_.find(pair);
    return found == seen_.end() ? std::string() : found->second.text;
}

uint32_t VerifiedPairs::scope_of(PlaceIndex place, const std::string &name) const {
    const std::vector<pi_memory_scope> &scopes = topology_.info(place).scopes;
    const auto found =
        std::find_if(scopes.begin(), scopes.end(),
                     [&](const pi_memory_scope &scope) { return name == scope.name; });
    return name.empty() || found == scopes.end() ? 0
                                                 : static_cast<uint32_t>(found - scopes.begin());
}

pi_result VerifiedPairs::ask(const MemoryPair &pair) {
    auto desc = pi::desc<pi_memory_verification_desc>();
    desc.flags = pair.kernels ? PI_VERIFY_KERNELS : 0;
    desc.kind = pair.imported ? PI_MEMORY_KIND_IMPORTED : PI_MEMORY_KIND_BUFFER;
    desc.src_scope = scope_of(pair.src, pair.scope);
    desc.dst_scope = scope_of(pair.dst, pair.scope);
    auto answer = pi::desc<pi_memory_connection_info>();
    const pi_result result = piVerifyMemoryConnection(
        topology_.device(pair.src), topology_.context(pair.src), topology_.device(pair.dst),
        topology_.context(pair.dst), &desc, &answer);
    if (is_passing(result)) {
        return result;
    }
    Seen seen;
    if (result != PI_SUCCESS) {
        seen = {Verified::failed,
                std::string(result_name(result)) + ": " + last_error_text(result)};
    } else if (answer.verified == PI_VERIFIED_FAILED) {
        const size_t size = strnlen(answer.verified_text, sizeof answer.verified_text);
        seen = {Verified::failed, std::string(answer.verified_text, size)};
    } else {
        seen.verified = Verified::yes;
    }
    const std::lock_guard lock(mutex_);
    const Verified known = seen_.try_emplace(pair, std::move(seen)).first->second.verified;
    if (pair.scope.empty()) {
        states_.at(index(pair)).store(known, std::memory_order_release);
    }
    return PI_SUCCESS;
}

bool VerifiedPairs::verify(const MemoryPair &pair) {
    return of(pair) != Verified::unknown || ask(pair) == PI_SUCCESS;
}

std::vector<MemoryPair> VerifiedPairs::usable_pairs() const {
    const TopologyDescription &topology = topology_.description();
    std::vector<MemoryPair> pairs;
    const auto add = [&](MemoryPair pair, const Connection &connection) {
        if (pair.src == pair.dst || connection.connection == PI_MEMORY_CONNECTION_NONE) {
            return;
        }
        pairs.push_back(pair);
        if (connection.connection == PI_MEMORY_CONNECTION_UNIFIED) {
            pair.kernels = true;
            pairs.push_back(std::move(pair));
        }
    };
    for (PlaceIndex src = 1; src < topology_.size(); ++src) {
        for (PlaceIndex dst = 1; dst < topology_.size(); ++dst) {
            add({.src = src, .dst = dst}, topology.buffer(src, dst));
            if (topology.place(src).host_pointer_import) {
                add({.src = src, .dst = dst, .imported = true}, topology.import(src, dst));
            }
            for (const auto &[scope, matrix] : topology.scoped) {
                if (const Connection *connection = topology.in_scope(scope, src, dst)) {
                    add({.src = src, .dst = dst, .scope = scope}, *connection);
                }
            }
        }
        if (topology.place(src).host_pointer_import && topology.place(src).shares_host_memory()) {
            pairs.push_back({.src = src, .dst = src, .imported = true});
        }
    }
    return pairs;
}

void VerifiedPairs::verify_all() {
    std::optional<Error> failure;
    for (const MemoryPair &pair : usable_pairs()) {
        try {
            check(of(pair) == Verified::unknown ? ask(pair) : PI_SUCCESS,
                  "piVerifyMemoryConnection");
        } catch (const Error &error) {
            failure = error;
        }
    }
    if (failure) {
        throw Error(*failure);
    }
}

} // namespace pi::runtime
