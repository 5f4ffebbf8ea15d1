// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of pi.h by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pi_run {

/// The value of PI_MEM_READ_ONLY, also as MEM_READ_ONLY; empty: pi.h has no such constant.
std::optional<int64_t> find_constant(std::string_view name);
/// The constants that end with _NAME, as USM_SHARED with SHARED, or the one with the most similar
/// name; "" if none is similar.
std::string similar_constants(std::string_view name);
/// The result code PI_ERROR_INVALID_SIZE, also as INVALID_SIZE.
std::optional<int32_t> find_result(std::string_view name);

} // namespace pi_run
