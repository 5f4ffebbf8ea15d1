// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that other processes and plugins can map as a file: PI_EXTERNAL_OPAQUE_FD.
#pragma once

#include <pi/sdk/error.hpp>
#include <pi/sdk/file.hpp>
#include <pi/sdk/mmap_region.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace pi::sdk {

inline uint64_t page_size() {
    return static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// A memory file, sealed against shrinking, and a mapping of it.
struct SharedMemory {
    File file;
    MmapRegion mapping; ///< empty if the system has no memory; errno has the reason
};

/// Makes zeroed whole pages; the mapping begins at a multiple of `alignment`, a power of two.
/// PI_ERROR_OUT_OF_RESOURCES if there is no file descriptor left.
inline SharedMemory make_shared(uint64_t size, uint64_t alignment) {
    SharedMemory shared;
    shared.file = File(memfd_create("pi.buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!shared.file) {
        refuse_without_descriptor(errno, "memfd_create");
        return shared;
    }
    if (size > INT64_MAX - page_size()) {
        errno = ENOMEM;
        return shared;
    }
    size = align_up(size, page_size()); // a dma-buf consists of whole pages
    if (ftruncate(shared.file.get(), static_cast<off_t>(size)))
        return shared;
    // Importers rely on the size (see map_shared).
    if (fcntl(shared.file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return shared;
    MmapRegion place = map_pages(size, alignment);
    if (place && mmap(place.begin(), place.size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                      shared.file.get(), 0) != MAP_FAILED)
        shared.mapping = std::move(place);
    return shared;
}

/// A mapped range of another owner's file.
struct SharedRange {
    MmapRegion mapping; ///< the whole pages around it
    std::byte *begin = nullptr;
};

/// Maps `size` bytes from `offset` of a descriptor that is known to have the range and not to
/// shrink. The descriptor stays the caller's. Throws the reason of a failure.
inline SharedRange map_descriptor(int descriptor, uint64_t offset, uint64_t size) {
    const uint64_t into = offset % page_size();
    void *pages = mmap(nullptr, size + into, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                       static_cast<off_t>(offset - into));
    if (pages == MAP_FAILED)
        fail(errno == ENOMEM ? PI_ERROR_OUT_OF_HOST_MEMORY : PI_ERROR_INVALID_VALUE, "handle.fd (",
             descriptor, ") cannot be mapped for reading and writing: ", std::strerror(errno));
    return {MmapRegion(pages, size + into), static_cast<std::byte *>(pages) + into};
}

/// The size behind a descriptor; -1 if it is not known. Does not change its offset, which its
/// duplicates share.
inline off_t descriptor_size(int descriptor) {
    struct stat status {};
    if (fstat(descriptor, &status))
        return -1;
    if (S_ISREG(status.st_mode))
        return status.st_size;
    // The only query for the size of a dma-buf, whose offset stays 0.
    const off_t size = lseek(descriptor, 0, SEEK_END);
    if (size >= 0)
        lseek(descriptor, 0, SEEK_SET);
    return size;
}

/// PI_ERROR_INVALID_SIZE unless the range is within the `available` bytes of the descriptor.
inline void check_descriptor_range(uint64_t offset, uint64_t size, off_t available) {
    const auto end = static_cast<uint64_t>(std::max<off_t>(available, 0));
    if (offset > end || size > end - offset)
        fail(PI_ERROR_INVALID_SIZE, "the range of ", size, " bytes from ", offset,
             " goes past the end of handle.fd, which has ", end);
}

/// Maps `size` bytes from `offset` of a file that cannot shrink (a memfd with F_SEAL_SHRINK): an
/// access behind the end of a file that shrank would kill the process. The descriptor stays the
/// caller's. Throws the reason of a failure.
inline SharedRange map_shared(int descriptor, uint64_t offset, uint64_t size) {
    struct stat status {};
    if (fstat(descriptor, &status))
        fail(PI_ERROR_INVALID_VALUE, "handle.fd is ", descriptor, ": ", std::strerror(errno));
    check_descriptor_range(offset, size, status.st_size);
    const int seals = fcntl(descriptor, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        fail(PI_ERROR_INVALID_VALUE, "handle.fd (", descriptor,
             ") may shrink, and an access behind its end would end the process: it must be a "
             "memfd with F_SEAL_SHRINK (fcntl F_ADD_SEALS), as an export gives it");
    return map_descriptor(descriptor, offset, size);
}

} // namespace pi::sdk
