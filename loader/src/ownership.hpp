// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks who may change a file that a search found.
#pragma once

#include <string>

namespace pi::loader {

/// The target of a path, resolved step by step, and whether others could change it.
struct Resolved {
    std::string path;   ///< absolute and without links, as far as it exists
    std::string reason; ///< not empty: must not be opened
    bool missing = false;
};

/// The reason is "" if the file exists and only root, this process's user and the owners of the
/// directories on the way can replace it; else it says who can, and how to fix it. Each link on the
/// way is checked like a file, and then its target. Each step starts from the descriptor that was
/// checked, so nothing can be exchanged in between, and a path that passes may be opened later. A
/// path that does not exist yet could become anyone's.
///
/// Others must not be able to write to the file or to a directory on the way. In a directory with
/// the sticky bit, as /tmp, each user can only remove their own files, so there the file's owner
/// decides. Groups may write, since many systems give each user one.
Resolved resolve(const std::string &path);

} // namespace pi::loader
