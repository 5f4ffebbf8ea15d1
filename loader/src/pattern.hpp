// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes that a verification moves, and texts for how received bytes differ. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace pi::loader {

using Bytes = std::span<unsigned char>;
using ConstBytes = std::span<const unsigned char>;

/// Fills `bytes` with a round's pattern from byte `offset` on. No eight bytes at a multiple of
/// eight occur at another index of any round, so moved bytes are as wrong as stale ones.
void fill_pattern(Bytes bytes, uint64_t round, uint64_t offset) noexcept;

/// How `actual` differs from `expected`, as in "every second page is stale"; "" if they are equal.
/// `old` is the earlier content, and `offset` the position of the bytes in their memory: pages are
/// counted from there and from the first byte.
std::string describe_difference(ConstBytes expected, ConstBytes actual, ConstBytes old,
                                uint64_t offset);

/// "64 KiB", "4097 bytes".
std::string size_text(uint64_t size);

} // namespace pi::loader
