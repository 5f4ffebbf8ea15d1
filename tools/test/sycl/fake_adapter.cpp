// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports that Unified Runtime's loader opened it; it has no tables.
#include <cstdio>

namespace {

[[maybe_unused]] const int opened = std::fputs("the adapter was opened\n", stderr);

} // namespace
