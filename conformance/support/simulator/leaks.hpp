// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pi::drivers {

/// At the end of the process: a line on standard error for each leak of that driver; with `strict`, and any, the process ends
/// with 70.
void report_leaks(const char *driver, const std::vector<std::string> &leaks, bool strict);

/// Whether the process was forked from the one that loaded the driver. Then nothing of the driver can be used: it has none of the
/// other's threads, and what they had locked stays so.
bool is_forked();

/// The lines into a text of at most `size` bytes, which ends with 0; NULL for no text. Returns how many leaks there are.
int copy_leaks(const std::vector<std::string> &leaks, char *text, std::size_t size);

} // namespace pi::drivers
