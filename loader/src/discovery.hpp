// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where plugin files are looked for. Nothing is opened here.
#pragma once

#include "plugin.hpp"

#include <string>
#include <vector>

namespace pi::loader {

/// A file to open, or a reason why there is none.
struct Candidate {
    std::string name;       ///< what it was asked for by; may be empty
    std::string path;       ///< absolute where something was found
    std::string reason;     ///< not empty: nothing can be opened
    std::string manifest{}; ///< the file that names `path`, if any

    /// For the end of a reason: where the path comes from, if not from who asked.
    std::string origin() const {
        return manifest.empty() ? "" : " (named by the manifest " + manifest + ")";
    }
};

struct SearchRequest {
    std::vector<std::string> plugins;     ///< the description's: names or paths
    std::vector<std::string> directories; ///< the description's
    bool default_search = true;           ///< also all that the description does not name
    std::string loader_file;              ///< where libpi_loader lies; may be empty
};

/// The candidates in the order of pi_loader.h; a file may come several times. A name is looked up in
/// all places, also without the default search: that only stops what nobody named.
std::vector<Candidate> find_plugins(const SearchRequest &request, Services &services);

/// The prefix of an installed file: "/opt/pi" for "/opt/pi/lib/x86_64-linux-gnu/libpi_loader.so.1".
std::string install_prefix(const std::string &file);

} // namespace pi::loader
