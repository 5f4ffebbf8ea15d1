// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory with physical properties: locked pages and physically contiguous ranges.
#pragma once

#include "page_locks.hpp"

#include <pi/sdk/mmap_region.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace pi::host {

using sdk::map_pages;
using sdk::MmapRegion;

/// Whether this process may lock any page (RLIMIT_MEMLOCK).
bool can_lock_pages();

/// A physically contiguous range.
struct PhysicalRun {
    MmapRegion mapping;
    std::string refusal; ///< if mapping is empty: the reason, and what an administrator can do
    /// Whether its physical addresses do not change. The kernel may move ordinary pages, even
    /// locked ones (Documentation/mm/page_migration.rst of Linux).
    bool stays = false;
    PinnedPages pinned = {}; ///< of ordinary pages; unlocked before they are unmapped
};
/// Maps `size` bytes that are physically contiguous and stay in memory, at a multiple of
/// `alignment`, a power of two up to 2 MiB. Up to one page this is a locked page; beyond, a huge
/// page, or several that are adjacent according to /proc/self/pagemap. Huge pages are those that
/// the system keeps reserved, on any NUMA node.
PhysicalRun map_contiguous(uint64_t size, uint64_t alignment);

/// Reads a byte of each page: pages of files are mapped by a touch, and only mapped ones have a
/// physical address.
void touch_pages(const void *begin, uint64_t size);
/// The physical address of a byte in memory. Nothing unless the process has CAP_SYS_ADMIN
/// (Documentation/admin-guide/mm/pagemap.rst of Linux).
std::optional<uint64_t> physical_address(const void *address);
/// Whether the range is physically contiguous; nothing if the system does not show it.
std::optional<bool> is_contiguous(const void *begin, uint64_t size);
/// Whether devices use physical addresses, without an IOMMU.
bool bus_is_physical();

} // namespace pi::host
