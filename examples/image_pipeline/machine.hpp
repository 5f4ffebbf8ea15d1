// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi_loader.h>

#include <string>

struct pi_sim_v1;

namespace image_pipeline {

/// The loader, released at the end of its scope.
class Loader {
public:
    /// `machine`: the file of a machine for the sim plugin; empty: as the environment says.
    explicit Loader(const std::string &machine);
    ~Loader();
    Loader(const Loader &) = delete;
    Loader &operator=(const Loader &) = delete;
    pi_loader get() const { return loader_; }

private:
    pi_loader loader_ = nullptr;
};

/// The clock of a loader's simulated machine.
class VirtualClock {
public:
    /// Throws pi::runtime::Error, or std::runtime_error with the reason why there is no such machine.
    explicit VirtualClock(pi_loader loader);
    /// The host waits, in virtual time, for all that has begun. Milliseconds.
    double pass_time() const;

private:
    pi_plugin plugin_ = nullptr;
    const pi_sim_v1 *sim_ = nullptr;
};

} // namespace image_pipeline
