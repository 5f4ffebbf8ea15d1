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
    Owned<pi_mem> buffer(size_t, uint64_t size) const {
        return level_zero_test::Machine::buffer(size);
    }
    /// A program of the unit tests' kernels: "function ..." lines.
    Owned<pi_program> program(const std::string &lines) const;
};

/// The memory of a device.
inline constexpr uint64_t device_bytes = uint64_t{2} << 30;

/// Waits for all work in the queue's list, without the plugin.
void finish_device(const Machine &machine, pi_queue queue);

Owned<pi_kernel> make_kernel(pi_program program, const char *name);
pi_kernel_argument buffer_argument(pi_mem mem);
template <class T>
pi_kernel_argument value_argument(const T &value) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_VALUE;
    argument.value = &value;
    argument.size = sizeof value;
    return argument;
}
/// In one dimension; the arguments are referenced, not copied.
pi_kernel_launch_desc launch_desc(pi_kernel kernel,
                                  const std::vector<pi_kernel_argument> &arguments, uint64_t items,
                                  uint64_t group = 0);

/// "count_up" on a buffer of 4-byte words, and its result.
inline constexpr const char *count_up = "function count_up pointer 4\n";

std::vector<uint32_t> read_words(pi_queue queue, pi_mem mem, size_t count);

/// A function of the driver.
void *driver_function(const char *name);
template <class Function>
Function driver_call(const char *name) {
    return reinterpret_cast<Function>(driver_function(name));
}

} // namespace fast_path_test
