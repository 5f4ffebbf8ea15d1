// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file of verified connections: JSON, for one machine since its boot.
#pragma once

#include "verified.hpp"

#include <functional>
#include <map>
#include <string>

namespace pi::loader {

/// The file's results for this machine since its boot. Empty if it cannot be read, is not a regular
/// file of this user, is larger than 1 MiB, or is invalid.
std::map<std::string, Verified, std::less<>> read_verified(const std::string &file);

/// Replaces the file as a whole, and creates its folder. Does nothing if that is impossible, or if
/// the path exists and is not a regular file.
void write_verified(const std::string &file,
                    const std::map<std::string, Verified, std::less<>> &answers);

} // namespace pi::loader
