// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Marks what libpi_runtime exports. Its C++ ABI is that of one toolchain: build the runtime and
/// its users with the same compiler and standard library.
#define PI_RUNTIME_EXPORT __attribute__((visibility("default")))
