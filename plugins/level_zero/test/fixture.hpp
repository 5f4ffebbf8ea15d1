// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of the level_zero plugin stand on: the plugin on the simulated driver, in a loader of its own.
#pragma once

#include "objects.hpp"
#include "planted.hpp"

#include <string>
#include <vector>

namespace level_zero_test {

using namespace pi_test;

/// A loader that has nothing but the level_zero plugin.
Owned<pi_loader> make_loader(const std::string &library = PI_TEST_PLANTED_LOADER);
/// What the simulated driver has that nobody has destroyed, a line for each kind.
std::string leaks();
/// Why the plugin, which is loaded, has no platform.
std::string unavailable(const std::string &library);

/// The planted library's functions; what is planted goes with the object.
struct Planted {
    Planted();
    ~Planted() { clear(); }
    Planted(const Planted &) = delete;

    decltype(&pi_planted_fail) fail = nullptr;
    decltype(&pi_planted_clear) clear = nullptr;
    decltype(&pi_planted_calls) calls = nullptr;
    decltype(&pi_planted_priority) priority = nullptr;
    decltype(&pi_planted_misalign) misalign = nullptr;
    decltype(&pi_planted_disagree) disagree = nullptr;
    /// A function of the driver's, for objects of the application's own.
    decltype(&zeSamplerCreate) create_sampler = nullptr;

    /// Of calls that create and others that destroy: how many are left.
    uint64_t left(const char *create, const char *destroy) const {
        return calls(create) - calls(destroy);
    }
};

/// The machine of two peers, and a context of both.
struct Machine {
    Machine();

    Owned<pi_queue> queue(size_t device = 0, uint64_t flags = 0) const;
    /// What it was made of, or not.
    pi_result try_buffer(uint64_t size, Owned<pi_mem> &out, uint64_t alignment = 0) const;
    Owned<pi_mem> buffer(uint64_t size, uint64_t alignment = 0) const;
    pi_memory_connection_info connection(size_t src, size_t dst) const;

    Owned<pi_loader> loader;
    pi_platform platform = nullptr;
    std::vector<pi_device> devices;
    Owned<pi_context> context;
};

/// Writes bytes and reads them again, blocking.
void require_works(const Machine &machine, pi_queue queue);

} // namespace level_zero_test
