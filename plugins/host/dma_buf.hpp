// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that Linux's drivers share: PI_EXTERNAL_DMA_BUF_FD, and heaps of physically contiguous memory.
//
// The processor's accesses to a dma-buf lie between a begin and an end (DMA_BUF_IOCTL_SYNC), where the kernel makes
// caches and bounce buffers agree. This plugin is the processor: its accesses begin when memory is mapped, and end when
// it is unmapped. What a driver's device writes meanwhile is seen at once where devices and processors are coherent, as
// on x86. Elsewhere each hand-over takes an end and a begin: piMemFlush and piMemInvalidate.
#pragma once

#include "shared.hpp"

#include <string>

namespace pi::host {

/// Where the kernel shows its heaps and udmabuf. Tests give a folder of their own.
inline constexpr const char *devices_folder = "/dev";

/// Whether all devices see the processor's caches, so that a hand-over takes nothing.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr bool devices_are_coherent = true;
#else
inline constexpr bool devices_are_coherent = false;
#endif

/// A dma-buf that the processor uses as long as the object lives.
class DmaBuf {
public:
    DmaBuf() = default;
    /// Begins the processor's accesses. PI_ERROR_INVALID_VALUE if it is no dma-buf.
    explicit DmaBuf(File file);
    DmaBuf(DmaBuf &&) = default;
    DmaBuf &operator=(DmaBuf &&) = delete;
    ~DmaBuf();

    int get() const { return file_.get(); }
    explicit operator bool() const { return static_cast<bool>(file_); }
    /// Its pages stay where they are as long as it lives: its exporter is one that is known for that.
    bool stays() const;
    /// Ends the processor's accesses so far, and begins new ones.
    void hand_over() const;

private:
    File file_;
};

/// A dma-buf and a mapping of it.
struct DmaMemory {
    DmaBuf buffer;
    Mapping mapping;
    std::string refusal; ///< if mapping is empty: why
};

/// `size` bytes of one physical run, from a heap of the kernel's contiguous memory allocator (CMA); they do not move.
/// The mapping begins at a multiple of `alignment`, a power of two. Zeroed.
DmaMemory allocate_contiguous(uint64_t size, uint64_t alignment,
                              const std::string &folder = devices_folder);

/// A dma-buf of the pages of a memfd, which is sealed against shrinking (udmabuf). `size` is a multiple of the page
/// size. Throws PI_ERROR_UNSUPPORTED_FEATURE, saying what an administrator can enable.
DmaBuf share_pages(int descriptor, uint64_t size, const std::string &folder = devices_folder);

/// Whether share_pages can work at all, or else allocate_contiguous.
bool can_share_pages(const std::string &folder = devices_folder);
bool has_contiguous_heap(const std::string &folder = devices_folder);

/// Maps `size` bytes from `offset` of a dma-buf; the descriptor stays the caller's. Throws what is wrong with it.
struct DmaRange {
    DmaBuf buffer;
    SharedRange range;
};
DmaRange map_dma_buf(int descriptor, uint64_t offset, uint64_t size);

} // namespace pi::host
