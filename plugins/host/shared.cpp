// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shared.hpp"

#include "dma_buf.hpp"
#include "entries.hpp"
#include "memory.hpp"

#include <pi/sdk/descriptor.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pi::host {

using sdk::fail;

uint32_t export_types() {
    return 1u << PI_EXTERNAL_OPAQUE_FD |
           (can_share_pages() || has_contiguous_heap() ? 1u << PI_EXTERNAL_DMA_BUF_FD : 0);
}

SharedMemory make_shared(uint64_t size, uint64_t alignment) {
    SharedMemory shared;
    shared.file = File(memfd_create("pi.buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    if (!shared.file || size > INT64_MAX - page)
        return shared;
    size = (size + page - 1) / page * page; // a dma-buf has whole pages
    if (ftruncate(shared.file.get(), static_cast<off_t>(size)))
        return shared;
    // Importers rely on the size (see map_shared).
    if (fcntl(shared.file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return shared;
    Mapping place = map_pages(size, alignment);
    if (place && mmap(place.begin(), place.size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                      shared.file.get(), 0) != MAP_FAILED)
        shared.mapping = std::move(place);
    return shared;
}

SharedRange map_shared(int descriptor, uint64_t offset, uint64_t size) {
    struct stat status {};
    if (fstat(descriptor, &status))
        fail(PI_ERROR_INVALID_VALUE, "handle.fd is ", descriptor, ": ", std::strerror(errno));
    const auto available = static_cast<uint64_t>(std::max<off_t>(status.st_size, 0));
    if (offset > available || size > available - offset)
        fail(PI_ERROR_INVALID_SIZE, "the range of ", size, " bytes from ", offset,
             " goes past the end of handle.fd, which has ", available);
    const int seals = fcntl(descriptor, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        fail(PI_ERROR_INVALID_VALUE, "handle.fd (", descriptor,
             ") may shrink, and an access behind its end would end the process: it must be a "
             "memfd with F_SEAL_SHRINK (fcntl F_ADD_SEALS), as an export gives it");
    return map_descriptor(descriptor, offset, size);
}

SharedRange map_descriptor(int descriptor, uint64_t offset, uint64_t size) {
    const uint64_t into = offset % static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    void *pages = mmap(nullptr, size + into, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                       static_cast<off_t>(offset - into));
    if (pages == MAP_FAILED)
        fail(errno == ENOMEM ? PI_ERROR_OUT_OF_HOST_MEMORY : PI_ERROR_INVALID_VALUE, "handle.fd (",
             descriptor, ") cannot be mapped for reading and writing: ", std::strerror(errno));
    return {Mapping(pages, size + into), static_cast<std::byte *>(pages) + into};
}

namespace entries {

pi_result PI_CALL mem_export(pi_mem mem, const pi_mem_export_desc *desc,
                             pi_external_handle *out_handle) {
    return sdk::call<Mem>(mem, [&](Mem &self) {
        const pi_mem_export_desc known = sdk::read_desc(desc, PI_TYPE_MEM_EXPORT_DESC);
        sdk::require(out_handle, "out_handle");
        checked_buffer(self.host(), mem);
        const pi_external_type type = known.external_type;
        if (type < PI_EXTERNAL_HOST_POINTER || type > PI_EXTERNAL_ZE_IPC)
            fail(PI_ERROR_INVALID_ENUMERATION, "external_type is ", type,
                 ", which is no PI_EXTERNAL_ type");
        if (type != PI_EXTERNAL_OPAQUE_FD && type != PI_EXTERNAL_DMA_BUF_FD)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "external_type is ", type,
                 "; the host plugin exports PI_EXTERNAL_OPAQUE_FD (", PI_EXTERNAL_OPAQUE_FD,
                 ") and PI_EXTERNAL_DMA_BUF_FD (", PI_EXTERNAL_DMA_BUF_FD, ") only");
        const int file = self.storage().exported(type);
        if (file < 0)
            fail(PI_ERROR_INVALID_OPERATION,
                 "mem was created without this type in its export_types: a buffer that is to be "
                 "exported must say so then");
        const int copy = fcntl(file, F_DUPFD_CLOEXEC, 0);
        if (copy < 0)
            fail(PI_ERROR_OUT_OF_RESOURCES,
                 "duplicating a file descriptor: ", std::strerror(errno));
        *out_handle = {};
        out_handle->type = type;
        out_handle->fd = copy;
        out_handle->offset = self.offset();
        out_handle->size = self.size();
    });
}

} // namespace entries
} // namespace pi::host
