// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pi::drivers {

/// At the end of the process: prints a line on standard error for each leak of that driver. With
/// `strict` and any leak, the process exits with 70.
void report_leaks(const char *driver, const std::vector<std::string> &leaks, bool strict);

/// Whether the process was forked from the one that loaded the driver. The driver cannot be used
/// then: its threads are gone, and locks that they held stay locked.
bool is_forked();

/// Writes the lines into `text`, of at most `size` bytes with the final 0; nothing if it is NULL.
/// Returns the number of leaks.
int copy_leaks(const std::vector<std::string> &leaks, char *text, std::size_t size);

} // namespace pi::drivers
