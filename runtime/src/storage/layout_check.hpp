// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/layout.hpp>

namespace pi::runtime {

/// Checks that a storage of so many bytes can have the layout. Throws PI_ERROR_INVALID_VALUE for
/// impossible axes and separators, PI_ERROR_INVALID_SIZE if the elements do not amount to the
/// storage's bytes. These are the plugins' rules: so a layout is refused when the storage is
/// created, and not when memory is first needed.
void check_layout(const MemoryLayout &layout, uint64_t size);

} // namespace pi::runtime
