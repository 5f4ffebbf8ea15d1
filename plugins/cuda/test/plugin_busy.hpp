// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fast_path/busy.hpp"

namespace cuda_test {

using namespace fast_path_test;

} // namespace cuda_test
