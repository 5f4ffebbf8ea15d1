// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names for the calls that the crash handler prints.
#pragma once

#include <string>

namespace pi::suite {

/// The output of a test. Each call of the form file and offset, "lib.so(+0x92b5)[0x7f37]", is
/// followed by its function and, with debug info, its line: " crash at toy.c:28". Without the
/// program addr2line the output is unchanged.
std::string with_names(const std::string &output);

} // namespace pi::suite
