// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi_loader.h>

#include <cstdint>
#include <string>

struct pi_sim_v1;

namespace examples {

/// The loader, released at the end of its scope.
class Loader {
public:
    /// `machine`: the file of a machine for the sim plugin; empty: as the environment says. `count_calls`: calls_of() can
    /// be asked, for which each call costs a little more. Throws pi::runtime::Error.
    explicit Loader(const std::string &machine, bool count_calls = false);
    ~Loader();
    Loader(const Loader &) = delete;
    Loader &operator=(const Loader &) = delete;
    pi_loader get() const { return loader_; }
    /// How often a function of any plugin has been called. Throws pi::runtime::Error, also without count_calls.
    uint64_t calls_of(const std::string &function) const;

private:
    pi_loader loader_ = nullptr;
};

/// The clock of a loader's simulated machine. In a program that was built without pi_sim.h there is none: it throws.
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

} // namespace examples
