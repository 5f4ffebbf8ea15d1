// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native handles: UR's are one word, whose meaning follows from the platform's backend.
#pragma once

#include "adapter.hpp"

#include <array>

namespace pi::unified_runtime {

/// PI's handle for a word of UR. UR_RESULT_ERROR_UNSUPPORTED_FEATURE: the backend has none for this
/// kind of object.
inline pi_native_handle native_of_type(const ur_platform_handle_t_ &platform, pi_kind kind,
                                       ur_native_handle_t word) {
    struct Row {
        ur_backend_t backend;
        pi_kind kind; // 0: every kind
        pi_native_type type;
    };
    constexpr std::array rows{
        Row{UR_BACKEND_OPENCL, 0, PI_NATIVE_OPENCL},
        Row{UR_BACKEND_LEVEL_ZERO, PI_KIND_MEM, PI_NATIVE_LEVEL_ZERO_POINTER},
        Row{UR_BACKEND_LEVEL_ZERO, 0, PI_NATIVE_LEVEL_ZERO},
        Row{UR_BACKEND_CUDA, PI_KIND_DEVICE, PI_NATIVE_CUDA_DEVICE},
        Row{UR_BACKEND_CUDA, PI_KIND_CONTEXT, PI_NATIVE_CUDA_CONTEXT},
        Row{UR_BACKEND_CUDA, PI_KIND_QUEUE, PI_NATIVE_CUDA_STREAM},
        Row{UR_BACKEND_CUDA, PI_KIND_EVENT, PI_NATIVE_CUDA_EVENT},
        Row{UR_BACKEND_CUDA, PI_KIND_MEM, PI_NATIVE_CUDA_POINTER},
        Row{UR_BACKEND_CUDA, PI_KIND_PROGRAM, PI_NATIVE_CUDA_MODULE},
        Row{UR_BACKEND_CUDA, PI_KIND_KERNEL, PI_NATIVE_CUDA_FUNCTION},
    };
    for (const Row &row : rows) {
        if (row.backend == platform.backend && (row.kind == 0 || row.kind == kind)) {
            pi_native_handle handle{};
            handle.type = row.type;
            handle.count = 1;
            handle.value[0] = word;
            return handle;
        }
    }
    throw Refusal(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  platform.name + " has no native handle for objects of this kind");
}

/// UR's word for PI's handle. UR_RESULT_ERROR_UNSUPPORTED_FEATURE: in a platform over several
/// drivers the handle is of another backend than the platform reports, so nobody would know what it
/// is.
inline ur_native_handle_t word_of(const ur_platform_handle_t_ &platform,
                                  const pi_native_handle &handle) {
    const ur_backend_t backend = handle.type == PI_NATIVE_OPENCL      ? UR_BACKEND_OPENCL
                                 : handle.type < PI_NATIVE_LEVEL_ZERO ? UR_BACKEND_CUDA
                                                                      : UR_BACKEND_LEVEL_ZERO;
    if (platform.platforms.size() > 1 && backend != platform.backend) {
        throw Refusal(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      platform.name + " has devices of several backends, and the native handle is "
                                      "not of the one that it reports");
    }
    return handle.value[0];
}

} // namespace pi::unified_runtime
