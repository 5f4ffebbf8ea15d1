// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The external types of exports and imports.
#pragma once

#include <pi/sdk/external.hpp>

namespace pi::host {

/// The types that this plugin exports on this machine; it imports them everywhere.
uint32_t export_types();
inline constexpr uint32_t import_types = sdk::external_bit(PI_EXTERNAL_HOST_POINTER) |
                                         sdk::external_bit(PI_EXTERNAL_OPAQUE_FD) |
                                         sdk::external_bit(PI_EXTERNAL_DMA_BUF_FD);

} // namespace pi::host
