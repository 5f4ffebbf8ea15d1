// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What memory of one place is to another, and so which commands take it.
#pragma once

#include "context.hpp"

namespace pi::sim {

/// A device in a context.
struct Place {
    const Device &device;
    const Context &context;

    bool operator==(const Place &other) const {
        return &device == &other.device && &context == &other.context;
    }
};

/// 1 << PI_EXTERNAL_: what buffers of src can be exported as for dst to import.
uint32_t shared_handle_types(const Device &src, const Device &dst);

/// `in_host`: memory of src that lies in the host's (imported, or of a scope that does).
pi_memory_connection connect(const Place &src, const Place &dst, bool in_host);

} // namespace pi::sim
