// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "physical.hpp"
#include "storage.hpp"
#include <pi/sdk/file.hpp>

#include <pi/sdk/error.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace pi::host {

using sdk::File;

using sdk::text;

namespace {

const uint64_t page_size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));

uint64_t round_up(uint64_t size, uint64_t unit) {
    return (size + unit - 1) / unit * unit;
}

/// Physical page numbers from /proc/self/pagemap: 64 bits for each page. Bit 63: the page is in
/// memory. The low 55 bits: its number, or 0 for processes without the right to see it.
class PageMap {
public:
    PageMap() : file_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}

    std::optional<uint64_t> page_of(const void *address) const {
        uint64_t entry = 0;
        const auto index = reinterpret_cast<uintptr_t>(address) / page_size;
        if (!file_ || pread(file_.get(), &entry, sizeof entry,
                            static_cast<off_t>(index * sizeof entry)) != sizeof entry)
            return std::nullopt;
        const uint64_t number = entry & ((uint64_t{1} << 55) - 1);
        return entry >> 63 && number ? std::optional(number) : std::nullopt;
    }

private:
    File file_;
};

/// The system's sizes of huge pages, ascending.
std::vector<uint64_t> huge_page_sizes() {
    std::vector<uint64_t> sizes;
    std::error_code error;
    for (const auto &entry :
         std::filesystem::directory_iterator("/sys/kernel/mm/hugepages", error)) {
        uint64_t kilobytes = 0;
        if (sscanf(entry.path().filename().c_str(), "hugepages-%" SCNu64 "kB", &kilobytes) == 1)
            sizes.push_back(kilobytes * 1024);
    }
    std::sort(sizes.begin(), sizes.end());
    return sizes;
}

uint64_t free_huge_pages(uint64_t size) {
    uint64_t count = 0;
    std::ifstream(text("/sys/kernel/mm/hugepages/hugepages-", size / 1024, "kB/free_hugepages")) >>
        count;
    return count;
}

/// Huge pages of one size, in memory, as a file any page of which can be mapped anywhere.
class HugePages {
public:
    HugePages(uint64_t page, uint64_t count)
        : page_(page), count_(count),
          file_(memfd_create("pi.contiguous", MFD_CLOEXEC | MFD_HUGETLB | size_flag(page))) {
        if (!file_)
            sdk::refuse_without_descriptor(errno, "memfd_create");
        if (!file_ || ftruncate(file_.get(), static_cast<off_t>(page * count)))
            return;
        void *begin =
            mmap(nullptr, page * count, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
        if (begin == MAP_FAILED)
            return;
        MmapRegion all(begin, page * count);
        // Unlike a touch, this cannot kill the process if another one has taken the page.
        if (!madvise(begin, page * count, MADV_POPULATE_WRITE))
            all_ = std::move(all);
    }
    explicit operator bool() const { return static_cast<bool>(all_); }

    /// Maps `wanted` physically adjacent pages in order, and frees the other pages; empty if there
    /// are none.
    MmapRegion map_run(uint64_t wanted, uint64_t alignment) {
        const std::vector<Page> pages = sorted_pages();
        const std::optional<uint64_t> first = find_run(pages, wanted);
        MmapRegion run;
        if (first)
            run = map_pages(page_ * wanted, std::max(page_, alignment));
        for (uint64_t i = 0; run && i < wanted; ++i)
            if (mmap(run.begin() + i * page_, page_, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED | MAP_POPULATE, file_.get(),
                     static_cast<off_t>(pages[*first + i].index * page_)) == MAP_FAILED)
                run = {};
        all_ = {};
        for (uint64_t i = 0; i < pages.size(); ++i)
            if (!first || i < *first || i >= *first + wanted)
                fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                          static_cast<off_t>(pages[i].index * page_), static_cast<off_t>(page_));
        return run;
    }

private:
    struct Page {
        uint64_t number; ///< physical, in pages of the ordinary size; 0: unknown
        uint64_t index;  ///< in the file
    };

