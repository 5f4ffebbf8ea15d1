// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace pi::runtime {

/// What two threads write lies at least so many bytes apart, else each waits for the other's cache. What every acquire
/// writes is aligned to it, elements of vectors included: then no other allocation shares its lines.
inline constexpr size_t cache_line = 64;

} // namespace pi::runtime
