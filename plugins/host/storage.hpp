// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The storage of memory objects.
#pragma once

#include "dma_buf.hpp"

#include <pi/sdk/bytes.hpp>

#include <cstddef>
#include <cstdint>

namespace pi::host {

using sdk::Bytes;

class Device;

/// Aligned bytes: owned, and freed by the destructor, or borrowed.
class Storage {
public:
    /// Allocates uninitialised memory of the device's node. `alignment` is a power of two up to
    /// max_alignment. PI_ERROR_OUT_OF_DEVICE_MEMORY, with the requested and the free size. Meets
    /// the requirements PI_MEM_REQUIRE_CONTIGUOUS, which also keeps it in memory, and
    /// PI_MEM_REQUIRE_PINNED; or throws PI_ERROR_UNSUPPORTED_FEATURE, with what an administrator
    /// can enable.
    static Storage allocate(const Device &device, uint64_t size, uint64_t alignment,
                            uint64_t requirements = 0);
    /// As allocate, for memory to export as `types` (1 << PI_EXTERNAL_), all of which are in
    /// export_types().
    static Storage allocate_shared(const Device &device, uint64_t size, uint64_t alignment,
                                   uint64_t requirements, uint32_t types);
    /// Imported memory that is mapped here.
    static Storage import(sdk::SharedRange range);
    static Storage import(sdk::DmaRange range);
    /// The application's memory.
    static Storage borrow(void *data) { return Storage(static_cast<std::byte *>(data)); }

    Storage(Storage &&other) noexcept;
    Storage &operator=(Storage &&) = delete;
    ~Storage();

    std::byte *data() const { return data_; }
    /// The descriptor to export for this type, if the memory was allocated for it; else -1.
    int exported(pi_external_type type) const {
        return !(export_types_ >> type & 1)     ? -1
               : type == PI_EXTERNAL_DMA_BUF_FD ? dma_buf_.get()
                                                : file_.get();
    }
    /// Empty unless the memory is a dma-buf.
    const DmaBuf &dma_buf() const { return dma_buf_; }
    /// Whether its physical addresses do not change.
    bool stays() const { return stays_; }

private:
    explicit Storage(std::byte *data, DmaBuf buffer = {})
        : data_(data), dma_buf_(std::move(buffer)) {}
    static Storage mapped(MmapRegion pages, DmaBuf buffer = {});
    static Storage of_dma(DmaMemory memory);

    std::byte *data_;
    std::byte *heap_ = nullptr; ///< owned: freed by the destructor
    DmaBuf dma_buf_;            ///< destroyed after its mapping
    MmapRegion pages_;
    PinnedPages pinned_; ///< unlocked before the pages are unmapped
    sdk::File file_;
    uint32_t export_types_ = 0;
    bool stays_ = false;
};

} // namespace pi::host
