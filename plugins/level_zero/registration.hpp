// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Application memory that the driver has imported, so that devices use it in place. The calls for
// that are in no header: they are looked up by name, and expect the driver's own handles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace pi::level_zero {

class Platform;

/// Whether the driver has these calls.
bool can_pin(const Platform &platform);
/// PI_ERROR_UNSUPPORTED_FEATURE if it does not.
void require_pinning(const Platform &platform);

/// Imports the range for all devices of the driver until the last copy of the pointer is destroyed.
/// Errors of sdk::Registrations; PI_ERROR_OUT_OF_RESOURCES if the driver refuses.
std::shared_ptr<void> pin(Platform &platform, std::byte *begin, uint64_t size);
/// The same for the range's pages; pages that are pinned already are shared.
std::shared_ptr<void> pin_pages(Platform &platform, std::byte *begin, uint64_t size);

} // namespace pi::level_zero
