// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search for plugin files. It opens none of them.
#pragma once

#include "plugin.hpp"

#include <string>
#include <vector>

namespace pi::loader {

/// A file to open, or the reason why there is none.
struct Candidate {
    std::string name;       ///< the requested name; may be empty
    std::string path;       ///< absolute if a file was found
    std::string reason;     ///< not empty: nothing can be opened
    std::string manifest{}; ///< the manifest that names `path`, if any

    /// Ends a reason: the manifest that the path comes from, if any.
    std::string origin() const {
        return manifest.empty() ? "" : " (named by the manifest " + manifest + ")";
    }
};

struct SearchRequest {
    std::vector<std::string> plugins;     ///< of the descriptor: names or paths
    std::vector<std::string> directories; ///< of the descriptor
    bool default_search = true; ///< also search for plugins that the descriptor does not name
    std::string loader_file;    ///< path of libpi_loader; may be empty
};

/// The candidates in the order of pi_loader.h; a file may occur several times. A name is looked up
/// in all places even without the default search, which covers only plugins that nobody requested.
std::vector<Candidate> find_plugins(const SearchRequest &request, Services &services);

/// The prefix of an installed file: "/opt/pi" for "/opt/pi/lib/x86_64-linux-gnu/libpi_loader.so.1".
std::string install_prefix(const std::string &file);

} // namespace pi::loader
