// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names for the calls that the crash handler prints.
#pragma once

#include <string>

namespace pi::suite {

/// The output of a test, where each call that is told as a file and an offset, "lib.so(+0x92b5)[0x7f37]",
/// is followed by its function and, where there is debug information, its line: " crash at toy.c:28".
/// addr2line knows them; without that program the output stays as it is.
std::string with_names(const std::string &output);

} // namespace pi::suite
