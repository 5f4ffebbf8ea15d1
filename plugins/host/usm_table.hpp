// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which addresses are USM.
#pragma once

#include "usm_memory.hpp"

#include <map>
#include <mutex>
#include <optional>

namespace pi::host {

class Context;

/// One allocation.
struct UsmAllocation {
    UsmBlock block;
    uint64_t size;
    pi_usm_kind kind;
    Device *device; ///< NULL for PI_USM_HOST
    const Context *context;
    bool freeing = false; ///< a command will free it
};

/// What is told of the allocation that an address lies in.
struct UsmRange {
    std::byte *base;
    uint64_t size;
    pi_usm_kind kind;
    Device *device;
    const Context *context;
    std::shared_ptr<UsmPoolMemory> pool; ///< NULL for none

    /// Where the address lies in it.
    uint64_t offset_of(const void *pointer) const {
        return static_cast<uint64_t>(static_cast<const std::byte *>(pointer) - base);
    }
    /// Bytes from the address to the end.
    uint64_t left(const void *pointer) const { return size - offset_of(pointer); }
};

/// The live allocations of an instance, by address. A context's go with it at the latest. Thread-safe; a lookup is
/// logarithmic in their number.
class UsmTable {
public:
    /// The allocation's address.
    void *add(UsmAllocation allocation);
    /// nullopt if the address lies in no live allocation of any context.
    std::optional<UsmRange> find(const void *pointer) const;
    /// The same, or PI_ERROR_INVALID_USM_POINTER naming the argument.
    UsmRange get(const void *pointer, const char *name) const;

    /// Frees the allocation that begins at this address. PI_ERROR_INVALID_USM_POINTER unless there is one of this
    /// context that no command is to free.
    void free(const Context &context, const void *pointer);
    /// A free by command, in two steps: now it is noted, so that nobody else frees it, then done or withdrawn.
    void promise_free(const Context &context, const void *pointer);
    void fulfil_free(const void *pointer);
    void withdraw_free(const void *pointer);

    /// Frees what is left of a context that goes.
    void drop(const Context &context);

private:
    using Allocations = std::map<const std::byte *, UsmAllocation>;
    Allocations::const_iterator around(const void *pointer) const;
    Allocations::iterator freeable(const Context &context, const void *pointer);

    mutable std::mutex mutex_; ///< a pool's is never taken under it
    Allocations allocations_;  ///< by their begin; they do not overlap
};

} // namespace pi::host
