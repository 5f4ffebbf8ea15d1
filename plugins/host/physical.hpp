// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory by what the hardware sees of it: locked pages, and runs of physical addresses.
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

/// Whether this process may lock a page at all (RLIMIT_MEMLOCK).
bool can_lock_pages();

/// A range of one physical run.
struct PhysicalRun {
    MmapRegion mapping;
    std::string refusal; ///< if mapping is empty: why, and what an administrator can do
    /// Its physical addresses do not change. The kernel may move ordinary pages, locked ones, too
    /// (Documentation/mm/page_migration.rst of Linux).
    bool stays = false;
    PinnedPages pinned = {}; ///< of ordinary pages: let go of before they are unmapped
};
/// `size` bytes that are physically contiguous and stay in memory; the mapping begins at a multiple of `alignment`, a
/// power of two up to 2 MiB. Up to a page this is a locked page; beyond, it is a huge page, or several that
/// /proc/self/pagemap shows to be neighbours. Huge pages are those that the system keeps reserved, of any NUMA node.
PhysicalRun map_contiguous(uint64_t size, uint64_t alignment);

/// Reads a byte of each page: pages of files are mapped as they are touched, and only those that are tell where they lie.
void touch_pages(const void *begin, uint64_t size);
/// The physical address of a byte that is in memory. Nothing if the system does not tell: that takes CAP_SYS_ADMIN
/// (Documentation/admin-guide/mm/pagemap.rst of Linux).
std::optional<uint64_t> physical_address(const void *address);
/// Whether the range is seen to be one physical run; nothing if the system does not tell.
std::optional<bool> is_contiguous(const void *begin, uint64_t size);
/// Whether devices see physical addresses: there is no IOMMU between.
bool bus_is_physical();

} // namespace pi::host
