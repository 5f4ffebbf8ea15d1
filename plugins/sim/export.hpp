// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of the machine that was exported as a file descriptor, so that imports recognize it.
#pragma once

#include "device.hpp"

#include <sys/types.h>

#include <memory>

namespace pi::sim {

/// The storage of a buffer in a device's scope.
struct DeviceMemory {
    ScopeMemory::Reservation reservation;
    const Device &owner;
    Site site; ///< of the bytes
};

/// Finds the machine's memory behind a descriptor. Thread-safe.
class Exports {
public:
    /// `memory` is behind this descriptor, and every descriptor of the same file, as long as any
    /// reference to it exists.
    void add(int descriptor, const std::shared_ptr<const DeviceMemory> &memory);
    /// NULL for memory of another machine.
    std::shared_ptr<const DeviceMemory> find(int descriptor) const;

private:
    using Identity = std::pair<dev_t, ino_t>;
    static std::optional<Identity> identity(int descriptor);

    mutable std::mutex mutex_; ///< no other is taken under it
    std::map<Identity, std::weak_ptr<const DeviceMemory>> memories_;
};

} // namespace pi::sim
