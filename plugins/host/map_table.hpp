// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The maps of a memory object that the application holds.
#pragma once

#include "layout.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace pi::host {

/// Which pointers the maps of one memory object have given or will give. A map of flat memory gives the memory itself;
/// one of an n-D allocation a dense copy, which the unmap brings back. Thread-safe.
class MapTable {
public:
    /// A map has been enqueued: the pointer that it will give.
    void *promise(const LogicalBytes &bytes, const pi_buffer_map_desc &desc);
    /// It has run; it will never run.
    void fulfil(const LogicalBytes &bytes, const void *pointer);
    void withdraw(const void *pointer);
    /// Whether an unmap may be enqueued: the pointer is mapped, or will be.
    bool known(const void *pointer) const;
    /// An unmap runs; false if the pointer is not mapped.
    bool unmap(const LogicalBytes &bytes, const void *pointer);

private:
    /// The dense bytes of a range, one map's own.
    struct Copy {
        uint64_t offset;
        uint64_t flags; ///< PI_MAP_
        std::vector<std::byte> bytes;
    };
    struct Entry {
        uint32_t promised = 0, mapped = 0;
        std::unique_ptr<Copy> copy; ///< or the memory itself is mapped
    };
    void drop_if_unused(std::map<const void *, Entry>::iterator entry);

    mutable std::mutex mutex_;
    std::map<const void *, Entry> entries_;
};

} // namespace pi::host
