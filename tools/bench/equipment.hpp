// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lies beside pi-bench, and the loader that it measures with.
#pragma once

#include <pi/pi_loader.h>

#include <string>
#include <vector>

namespace pi_bench {

/// The path of a file that pi-bench measures with: a plugin, a small program. Throws if there is none.
std::string equipment(const std::string &file);
/// Whether there is one: some are only built where a library is.
bool has_equipment(const std::string &file);

/// A loader, released at the end of its scope.
class Loader {
public:
    /// With everything that a loader finds.
    Loader();
    /// With these plugin files and layers alone, and without the environment.
    explicit Loader(const std::vector<std::string> &plugins,
                    const std::vector<const char *> &layers = {});
    ~Loader();
    Loader(const Loader &) = delete;
    Loader &operator=(const Loader &) = delete;

    pi_loader get() const noexcept { return loader_; }
    /// The devices of a selector; of "", those that PI_DEVICE_SELECTOR lets through. Throws
    /// pi::runtime::Error with the loader's text.
    std::vector<pi_device> devices(const std::string &selector) const;
    std::string selector(pi_device device) const;
    /// What is in force; "" if it is not set.
    std::string variable(const std::string &name) const;
    /// The file of a plugin that is loaded. Throws if it is not, with the reason.
    std::string plugin_file(const std::string &name) const;

private:
    pi_loader loader_ = nullptr;
};

} // namespace pi_bench
