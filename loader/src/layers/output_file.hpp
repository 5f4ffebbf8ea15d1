// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layer's output file: never one that another process is writing, or reads under a lock.
#pragma once

#include "file_descriptor.hpp"

#include <string>

namespace pi::loader {
class Log;

/// Creates a new file, empty and locked. %p in `path` stands for the process ID. If another loader
/// or process has a lock (flock) on the file, as every writer has, numbers are appended to the
/// name. Empty if no file can be created, which is logged: "LAYER: cannot write ... (VARIABLE):
/// why; CONSEQUENCE".
FileDescriptor open_output(const std::string &path, const char *layer, const char *variable,
                           const char *consequence, Log &log);

} // namespace pi::loader
