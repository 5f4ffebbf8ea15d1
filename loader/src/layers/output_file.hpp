// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file that a layer writes: never one that somebody else is writing, or reads under a lock.
#pragma once

#include "file_descriptor.hpp"

#include <string>

namespace pi::loader {
class Log;

/// A new file, empty and locked. %p in `path` is the process's number. If another loader or process has a
/// lock (flock) of the file, as who writes one has, one with numbers behind its name is made. None where none can be, which is logged: "LAYER: cannot write
/// ... (VARIABLE): why; CONSEQUENCE".
FileDescriptor open_output(const std::string &path, const char *layer, const char *variable,
                           const char *consequence, Log &log);

} // namespace pi::loader
