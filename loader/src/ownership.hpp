// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whose a file is that nobody named, but a search found.
#pragma once

#include <string>

namespace pi::loader {

/// Where a path leads, step by step, and who could change that.
struct Resolved {
    std::string path;   ///< absolute and without links: what is opened is what was looked at
    std::string reason; ///< not empty: not to be opened
};

/// The reason is "" if nobody can put another file in the place of the one that `path` names but root, this process's user, and the
/// owners of the directories that lead to it; else it says who can, and what would be right. Each link on the way is
/// looked at as a file is, and then where it leads. What is not there is left to whoever opens it.
///
/// Others may not write to the file, nor to a directory on the way; but in one with the sticky bit, as /tmp, each may
/// only remove what is theirs, so that there a file counts by its owner. Groups may write, since many
/// systems give each user one.
Resolved resolve(const std::string &path);

} // namespace pi::loader
