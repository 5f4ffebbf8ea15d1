// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"
using namespace opencl_test;
