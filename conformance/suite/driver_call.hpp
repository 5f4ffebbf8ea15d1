// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells a thread that waits in a driver from one that its plugin forgot.
#pragma once

#include <string>

namespace pi::suite {

/// The driver's function that a plugin called on this thread and that has not returned,
/// "cuStreamSynchronize (libcuda.so.1)"; "" if the thread is not in a driver. It is found by the
/// return addresses on the thread's stack, so the driver must export it.
std::string driver_call_of(int thread);

} // namespace pi::suite
