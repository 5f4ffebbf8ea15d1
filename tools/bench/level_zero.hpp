// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain Level Zero, as a program without PI would use it: API 1.4, through the vendor's loader.
#pragma once

#include <level_zero/ze_api.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>

namespace pi_bench {

#define PI_BENCH_LEVEL_ZERO_FUNCTIONS(X)                                                           \
    X(zeInit)                                                                                      \
    X(zeContextCreate)                                                                             \
    X(zeContextDestroy)                                                                            \
    X(zeCommandListCreateImmediate)                                                                \
    X(zeCommandListDestroy)                                                                        \
    X(zeCommandListAppendLaunchKernel)                                                             \
    X(zeCommandListAppendMemoryCopy)                                                               \
    X(zeCommandListAppendMemoryCopyRegion)                                                         \
    X(zeCommandListAppendMemoryFill)                                                               \
    X(zeEventPoolCreate)                                                                           \
    X(zeEventPoolDestroy)                                                                          \
    X(zeEventCreate)                                                                               \
    X(zeEventDestroy)                                                                              \
    X(zeEventHostReset)                                                                            \
    X(zeEventHostSynchronize)                                                                      \
    X(zeKernelCreate)                                                                              \
    X(zeKernelDestroy)                                                                             \
    X(zeKernelSetArgumentValue)                                                                    \
    X(zeKernelSetGroupSize)                                                                        \
    X(zeMemAllocDevice)                                                                            \
    X(zeMemFree)                                                                                   \
    X(zeModuleCreate)                                                                              \
    X(zeModuleDestroy)

/// The functions of the vendor's loader. It stays open for the life of the process.
struct LevelZero {
    /// Throws std::runtime_error if the library or a function is missing.
    explicit LevelZero(const std::string &path);
#define PI_BENCH_LEVEL_ZERO_MEMBER(name) decltype(&::name) name = nullptr;
    PI_BENCH_LEVEL_ZERO_FUNCTIONS(PI_BENCH_LEVEL_ZERO_MEMBER)
#undef PI_BENCH_LEVEL_ZERO_MEMBER
};

/// Throws std::runtime_error("<call>: <code>") unless the code is ZE_RESULT_SUCCESS.
void check_ze(ze_result_t code, const char *call);

/// An object of the driver, released at the end of its scope.
template <class Handle>
using ZeOwned = std::unique_ptr<std::remove_pointer_t<Handle>, std::function<void(Handle)>>;

} // namespace pi_bench
