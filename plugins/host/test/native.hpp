// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native kernels for the tests.
#pragma once

#include "fixture.hpp"
#include "native_kernel.hpp"

namespace pi_test {

/// add(data, summand): each work-item adds to its uint32_t, at its global id's position in the
/// order x + X * (y + Y * z), without the global offset. The others are described in
/// kernel_test.cpp.
extern const pi_native_kernel table_kernels[];
extern const pi_native_program table;

inline Owned<pi_program> make_program(const Host &host) {
    return make_program(host.context, table);
}

} // namespace pi_test
