// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call stacks: cheap to take, put into words only when somebody is told.
#pragma once

#include <string>
#include <vector>

namespace pi::loader {

/// Return addresses, innermost first.
using Stack = std::vector<void *>;

/// This thread's stack from the frame that `caller` returns into.
Stack take_stack(void *caller);

/// A line for each frame: "#0 name+0x1f (module+0x1234)", or the module and the offset alone where the
/// module exports no name. The offset is of the call itself, as addr2line wants it. The loader's own frames
/// at the begin (of other layers) are left out.
std::string describe(const Stack &stack);

} // namespace pi::loader
