// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes behind memory objects.
#pragma once

#include "dma_buf.hpp"

#include <pi/sdk/bytes.hpp>

#include <cstddef>
#include <cstdint>

namespace pi::host {

using sdk::Bytes;

class Device;

/// Aligned bytes that are given back when the object goes, or borrowed ones.
class Storage {
public:
    /// Memory of the device's node; not initialised. `alignment` is a power of two up to max_alignment.
    /// PI_ERROR_OUT_OF_DEVICE_MEMORY, naming what was asked and what is free.
    /// Demands hold: PI_MEM_REQUIRE_CONTIGUOUS, which keeps it in memory as well, and PI_MEM_REQUIRE_PINNED; or
    /// PI_ERROR_UNSUPPORTED_FEATURE, saying what an administrator can enable.
    static Storage allocate(const Device &device, uint64_t size, uint64_t alignment,
                            uint64_t requirements = 0);
    /// The same, to be exported as 1 << PI_EXTERNAL_ types, of which export_types() has all.
    static Storage allocate_shared(const Device &device, uint64_t size, uint64_t alignment,
                                   uint64_t requirements, uint32_t types);
    /// Somebody's memory that is mapped here.
    static Storage import(sdk::SharedRange range);
    static Storage import(sdk::DmaRange range);
    /// The application's memory.
    static Storage borrow(void *data) { return Storage(static_cast<std::byte *>(data)); }

    Storage(Storage &&other) noexcept;
    Storage &operator=(Storage &&) = delete;
    ~Storage();

    std::byte *data() const { return data_; }
    /// What it is exported as, if it was made for that type; else -1.
    int exported(pi_external_type type) const {
        return !(export_types_ >> type & 1)     ? -1
               : type == PI_EXTERNAL_DMA_BUF_FD ? dma_buf_.get()
                                                : file_.get();
    }
    /// Empty unless it is one.
    const DmaBuf &dma_buf() const { return dma_buf_; }
    /// Its physical addresses do not change.
    bool stays() const { return stays_; }

private:
    explicit Storage(std::byte *data, DmaBuf buffer = {})
        : data_(data), dma_buf_(std::move(buffer)) {}
    static Storage mapped(MmapRegion pages, DmaBuf buffer = {});
    static Storage of_dma(DmaMemory memory);

    std::byte *data_;
    std::byte *heap_ = nullptr; ///< to be freed
    DmaBuf dma_buf_;            ///< goes after its mapping
    MmapRegion pages_;
    PinnedPages pinned_; ///< goes before their mapping
    sdk::File file_;
    uint32_t export_types_ = 0;
    bool stays_ = false;
};

} // namespace pi::host
