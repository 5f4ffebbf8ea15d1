// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The application's memory that the driver has imported, so that devices use it in place. No header has the calls for that:
// the driver is asked for them by name, and given handles of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace pi::level_zero {

class Platform;

/// Whether the driver has the calls.
bool can_pin(const Platform &platform);
/// PI_ERROR_UNSUPPORTED_FEATURE if not.
void require_pinning(const Platform &platform);

/// Imports the range for all devices of the driver until the last copy of the pointer goes. Errors of sdk::Registrations;
/// PI_ERROR_OUT_OF_RESOURCES if the driver refuses.
std::shared_ptr<void> pin(Platform &platform, std::byte *begin, uint64_t size);
/// The same of the range's pages, what is pinned of them already together with whoever pinned it.
std::shared_ptr<void> pin_pages(Platform &platform, std::byte *begin, uint64_t size);

} // namespace pi::level_zero
