// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whose a file is that nobody named, but a search found.
#pragma once

#include <string>

namespace pi::loader {

/// Where a path leads, step by step, and who could change that.
struct Resolved {
    std::string path;   ///< absolute and without links, as far as it leads to anything
    std::string reason; ///< not empty: not to be opened
    bool missing = false;
};

/// The reason is "" if there is a file, and nobody can put another one in its place but root, this process's user, and the
/// owners of the directories that lead to it; else it says who can, and what would be right. Each link on the way is
/// looked at as a file is, and then where it leads. Each step is looked at by the descriptor that the next one starts
/// from, so that nothing can be exchanged between the look and the step; and what exists and passes stays what it is, so
/// that the path may be opened later. What does not exist yet could become anyone's.
///
/// Others may not write to the file, nor to a directory on the way; but in one with the sticky bit, as /tmp, each may
/// only remove what is theirs, so that there a file counts by its owner. Groups may write, since many
/// systems give each user one.
Resolved resolve(const std::string &path);

} // namespace pi::loader
