// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "verification.hpp"

#include "verification_import.hpp"
#include "verification_pair.hpp"

namespace pi::loader {

std::string verify(const pi_dispatch &plugin, const VerificationRequest &request) {
    if (request.how.kind == PI_MEMORY_KIND_IMPORTED)
        return verify_import(plugin, request);
    const bool deep = (request.how.flags & PI_VERIFY_DEEP) != 0;
    return with_room(layouts(deep, largest_sample), [&](const Layout &layout) {
        Check check(plugin, request, layout);
        Memory source(plugin, request.src, request.how.kind, request.how.src_scope, layout.size);
        return verify_pair(check, source);
    });
}

} // namespace pi::loader
