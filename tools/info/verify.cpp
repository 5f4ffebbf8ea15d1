// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifies connections on request.
#include "inventory.hpp"

#include <pi/describe/descriptor.hpp>

#include <cstring>

namespace pi_info {

Seen seen_of(const Connections &connections, pi::runtime::PlaceIndex src,
             pi::runtime::PlaceIndex dst) {
    const auto found = connections.seen.find({src, dst});
    return found != connections.seen.end() ? found->second : Seen{};
}

void verify(Connections &connections) {
    if (connections.live == nullptr) {
        return;
    }
    const pi::runtime::Topology &places = *connections.live;
    for (uint32_t src = 1; src < places.size(); ++src) {
        for (uint32_t dst = 1; dst < places.size(); ++dst) {
            auto desc = pi::desc<pi_memory_verification_desc>();
            desc.flags = PI_VERIFY_DEEP | PI_VERIFY_AGAIN | PI_VERIFY_KERNELS;
            auto info = pi::desc<pi_memory_connection_info>();
            try {
                pi::runtime::check(piVerifyMemoryConnection(places.device(src), places.context(src),
                                                            places.device(dst), places.context(dst),
                                                            &desc, &info),
                                   "piVerifyMemoryConnection");
                connections.seen[{src, dst}] = {
                    info.verified,
                    std::string(info.verified_text,
                                strnlen(info.verified_text, sizeof info.verified_text))};
            } catch (const pi::runtime::Error &error) {
                connections.problems.push_back(places.info(src).name + " -> " +
                                               places.info(dst).name +
                                               " could not be verified: " + error.what());
            }
        }
    }
}

} // namespace pi_info
