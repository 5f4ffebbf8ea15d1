// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace pi::runtime {

/// Data that two threads write is at least so many bytes apart, else each waits for the other's
/// cache. Data that every acquire writes is aligned to it, also as elements of vectors: then no
/// other allocation shares its lines.
inline constexpr size_t cache_line = 64;

} // namespace pi::runtime
