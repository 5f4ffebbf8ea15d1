// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file of verified connections: JSON, of one machine since it was started.
#pragma once

#include "verified.hpp"

#include <functional>
#include <map>
#include <string>

namespace pi::loader {

/// What the file says of this machine since it was started. Empty if it cannot be read, is not a regular file of this user,
/// is larger than 1 MiB, or is not understood.
std::map<std::string, Verified, std::less<>> read_verified(const std::string &file);

/// Replaces the file as a whole, and makes its folder. Nothing happens where that is not possible, or where something is there
/// that is not a regular file.
void write_verified(const std::string &file,
                    const std::map<std::string, Verified, std::less<>> &answers);

} // namespace pi::loader
