// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine of plugins/sdk/test/fast_path, and launches on it.
#pragma once

#include "fixture.hpp"

#include <string>
#include <vector>

namespace fast_path_test {

using namespace pi_test;
using level_zero_test::InjectedFaults, level_zero_test::require_works;

enum { first, second };

struct Machine : level_zero_test::Machine {
    Machine() = default;
    /// Always of both devices.
    explicit Machine(const std::vector<size_t> &) {}
    using PlatformFixture::buffer;
    /// A program of the unit tests' kernels: "function ..." lines.
    Owned<pi_program> program(const std::string &lines) const;
};

/// The memory of a device.
inline constexpr uint64_t device_bytes = uint64_t{2} << 30;

/// Waits for all work in the queue's list, without the plugin.
void finish_device(const Machine &machine, pi_queue queue);

/// A function of the driver.
void *driver_function(const char *name);
template <class Function>
Function driver_call(const char *name) {
    return reinterpret_cast<Function>(driver_function(name));
}

} // namespace fast_path_test
