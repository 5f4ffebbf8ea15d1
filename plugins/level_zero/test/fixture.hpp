// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixture of the level_zero plugin's tests: the plugin on the simulated driver, in its own
// loader.
#pragma once

#include "injected.hpp"
#include "platform_fixture.hpp"

#include <string>
#include <vector>

namespace level_zero_test {

using namespace pi_test;

/// A loader with the level_zero plugin only.
Owned<pi_loader> make_loader(const std::string &library = PI_TEST_INJECTING_LOADER);
/// The simulated driver's objects that were not destroyed, one line per kind.
std::string leaks();
/// The reason why the loaded plugin has no platform.
std::string unavailable(const std::string &library);

/// The functions of the library that injects faults; the faults end with the object.
struct InjectedFaults {
    InjectedFaults();
    ~InjectedFaults() { clear(); }
    InjectedFaults(const InjectedFaults &) = delete;

    decltype(&pi_injected_fail) fail = nullptr;
    decltype(&pi_injected_clear) clear = nullptr;
    decltype(&pi_injected_calls) calls = nullptr;
    decltype(&pi_injected_priority) priority = nullptr;
    decltype(&pi_injected_misalign) misalign = nullptr;
    decltype(&pi_injected_disagree) disagree = nullptr;
    /// A function of the driver, for the application's own objects.
    decltype(&zeSamplerCreate) create_sampler = nullptr;

    /// How many objects are left, by the calls that create and destroy them.
    uint64_t left(const char *create, const char *destroy) const {
        return calls(create) - calls(destroy);
    }
};

/// The machine of two peers, and a context of both.
struct Machine : PlatformFixture {
    Machine();

    /// Tries to create a buffer.
    pi_result try_buffer(uint64_t size, Owned<pi_mem> &out, uint64_t alignment = 0) const;
    Owned<pi_mem> buffer(uint64_t size, uint64_t alignment = 0) const;
};

/// Writes bytes and reads them again, blocking.
void require_works(const Machine &machine, pi_queue queue);

} // namespace level_zero_test
