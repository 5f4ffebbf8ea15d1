// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that is given to others as a file descriptor.
#include "entries.hpp"
#include "memory.hpp"

#include <pi/sdk/external.hpp>

namespace pi::cuda {

using namespace sdk;

uint32_t export_types(const Device &device) {
    return device.exports() ? external_bit(PI_EXTERNAL_OPAQUE_FD) : 0;
}

namespace {

/// Each export has a descriptor of its own.
int export_file(const Mem &mem) {
    if (!mem.physical())
        fail(PI_ERROR_INVALID_OPERATION,
             "mem was created without this type in its export_types: a buffer that is to be "
             "exported must say so then");
    int fd = -1;
    mem.primary().check(mem.primary().api().cuMemExportToShareableHandle(
                            &fd, mem.physical(), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                        "cuMemExportToShareableHandle", "on ", mem.device().name());
    return fd;
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
        pi_external_handle handle{};
        handle.type = known.external_type;
        handle.fd = export_file(self);
        handle.offset = self.offset();
        handle.size = self.size();
        *out_handle = handle;
    });
}

} // namespace entries
} // namespace pi::cuda
