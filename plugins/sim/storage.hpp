// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes behind memory objects, as the device sees them and as the host does.
#pragma once

#include "export.hpp"

#include <pi/sdk/dma_buf.hpp>
#include <pi/sdk/layout.hpp>
#include <pi/sdk/mmap_region.hpp>

namespace pi::sim {

/// Bytes that a device computes with. Where it is coherent with the host, the host's bytes are the same ones; where it
/// is not, the host has a copy of its own, as caches have, which only flush and invalidate make equal. Memory that the
/// host cannot address has no host's bytes.
class Storage {
public:
    /// Of a scope of the device; zeros. Pages are taken from the system when they are touched, so a scope may be larger
    /// than this machine.
    /// `export_types`: 1 << PI_EXTERNAL_, of what the device's export_types() has.
    static Storage allocate(Device &device, uint32_t scope, uint64_t size, uint64_t alignment,
                            bool contiguous, uint32_t export_types = 0);
    /// What a descriptor names, as memory of the device's scope 0. PI_ERROR_UNSUPPORTED_FEATURE if it is of a device
    /// of this machine whose link to this one does not do that; else throws what is wrong with the descriptor.
    static Storage import(Device &device, const pi_mem_import_desc &desc);
    /// How a device uses the application's memory.
    enum class Borrowing {
        coherent,
        cached, ///< as its own memory that is not coherent
        copied  ///< in memory of its own: only maps bring its bytes to the host, and back
    };
    /// The application's memory, which is the host's bytes.
    static Storage borrow(void *data, uint64_t size, Borrowing borrowing);

    std::byte *data() const { return data_; }
    /// NULL if the host cannot address it.
    std::byte *host_data() const { return host_data_; }
    bool coherent() const { return !host_data_ || host_data_ == data_; }
    /// The application's memory, of which the device has a copy.
    bool copied() const { return copied_; }
    uint64_t size() const { return size_; }
    /// Of contiguous memory: bytes from its scope's begin.
    std::optional<uint64_t> run() const { return run_; }
    /// What it is exported as, if it was made for that type; else -1.
    int exported(pi_external_type type) const {
        return !(export_types_ >> type & 1)     ? -1
               : type == PI_EXTERNAL_DMA_BUF_FD ? dma_buf_->get()
                                                : file_.get();
    }
    /// Of what a descriptor named: where the bytes lie.
    std::optional<Site> imported_from() const { return imported_from_; }

private:
    Storage() = default;
    /// The host's bytes, as the scope's flags have it.
    void show_host(uint64_t flags, uint64_t alignment);

    std::shared_ptr<const DeviceMemory>
        memory_; ///< reserved while it lives; NULL: not of this machine
    std::optional<uint64_t> run_;
    std::optional<Site> imported_from_;
    std::optional<sdk::DmaBuf> dma_buf_; ///< goes after its mapping
    sdk::File file_;
    uint32_t export_types_ = 0;
    sdk::MmapRegion pages_, host_pages_;
    std::byte *data_ = nullptr, *host_data_ = nullptr;
    uint64_t size_ = 0;
    bool copied_ = false;
};

} // namespace pi::sim
