// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the layers that a test's environment puts under it (plugins/opencl/simulator).
#pragma once

#include <catch2/catch.hpp>

#include <dlfcn.h>

#include <cstdint>

namespace opencl_test {

template <class Function>
Function layer_function(const char *path, const char *name) {
    void *const layer = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(layer);
    const auto found = reinterpret_cast<Function>(dlsym(layer, name));
    dlclose(layer);
    REQUIRE(found);
    return found;
}

/// The number of calls of a function, or with "" of all counted functions.
inline uint64_t calls(const char *name) {
    using Function = uint64_t (*)(const char *);
    return layer_function<Function>(PI_TEST_OPENCL_COUNTER, "pi_opencl_calls")(name);
}

} // namespace opencl_test
