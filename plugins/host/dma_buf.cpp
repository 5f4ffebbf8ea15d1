// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dma_buf.hpp"

#include "storage.hpp"

#include <pi/sdk/error.hpp>

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
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

using sdk::fail;
using sdk::text;

namespace {

uint64_t page_size() {
    return static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// DMA_BUF_IOCTL_SYNC; false if the descriptor is no dma-buf.
bool sync(int descriptor, uint64_t flags) {
    dma_buf_sync request{};
    request.flags = flags | DMA_BUF_SYNC_RW;
    int result = 0;
    do
        result = ioctl(descriptor, DMA_BUF_IOCTL_SYNC, &request);
    while (result && (errno == EINTR || errno == EAGAIN));
    return !result;
}

/// Linux calls the heap of its default CMA area by where it was declared. Heaps of other areas are named after them.
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
        return DmaMemory{{}, {}, text(heap.string(), ": ", call, ": ", std::strerror(errno))};
    };
    const File device(open(heap.c_str(), O_RDWR | O_CLOEXEC));
    if (!device)
        return refused("open");
    size = (size + page_size() - 1) / page_size() * page_size();
    dma_heap_allocation_data request{};
    request.len = size;
    request.fd_flags = O_RDWR | O_CLOEXEC;
    if (ioctl(device.get(), DMA_HEAP_IOCTL_ALLOC, &request))
        return refused("DMA_HEAP_IOCTL_ALLOC");
    DmaBuf buffer{File(static_cast<int>(request.fd))};
    Mapping place = map_pages(size, alignment);
    if (!place || mmap(place.begin(), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                       buffer.get(), 0) == MAP_FAILED)
        return refused("mmap");
    touch_pages(place.begin(), size);
    if (!is_contiguous(place.begin(), size).value_or(true))
        return {{}, {}, text(heap.string(), ": its memory is no physical run")};
    return {std::move(buffer), std::move(place), {}};
}

} // namespace

DmaBuf::DmaBuf(File file) : file_(std::move(file)) {
    if (!sync(file_.get(), DMA_BUF_SYNC_START))
        fail(PI_ERROR_INVALID_VALUE,
             "the descriptor is no dma-buf: DMA_BUF_IOCTL_SYNC: ", std::strerror(errno));
}

DmaBuf::~DmaBuf() {
    if (file_)
        sync(file_.get(), DMA_BUF_SYNC_END);
}

void DmaBuf::hand_over() const {
    if (!file_ || devices_are_coherent)
        return;
    sync(file_.get(), DMA_BUF_SYNC_END);
    sync(file_.get(), DMA_BUF_SYNC_START);
}

bool DmaBuf::stays() const {
    if (!file_)
        return false;
    std::ifstream info(text("/proc/self/fdinfo/", file_.get()));
    for (std::string key, name; info >> key;)
        if (key == "exp_name:" && info >> name)
            return name == "udmabuf" || name == "system" || is_contiguous_heap(name);
    return false;
}

bool has_contiguous_heap(const std::string &folder) {
    return !contiguous_heaps(folder).empty();
}

bool can_share_pages(const std::string &folder) {
    return !access((folder + "/udmabuf").c_str(), R_OK | W_OK);
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

DmaBuf share_pages(int descriptor, uint64_t size, const std::string &folder) {
    const std::string path = folder + "/udmabuf";
    const File device(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!device)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_EXTERNAL_DMA_BUF_FD: ", path, ": ",
             std::strerror(errno), "; a kernel with CONFIG_UDMABUF has it (modprobe udmabuf)");
    udmabuf_create request{};
    request.memfd = static_cast<uint32_t>(descriptor);
    request.flags = UDMABUF_FLAGS_CLOEXEC;
    request.size = size;
    File made(ioctl(device.get(), UDMABUF_CREATE, &request));
    if (!made)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_EXTERNAL_DMA_BUF_FD: ", path, " for ", Bytes(size),
             ": ", std::strerror(errno),
             "; its largest is /sys/module/udmabuf/parameters/size_limit_mb, in MiB");
    return DmaBuf(std::move(made));
}

DmaRange map_dma_buf(int descriptor, uint64_t offset, uint64_t size) {
    File copy(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (!copy)
        fail(PI_ERROR_INVALID_VALUE, "handle.fd is ", descriptor, ": ", std::strerror(errno));
    DmaBuf buffer(std::move(copy));
    // Other than a file, a dma-buf tells its size only so. It never changes.
    const off_t end = lseek(buffer.get(), 0, SEEK_END);
    const auto available = static_cast<uint64_t>(std::max<off_t>(end, 0));
    if (offset > available || size > available - offset)
        fail(PI_ERROR_INVALID_SIZE, "the range of ", size, " bytes from ", offset,
             " goes past the end of handle.fd, which has ", available);
    SharedRange range = map_descriptor(buffer.get(), offset, size);
    return {std::move(buffer), std::move(range)};
}

} // namespace pi::host
