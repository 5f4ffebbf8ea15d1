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
    /// `machine`: a machine file for the plugin sim; empty: the environment's. `count_calls`:
    /// calls_of() works, and each call costs a little more. Throws pi::runtime::Error.
    explicit Loader(const std::string &machine, bool count_calls = false);
    ~Loader();
    Loader(const Loader &) = delete;
    Loader &operator=(const Loader &) = delete;
    pi_loader get() const { return loader_; }
    /// The number of calls of a function of any plugin. Throws pi::runtime::Error, also without
    /// count_calls.
    uint64_t calls_of(const std::string &function) const;

private:
    pi_loader loader_ = nullptr;
};

/// The clock of a loader's simulated machine. A program that was built without pi_sim.h has none:
/// it throws.
class VirtualClock {
public:
    /// Throws pi::runtime::Error, or std::runtime_error with the reason if there is no simulated
    /// machine.
    explicit VirtualClock(pi_loader loader);
    /// Lets the host wait, in virtual time, for all work; returns the clock's milliseconds.
    double pass_time() const;

private:
    pi_plugin plugin_ = nullptr;
    const pi_sim_v1 *sim_ = nullptr;
};

} // namespace examples
