// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call stacks: cheap to take, and turned into text only for a report.
#pragma once

#include <string>
#include <vector>

namespace pi::loader {

/// Return addresses, innermost first.
using Stack = std::vector<void *>;

/// This thread's stack from the frame that `caller` returns into.
Stack take_stack(void *caller);

/// One line per frame: "#0 name+0x1f (module+0x1234)", or only the module and the offset if the
/// module exports no name. The offset is that of the call instruction, as addr2line needs it. The
/// loader's own frames at the begin (of other layers) are omitted.
std::string describe(const Stack &stack);

} // namespace pi::loader
