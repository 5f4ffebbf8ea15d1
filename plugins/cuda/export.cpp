// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Export of memory as a file descriptor, or as an IPC handle for other processes.
#include "entries.hpp"
#include "memory.hpp"

#include <pi/sdk/external.hpp>
#include <pi/sdk/shared.hpp>

#include <cstring>
#include <fcntl.h>

namespace pi::cuda {

using namespace sdk;

uint32_t export_types(const Device &device) {
    return export_types_within(device) |
           (device.has_ipc() ? external_bit(PI_EXTERNAL_CUDA_IPC) : 0) |
           (device.exports_dma_buf() ? external_bit(PI_EXTERNAL_DMA_BUF_FD) : 0);
}

uint32_t export_types_within(const Device &device) {
    return device.exports() ? external_bit(PI_EXTERNAL_OPAQUE_FD) : 0;
}

namespace {

/// As Primary::check, for a call that opens a file descriptor.
template <class... Parts>
void check_opened(Primary &primary, CUresult code, const char *call, const Parts &...parts) {
    if (code != CUDA_SUCCESS)
        require_descriptors(call, ": ", error_name(primary.api(), code));
    primary.check(code, call, parts...);
}

/// Each export gets its own file descriptor.
void export_file(const Mem &mem, pi_external_handle &handle) {
    check_opened(mem.primary(),
                 mem.primary().api().cuMemExportToShareableHandle(
                     &handle.fd, mem.physical(), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                 "cuMemExportToShareableHandle", "on ", mem.device().name());
    handle.offset = mem.offset();
}

/// Exports the root's pages: it was allocated in whole pages.
void export_dma_buf(Mem &mem, pi_external_handle &handle) {
    Primary &primary = mem.primary();
    primary.require_alive();
    const Current current(primary);
    const Mem &root = mem.root();
    const uint64_t bytes = align_up(root.size(), host_page());
    check_opened(primary,
                 primary.api().cuMemGetHandleForAddressRange(
                     &handle.fd, root.address(), bytes, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
                 "cuMemGetHandleForAddressRange", bytes, " bytes on ", mem.device().name());
    fcntl(handle.fd, F_SETFD, FD_CLOEXEC);
    handle.offset = mem.offset();
    handle.allocation_size = bytes;
}

/// The handle is of the whole allocation.
void export_ipc(const Mem &mem, pi_external_handle &handle) {
    Primary &primary = mem.primary();
    primary.require_alive();
    const Current current(primary);
    const Api &cu = primary.api();
    CUdeviceptr begin = 0;
    size_t size = 0;
    primary.check(cu.cuMemGetAddressRange_v2(&begin, &size, mem.address()),
                  "cuMemGetAddressRange_v2", "of mem");
    CUipcMemHandle native{};
    primary.check(cu.cuIpcGetMemHandle(&native, begin), "cuIpcGetMemHandle", "on ",
                  mem.device().name());
    std::memcpy(handle.ipc, &native, sizeof native);
    handle.fd = -1;
    handle.offset = mem.address() - begin;
    handle.allocation_size = size;
}

} // namespace

namespace entries {

pi_result PI_CALL piMemExport(pi_mem mem, const pi_mem_export_desc *desc,
                              pi_external_handle *out_handle) {
    return call<Mem>(mem, [&](Mem &self) {
        const auto known = read_desc(desc, PI_TYPE_MEM_EXPORT_DESC);
        require(out_handle, "out_handle");
        require_buffer(self, "mem");
        check_external_type(known.external_type, "external_type");
        if (!(export_types(self.device()) & external_bit(known.external_type)))
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "external_type is ", known.external_type, "; ",
                 self.device().name(), " exports the types 0x", std::hex,
                 export_types(self.device()), " (1 << PI_EXTERNAL_)");
        if (!(self.export_types() & external_bit(known.external_type)))
            fail(PI_ERROR_INVALID_OPERATION,
                 "mem was created without this type in its export_types");
        pi_external_handle handle{};
        handle.type = known.external_type;
        if (known.external_type == PI_EXTERNAL_CUDA_IPC)
            export_ipc(self, handle);
        else if (known.external_type == PI_EXTERNAL_DMA_BUF_FD)
            export_dma_buf(self, handle);
        else
            export_file(self, handle);
        handle.size = self.size();
        *out_handle = handle;
    });
}

} // namespace entries
} // namespace pi::cuda
