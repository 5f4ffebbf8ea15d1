// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// UNIFIED and MIGRATABLE, as the loader verifies them: what a runtime does before it uses a pair.

#include "checks.hpp"
#include "link.hpp"
#include "registry.hpp"

#include <pi/pi_loader.h>

namespace pi::suite {
namespace {

pi_memory_verification_desc verification_of(const Link &link) {
    pi_memory_verification_desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_MEMORY_VERIFICATION_DESC;
    desc.flags = PI_VERIFY_AGAIN;
    desc.kind = link.kind;
    desc.src_scope = link.src_scope;
    desc.dst_scope = link.dst_scope;
    return desc;
}

PAIR_LAW("connection",
         "what is unified or migratable is verified, kind by kind and scope by scope") {
    for (const Link &link : all_links(bench)) {
        const pi_memory_verification_desc desc = verification_of(link);
        pi_memory_connection_info info = describe<pi_memory_connection_info>();
        require_success(piVerifyMemoryConnection(link.src.device, link.src.context, link.dst.device,
                                                 link.dst.context, &desc, &info),
                        "piVerifyMemoryConnection for " + link.name());
        require_equal(info.connection, link.connection, link.name() + ": the verified connection");
        const bool one_place = bench.relation() == Relation::one_place;
        const bool checked = link.connection != PI_MEMORY_CONNECTION_NONE &&
                             (!one_place || link.kind == PI_MEMORY_KIND_IMPORTED);
        require_equal(info.verified, pi_verified{checked ? PI_VERIFIED_YES : PI_VERIFIED_UNKNOWN},
                      join(link.name(), ": verified, where was seen \"", info.verified_text, '"'));
    }
}

} // namespace
} // namespace pi::suite
