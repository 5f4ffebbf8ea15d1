// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace pi::suite {

/// The signal that asks a test that takes too long where it is.
int hang_signal();

/// From now on a fatal signal prints its name and the thread's calls on standard error, and then does
/// what it does. So does hang_signal(), for the main thread.
void install_crash_handler();

} // namespace pi::suite
