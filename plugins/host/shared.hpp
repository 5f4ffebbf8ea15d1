// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What memory can be exported as, and imported from.
#pragma once

#include <pi/sdk/external.hpp>

namespace pi::host {

/// The types that this plugin's buffers can be exported as on this machine, and those that it imports anywhere.
uint32_t export_types();
inline constexpr uint32_t import_types = sdk::external_bit(PI_EXTERNAL_HOST_POINTER) |
                                         sdk::external_bit(PI_EXTERNAL_OPAQUE_FD) |
                                         sdk::external_bit(PI_EXTERNAL_DMA_BUF_FD);

} // namespace pi::host
