// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixture of the sim plugin's tests: a machine written in the test, in its own loader.
#pragma once

#include "platform_fixture.hpp"
#include "temporary.hpp"

#include <pi/pi_native_kernel.h>
#include <pi/pi_sim.h>

#include <optional>
#include <string>
#include <vector>

namespace sim_test {

using namespace pi_test;
using Bytes = std::vector<std::byte>;

/// A loader with the sim plugin only; the path "" means no machine.
Owned<pi_loader> make_loader(const std::string &machine_path);
/// The reason why the loaded plugin has no machine.
std::string refusal(const std::string &machine_path);

/// A running machine with a context of all its devices.
struct Simulation : PlatformFixture {
    explicit Simulation(const std::string &json);

    Owned<pi_queue> queue(size_t index = 0, uint64_t flags = PI_QUEUE_PROFILING) const {
        return PlatformFixture::queue(index, flags);
    }
    Owned<pi_mem> buffer(size_t index, uint64_t size, uint32_t scope = 0,
                         uint64_t flags = 0) const {
        return PlatformFixture::buffer(index, buffer_desc(size, flags, nullptr, 0, scope));
    }
    /// The host's clock.
    uint64_t now() const;
    pi_sim_link link(const std::string &from, const std::string &to) const;

    const pi_sim_v1 *sim = nullptr;
};

struct Times {
    uint64_t submit, start, end;
    bool operator==(const Times &) const = default;
};
/// Waits, and returns the virtual times.
Times times_of(pi_event event);

using Waits = std::vector<pi_event>;
Owned<pi_event> copy(pi_queue queue, pi_mem src, pi_mem dst, uint64_t size,
                     const Waits &waits = {});
/// Keeps a copy of the bytes until the command is done.
Owned<pi_event> write(pi_queue queue, pi_mem mem, const Bytes &bytes, const Waits &waits = {});
/// Blocking.
Bytes read(pi_queue queue, pi_mem mem, uint64_t size);

/// A kernel that adds 1 to each byte of its argument.
Owned<pi_kernel> make_add_one(pi_context context);
/// With one argument, a buffer from an offset on.
Owned<pi_event> launch(pi_queue queue, pi_kernel kernel, pi_mem mem, uint64_t items,
                       uint64_t offset = 0, const Waits &waits = {});

inline Bytes some_bytes(uint64_t size, unsigned first = 1) {
    Bytes bytes(size);
    for (uint64_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>((first + i * 7) % 251);
    return bytes;
}

/// Two GPUs that copy to each other directly. From the host a byte takes 1 ns after 100 ns; from
/// GPU to GPU half of both; within a GPU's memory a tenth of a nanosecond. `more` is added to the
/// machine's members.
std::string two_gpus(const std::string &more = "");

} // namespace sim_test
