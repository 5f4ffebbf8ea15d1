// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shared.hpp"

#include "dma_buf.hpp"
#include "entries.hpp"
#include "memory.hpp"

namespace pi::host {

using sdk::fail;

uint32_t export_types() {
    const bool dma_bufs = sdk::can_share_pages() || has_contiguous_heap();
    return sdk::external_bit(PI_EXTERNAL_OPAQUE_FD) |
           (dma_bufs ? sdk::external_bit(PI_EXTERNAL_DMA_BUF_FD) : 0);
}

namespace entries {

pi_result PI_CALL piMemExport(pi_mem mem, const pi_mem_export_desc *desc,
                              pi_external_handle *out_handle) {
    return sdk::call<Mem>(mem, [&](Mem &self) {
        const pi_mem_export_desc known = sdk::read_desc(desc, PI_TYPE_MEM_EXPORT_DESC);
        sdk::require(out_handle, "out_handle");
        checked_buffer(self.host(), mem);
        const pi_external_type type = known.external_type;
        sdk::check_external_type(type, "external_type");
        if (type != PI_EXTERNAL_OPAQUE_FD && type != PI_EXTERNAL_DMA_BUF_FD)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "external_type is ", type,
                 "; the host plugin exports PI_EXTERNAL_OPAQUE_FD (", PI_EXTERNAL_OPAQUE_FD,
                 ") and PI_EXTERNAL_DMA_BUF_FD (", PI_EXTERNAL_DMA_BUF_FD, ") only");
        *out_handle = sdk::export_file(self, type, self.storage().exported(type));
    });
}

} // namespace entries
} // namespace pi::host
