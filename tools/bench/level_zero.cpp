// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "level_zero.hpp"

#include <dlfcn.h>
#include <stdexcept>

namespace pi_bench {

LevelZero::LevelZero(const std::string &path) {
    void *const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw std::runtime_error(dlerror());
    }
    const auto find = [&](const char *name) {
        void *const address = dlsym(library, name);
        if (address == nullptr) {
            throw std::runtime_error(path + " has no " + name);
        }
        return address;
    };
#define PI_BENCH_LEVEL_ZERO_FIND(name) name = reinterpret_cast<decltype(name)>(find(#name));
    PI_BENCH_LEVEL_ZERO_FUNCTIONS(PI_BENCH_LEVEL_ZERO_FIND)
#undef PI_BENCH_LEVEL_ZERO_FIND
    check_ze(zeInit(0), "zeInit");
}

void check_ze(ze_result_t code, const char *call) {
    if (code != ZE_RESULT_SUCCESS) {
        throw std::runtime_error(std::string(call) + ": " + std::to_string(code));
    }
}

} // namespace pi_bench
