// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dma_buf.hpp"

#include <fcntl.h>
#include <linux/dma-heap.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace pi::host {

using sdk::File;
using sdk::text;

namespace {

/// Linux names the heap of its default CMA area after the place of its declaration; other heaps
/// after their areas.
bool is_contiguous_heap(const std::string &name) {
    return name == "reserved" || name == "default_cma_region" ||
           name.find("cma") != std::string::npos;
}

std::vector<std::filesystem::path> contiguous_heaps(const std::string &folder) {
    std::vector<std::filesystem::path> heaps;
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator(folder + "/dma_heap", error))
        if (is_contiguous_heap(entry.path().filename()))
            heaps.push_back(entry.path());
    std::sort(heaps.begin(), heaps.end());
    return heaps;
}

DmaMemory allocate_from(const std::filesystem::path &heap, uint64_t size, uint64_t alignment) {
    const auto refused = [&](const char *call) {
        sdk::refuse_without_descriptor(errno, heap.string(), ": ", call);
        return DmaMemory{{}, {}, text(heap.string(), ": ", call, ": ", std::strerror(errno))};
    };
    const File device(open(heap.c_str(), O_RDWR | O_CLOEXEC));
    if (!device)
        return refused("open");
    size = sdk::align_up(size, sdk::page_size());
    dma_heap_allocation_data request{};
    request.len = size;
    request.fd_flags = O_RDWR | O_CLOEXEC;
    if (ioctl(device.get(), DMA_HEAP_IOCTL_ALLOC, &request))
        return refused("DMA_HEAP_IOCTL_ALLOC");
    DmaBuf buffer{File(static_cast<int>(request.fd))};
    MmapRegion place = map_pages(size, alignment);
    if (!place || mmap(place.begin(), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                       buffer.get(), 0) == MAP_FAILED)
        return refused("mmap");
    touch_pages(place.begin(), size);
    if (!is_contiguous(place.begin(), size).value_or(true))
        return {{}, {}, text(heap.string(), ": its memory is not physically contiguous")};
    return {std::move(buffer), std::move(place), {}};
}

} // namespace

bool pages_stay(const DmaBuf &buffer) {
    if (!buffer)
        return false;
    std::ifstream info(text("/proc/self/fdinfo/", buffer.get()));
    for (std::string key, name; info >> key;)
        if (key == "exp_name:" && info >> name)
            return name == "udmabuf" || name == "system" || is_contiguous_heap(name);
    return false;
}

bool has_contiguous_heap(const std::string &folder) {
    return !contiguous_heaps(folder).empty();
}

DmaMemory allocate_contiguous(uint64_t size, uint64_t alignment, const std::string &folder) {
    std::string refusals;
    for (const auto &heap : contiguous_heaps(folder)) {
        DmaMemory memory = allocate_from(heap, size, alignment);
        if (memory.mapping)
            return memory;
        refusals += (refusals.empty() ? "" : ", or ") + memory.refusal;
    }
    if (refusals.empty())
        refusals =
            text("there is no heap of the kernel's contiguous memory in ", folder,
                 "/dma_heap; a kernel with CONFIG_DMABUF_HEAPS_CMA has one, of the size that "
                 "cma= on its command line gives");
    return {{}, {}, std::move(refusals)};
}

} // namespace pi::host
