// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes behind memory objects, as the device sees them and as the host does.
#pragma once

#include "device.hpp"

#include <pi/sdk/layout.hpp>
#include <pi/sdk/mapping.hpp>

namespace pi::sim {

/// Bytes that a device computes with. Where it is coherent with the host, the host's bytes are the same ones; where it
/// is not, the host has a copy of its own, as caches have, which only flush and invalidate make equal. Memory that the
/// host cannot address has no host's bytes.
class Storage {
public:
    /// Of a scope of the device; zeros. Pages are taken from the system when they are touched, so a scope may be larger
    /// than this machine.
    static Storage allocate(Device &device, uint32_t scope, uint64_t size, uint64_t alignment,
                            bool contiguous);
    /// The application's memory, which is the host's bytes.
    static Storage borrow(void *data, uint64_t size, bool coherent);

    std::byte *data() const { return data_; }
    /// NULL if the host cannot address it.
    std::byte *host_data() const { return host_data_; }
    bool coherent() const { return !host_data_ || host_data_ == data_; }
    uint64_t size() const { return size_; }
    /// Of contiguous memory: bytes from its scope's begin.
    std::optional<uint64_t> run() const { return reservation_.run(); }

private:
    explicit Storage(ScopeMemory::Reservation reservation = {})
        : reservation_(std::move(reservation)) {}

    ScopeMemory::Reservation reservation_;
    sdk::Mapping pages_, host_pages_;
    std::byte *data_ = nullptr, *host_data_ = nullptr;
    uint64_t size_ = 0;
};

} // namespace pi::sim
