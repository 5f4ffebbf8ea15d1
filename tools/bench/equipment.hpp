// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files next to pi-bench, and the loaders of its measurements.
#pragma once

#include <pi/pi.hpp>

#include <string>
#include <vector>

namespace pi_bench {

/// The path of a file that pi-bench uses: a plugin, a small program. Throws if it does not exist.
std::string equipment(const std::string &file);
/// Whether the file exists: some are only built if a library is available.
bool has_equipment(const std::string &file);

/// A loader with only these plugin files and layers, and without the environment.
pi::Loader load_only(const std::vector<std::string> &plugins,
                     const std::vector<const char *> &layers = {});
/// The value of a variable; "" if it is not set.
std::string variable(pi::LoaderRef loader, const std::string &name);
/// The file of a loaded plugin. Throws the reason if it is not loaded.
std::string plugin_file(pi::LoaderRef loader, const std::string &name);

} // namespace pi_bench
