// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixture of the cuda plugin's tests: the plugin on the simulated driver, in its own loader.
#pragma once

#include "platform_fixture.hpp"

#include <string>
#include <vector>

namespace cuda_test {

using namespace pi_test;

/// A loader with the cuda plugin only.
Owned<pi_loader> make_loader(const std::string &library = PI_TEST_SIMULATED_CUDA,
                             const std::string &nvrtc = PI_TEST_SIMULATED_NVRTC,
                             const std::string &nvml = PI_TEST_SIMULATED_NVML);
/// The reason why the loaded plugin has no platform.
std::string unavailable(const std::string &library);

/// The devices of machine.json, in its order.
enum { first, second, third, lone };

/// The simulated machine, and a context of one or all of its devices.
struct Machine : PlatformFixture {
    explicit Machine(const std::vector<size_t> &of_context = {first, second, third, lone},
                     const std::string &nvrtc = PI_TEST_SIMULATED_NVRTC,
                     const std::string &nvml = PI_TEST_SIMULATED_NVML,
                     const std::string &library = PI_TEST_SIMULATED_CUDA);

    /// A program of the unit tests' kernels ("function ..." lines): not built, built, or compiled
    /// as a part.
    Owned<pi_program> create(pi_program_format format, const std::string &lines) const;
    Owned<pi_program> program(const std::string &lines) const;
    Owned<pi_program> part(const std::string &lines) const;
};

/// The build log or the options.
std::string build_text(pi_program program, pi_device device, pi_program_build_info name);

using Bytes = std::vector<uint8_t>;
/// 1, 2, 3, ...
Bytes counting(size_t size);
Bytes read_bytes(pi_queue queue, pi_mem mem, size_t size);

} // namespace cuda_test
