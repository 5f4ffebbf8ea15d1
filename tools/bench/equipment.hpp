// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files next to pi-bench, and the loader of its measurements.
#pragma once

#include <pi/pi_loader.h>

#include <string>
#include <vector>

namespace pi_bench {

/// The path of a file that pi-bench uses: a plugin, a small program. Throws if it does not exist.
std::string equipment(const std::string &file);
/// Whether the file exists: some are only built if a library is available.
bool has_equipment(const std::string &file);

/// A loader, released at the end of its scope.
class Loader {
public:
    /// With everything that a loader finds.
    Loader();
    /// With only these plugin files and layers, and without the environment.
    explicit Loader(const std::vector<std::string> &plugins,
                    const std::vector<const char *> &layers = {});
    ~Loader();
    Loader(const Loader &) = delete;
    Loader &operator=(const Loader &) = delete;

    pi_loader get() const noexcept { return loader_; }
    /// The devices of a selector; for "", those that PI_DEVICE_SELECTOR selects. Throws
    /// pi::runtime::Error with the loader's text.
    std::vector<pi_device> devices(const std::string &selector) const;
    std::string selector(pi_device device) const;
    /// The value of a variable; "" if it is not set.
    std::string variable(const std::string &name) const;
    /// The file of a loaded plugin. Throws the reason if it is not loaded.
    std::string plugin_file(const std::string &name) const;

private:
    pi_loader loader_ = nullptr;
};

} // namespace pi_bench
