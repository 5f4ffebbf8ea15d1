// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/layout.hpp>

namespace pi::runtime {

/// That a storage of so many bytes can have the layout. Throws PI_ERROR_INVALID_VALUE for axes and separators that
/// cannot be, PI_ERROR_INVALID_SIZE if the elements are not the storage's bytes: the plugins' rules, so that a layout
/// is refused where it is written and not where memory is first needed.
void check_layout(const MemoryLayout &layout, uint64_t size);

} // namespace pi::runtime
