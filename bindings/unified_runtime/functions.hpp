// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that the adapter serves, with the types and contracts of ur_api.h.
#pragma once

#include <unified-runtime/ur_api.h>

namespace pi::unified_runtime {

#define SERVE(table, member, function) decltype(::function) function;
#define REFUSE(table, member, function)
#include "functions.def"
#undef SERVE
#undef REFUSE

} // namespace pi::unified_runtime
