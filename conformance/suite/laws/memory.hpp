// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptions of buffers, for laws of what is made of them and what is refused.
#pragma once

#include "checks.hpp"

namespace pi::suite {

inline pi_mem_buffer_desc buffer_desc(uint64_t size, uint64_t flags = 0, void *host_ptr = nullptr) {
    pi_mem_buffer_desc desc = describe<pi_mem_buffer_desc>();
    desc.size = size;
    desc.flags = flags;
    desc.host_ptr = host_ptr;
    return desc;
}

/// piMemBufferCreate fails with one of these codes and writes nothing.
inline void require_refused(const Place &place, const std::string &what,
                            const pi_mem_buffer_desc &desc,
                            std::initializer_list<pi_result> allowed) {
    require_untouched<pi_mem>("a buffer with " + what, allowed, [&](pi_mem *out) {
        return piMemBufferCreate(place.context, place.device, &desc, out);
    });
}

} // namespace pi::suite
