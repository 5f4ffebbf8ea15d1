// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registered application memory: its pages are locked, so that they are never paged out.
#pragma once

#include "page_locks.hpp"

#include <cstdint>
#include <map>
#include <mutex>

namespace pi::host {

class Context;

/// The registrations of an instance. They may overlap, and one pointer may be registered several
/// times. A context drops its remaining ones. Thread-safe.
class Registrations {
public:
    /// PI_ERROR_INVALID_SIZE past the end of the address space; PI_ERROR_OUT_OF_RESOURCES with the
    /// system's reason.
    void add(const Context &context, const void *pointer, uint64_t size);
    /// Removes the newest one of this pointer. PI_ERROR_INVALID_VALUE if there is none.
    void remove(const Context &context, const void *pointer);
    void drop(const Context &context);

private:
    using Key = std::pair<const Context *, const void *>;

    std::mutex mutex_;
    std::multimap<Key, PinnedPages> registered_; ///< equal keys in the order of registration
};

} // namespace pi::host
