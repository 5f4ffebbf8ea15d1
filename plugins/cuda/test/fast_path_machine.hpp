// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine of plugins/sdk/test/fast_path.
#pragma once

#include "native.hpp"

namespace fast_path_test {

using namespace cuda_test;

/// The memory of a device.
inline constexpr uint64_t device_bytes = uint64_t{64} << 20;

/// Waits for all pending work on `first`, without the plugin.
inline void finish_device(const Machine &, pi_queue) {
    const pi_cuda_test::Current current(first);
    REQUIRE(cu().cuCtxSynchronize() == CUDA_SUCCESS);
}

} // namespace fast_path_test
