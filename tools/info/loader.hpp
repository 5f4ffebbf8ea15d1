// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi_loader.h>

#include <string>
#include <vector>

namespace pi_info {

/// A loader, released at the end of its scope.
class Loader {
public:
    /// `plugins`: files or names to load before those that are found.
    explicit Loader(const std::vector<std::string> &plugins);
    ~Loader();
    Loader(const Loader &) = delete;
    Loader &operator=(const Loader &) = delete;
    pi_loader get() const noexcept { return loader_; }

private:
    pi_loader loader_ = nullptr;
};

} // namespace pi_info
