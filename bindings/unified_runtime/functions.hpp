// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that the adapter serves, with the types and contracts of ur_api.h.
#pragma once

#include <unified-runtime/ur_api.h>

namespace pi::unified_runtime {

#define TABLE(name, type)
#define COUNT(table, retain, release, type)
#define SERVE(table, member, function) decltype(::function) function;
#include "functions.def"
#undef TABLE
#undef COUNT
#undef SERVE

} // namespace pi::unified_runtime
