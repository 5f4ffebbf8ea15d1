// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of the machine that has gone out as a file descriptor, and is known when it comes back.
#pragma once

#include "device.hpp"

#include <sys/types.h>

#include <memory>

namespace pi::sim {

/// Bytes of a device's scope that somebody has.
struct DeviceMemory {
    ScopeMemory::Reservation reservation;
    const Device &owner;
    Site site; ///< where they lie
};

/// Which of the machine's memory is behind a descriptor. Thread-safe.
class Exports {
public:
    /// `memory` is behind this descriptor, and all of the same file, as long as anybody has it.
    void add(int descriptor, const std::shared_ptr<const DeviceMemory> &memory);
    /// NULL if it is none of this machine.
    std::shared_ptr<const DeviceMemory> find(int descriptor) const;

private:
    using Identity = std::pair<dev_t, ino_t>;
    static std::optional<Identity> identity(int descriptor);

    mutable std::mutex mutex_; ///< no other is taken under it
    std::map<Identity, std::weak_ptr<const DeviceMemory>> memories_;
};

} // namespace pi::sim