    /// The logarithm of the size, as memfd_create expects it (MFD_HUGE_SHIFT of linux/memfd.h).
    static unsigned size_flag(uint64_t page) {
        return static_cast<unsigned>(__builtin_ctzll(page)) << 26;
    }
    std::vector<Page> sorted_pages() const {
        std::vector<Page> pages;
        const PageMap map;
        for (uint64_t i = 0; i < count_; ++i)
            pages.push_back({map.page_of(all_.begin() + i * page_).value_or(0), i});
        std::sort(pages.begin(), pages.end(),
                  [](const Page &a, const Page &b) { return a.number < b.number; });
        return pages;
    }
    std::optional<uint64_t> find_run(const std::vector<Page> &pages, uint64_t wanted) const {
        uint64_t length = 0;
        for (uint64_t i = 0; i < pages.size(); ++i) {
            const bool follows =
                i && pages[i].number && pages[i].number == pages[i - 1].number + page_ / page_size;
            length = follows ? length + 1 : 1;
            if (length == wanted)
                return i + 1 - wanted;
        }
        return std::nullopt;
    }

    const uint64_t page_, count_;
    File file_;
    MmapRegion all_;
};

/// A run of huge pages of one size, or the reason why there is none.
PhysicalRun map_huge(uint64_t size, uint64_t alignment, uint64_t page) {
    const uint64_t wanted = round_up(size, page) / page;
    const uint64_t available = free_huge_pages(page);
    std::string pages = text(wanted, " huge page", wanted > 1 ? "s" : "", " of ", Bytes(page));
    if (available < wanted)
        return {{}, text(pages, wanted > 1 ? " are" : " is", " needed, ", available, " free")};
    // Which pages are adjacent is known only once they are allocated; the others are freed at once.
    HugePages huge(page, wanted == 1 ? 1 : std::min(available, 4 * wanted + 16));
    if (!huge)
        return {{}, text(pages, " could not be taken: ", std::strerror(errno))};
    MmapRegion run = huge.map_run(wanted, alignment);
    if (run)
        return {std::move(run), {}, true, {}};
    const bool blind = !physical_address(&page);
    return {{},
            text(pages, " that are physically adjacent are needed, ",
                 blind ? "which is visible only with CAP_SYS_ADMIN" : "but none are free")};
}

} // namespace

bool can_lock_pages() {
    const MmapRegion page = map_pages(page_size, page_size);
    return page && PinnedPages(page.begin(), page.size());
}

PhysicalRun map_contiguous(uint64_t size, uint64_t alignment) {
    if (size <= page_size) {
        MmapRegion page = map_pages(page_size, alignment);
        if (!page)
            return {{}, text("mmap: ", std::strerror(errno))};
        PinnedPages pinned(page.begin(), page.size());
        if (!pinned)
            return {{}, pinned.refusal()};
        return {std::move(page), {}, false, std::move(pinned)};
    }
    std::string refusals;
    for (const uint64_t page : huge_page_sizes()) {
        PhysicalRun run = map_huge(size, alignment, page);
        if (run.mapping) {
            if (is_contiguous(run.mapping.begin(), size).value_or(true))
                return run;
            run.refusal =
                text("huge pages of ", Bytes(page), " are not physically contiguous here");
        }
        refusals += (refusals.empty() ? "" : ", or ") + run.refusal;
    }
    if (refusals.empty())
        refusals = "this system has no huge pages";
    return {{},
            text(Bytes(size), ": ", refusals,
                 "; an administrator can reserve huge pages (/proc/sys/vm/nr_hugepages, or "
                 "hugepagesz= and hugepages= on the kernel's command line)")};
}

void touch_pages(const void *begin, uint64_t size) {
    const auto *bytes = static_cast<const volatile std::byte *>(begin);
    for (uint64_t offset = 0; offset < size; offset += page_size)
        (void)bytes[offset];
    if (size)
        (void)bytes[size - 1];
}

std::optional<uint64_t> physical_address(const void *address) {
    if (const auto number = PageMap().page_of(address))
        return *number * page_size + reinterpret_cast<uintptr_t>(address) % page_size;
    return std::nullopt;
}

std::optional<bool> is_contiguous(const void *begin, uint64_t size) {
    const PageMap map;
    const auto *byte = static_cast<const std::byte *>(begin);
    const auto first = map.page_of(byte);
    if (!first)
        return std::nullopt;
    const auto into = reinterpret_cast<uintptr_t>(begin) % page_size;
    for (uint64_t i = 1; i * page_size < into + size; ++i)
        if (map.page_of(byte - into + i * page_size) != *first + i)
            return false;
    return true;
}

bool bus_is_physical() {
    std::error_code error;
    std::filesystem::directory_iterator units("/sys/class/iommu", error);
    return error || units == std::filesystem::directory_iterator();
}

} // namespace pi::host
