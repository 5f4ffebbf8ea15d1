// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes that a verification moves, and words for how those that arrived differ. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace pi::loader {

using Bytes = std::span<unsigned char>;
using ConstBytes = std::span<const unsigned char>;

/// Fills `bytes` with what a round has from byte `offset` on. Any eight bytes at a multiple of eight are found at no other
/// place of any round, so bytes that were moved are as wrong as old ones.
void fill_pattern(Bytes bytes, uint64_t round, uint64_t offset) noexcept;

/// How `actual` differs from `expected`, as in "every second page is stale"; "" if they are equal. `old` is what was there
/// before, and `offset` where the bytes begin in their memory: pages are counted from there and from the first byte.
std::string describe_difference(ConstBytes expected, ConstBytes actual, ConstBytes old,
                                uint64_t offset);

/// "64 KiB", "4097 bytes".
std::string size_text(uint64_t size);

} // namespace pi::loader
