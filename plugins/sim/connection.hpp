// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The connections between places, which decide which commands accept which memory.
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

/// The types, 1 << PI_EXTERNAL_, as which buffers of src can be exported for dst to import.
uint32_t shared_handle_types(const Device &src, const Device &dst);

/// `in_host`: for memory of src that is in the host's memory (imported, or of such a scope).
pi_memory_connection connect(const Place &src, const Place &dst, bool in_host);

} // namespace pi::sim
