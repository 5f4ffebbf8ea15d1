// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The storage of memory objects, as the device sees it and as the host does.
#pragma once

#include "export.hpp"

#include <pi/sdk/dma_buf.hpp>
#include <pi/sdk/layout.hpp>
#include <pi/sdk/mmap_region.hpp>

namespace pi::sim {

/// A device's bytes. In memory that is coherent with the host, the host's bytes are the same ones.
/// In other memory the host has a copy, like a cache, which only flush and invalidate sync. Memory
/// that the host cannot address has no host bytes.
class Storage {
public:
    /// Allocates zeroed memory of a device's scope. The system provides pages when they are
    /// touched, so a scope may be larger than this machine's memory. `export_types`: 1 <<
    /// PI_EXTERNAL_ of some of the device's export_types().
    static Storage allocate(Device &device, uint32_t scope, uint64_t size, uint64_t alignment,
                            bool contiguous, uint32_t export_types = 0);
    /// Imports a descriptor as memory of the device's scope 0. PI_ERROR_UNSUPPORTED_FEATURE if it
    /// is of a device of this machine whose link to this one does not support that; else throws the
    /// reason of a failure.
    static Storage import(Device &device, const pi_mem_import_desc &desc);
    /// How a device uses the application's memory.
    enum class Borrowing {
        coherent,
        cached, ///< as its own memory, not coherently
        copied  ///< by a copy: only maps move bytes to the host and back
    };
    /// The application's memory; it is the host's bytes.
    static Storage borrow(void *data, uint64_t size, Borrowing borrowing);

    std::byte *data() const { return data_; }
    /// NULL if the host cannot address it.
    std::byte *host_data() const { return host_data_; }
    bool coherent() const { return !host_data_ || host_data_ == data_; }
    /// Whether the device has a copy of the application's memory.
    bool copied() const { return copied_; }
    uint64_t size() const { return size_; }
    /// For contiguous memory: its offset in the scope, in bytes.
    std::optional<uint64_t> run() const { return run_; }
    /// The descriptor to export for this type, if the memory was allocated for it; else -1.
    int exported(pi_external_type type) const {
        return !(export_types_ >> type & 1)     ? -1
               : type == PI_EXTERNAL_DMA_BUF_FD ? dma_buf_->get()
                                                : file_.get();
    }
    /// For memory imported by descriptor: the site of its bytes.
    std::optional<Site> imported_from() const { return imported_from_; }

private:
    Storage() = default;
    /// Sets up the host's bytes for the scope's flags.
    void show_host(uint64_t flags, uint64_t alignment);

    std::shared_ptr<const DeviceMemory>
        memory_; ///< reserved while it lives; NULL: not of this machine
    std::optional<uint64_t> run_;
    std::optional<Site> imported_from_;
    std::optional<sdk::DmaBuf> dma_buf_; ///< destroyed after its mapping
    sdk::File file_;
    uint32_t export_types_ = 0;
    sdk::MmapRegion pages_, host_pages_;
    std::byte *data_ = nullptr, *host_data_ = nullptr;
    uint64_t size_ = 0;
    bool copied_ = false;
};

} // namespace pi::sim
