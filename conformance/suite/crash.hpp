// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace pi::suite {

/// The signal that makes a test that takes too long print where it is.
int hang_signal();

/// From now on a fatal signal first prints its name and the thread's calls on standard error. So
/// does hang_signal(), for the main thread; before that it prints a line with hang_mark
/// (process.hpp) if a thread is inside a function of PI.
void install_crash_handler();

} // namespace pi::suite
