// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Export of memory as a file descriptor, or as an IPC handle for other processes.
#include "entries.hpp"
#include "memory.hpp"

#include <pi/sdk/external.hpp>

#include <cstring>

namespace pi::level_zero {

using namespace sdk;

uint32_t export_types(const Device &device) {
    return device.export_files() | external_bit(PI_EXTERNAL_ZE_IPC);
}

namespace {

void export_ipc(const Mem &mem, pi_external_handle &handle) {
    Place &place = mem.place();
    ze_ipc_mem_handle_t ipc{};
    static_assert(sizeof ipc == sizeof handle.ipc);
    place.check(
        place.api().zeMemGetIpcHandle(place.context().id(), mem.storage().allocation(), &ipc),
        "zeMemGetIpcHandle", "on ", mem.device().name());
    std::memcpy(handle.ipc, &ipc, sizeof ipc);
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
        const bool ipc = known.external_type == PI_EXTERNAL_ZE_IPC;
        if (ipc && self.in_host())
            fail(PI_ERROR_UNSUPPORTED_FEATURE,
                 "mem is host memory; IPC handles are for device memory");
        pi_external_handle handle{};
        handle.type = known.external_type;
        if (ipc)
            export_ipc(self, handle);
        else
            handle = export_file(self, known.external_type,
                                 self.storage().files() & external_bit(known.external_type)
                                     ? self.storage().file(self.place(), known.external_type)
                                     : -1);
        handle.offset = static_cast<uint64_t>(
            self.address() - static_cast<std::byte *>(self.storage().allocation()));
        handle.size = self.size();
        *out_handle = handle;
    });
}

} // namespace entries
} // namespace pi::level_zero
