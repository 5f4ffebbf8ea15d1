// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "driver.hpp"

namespace pi::cuda::simulated {

/// The longest pitch that callers may pass. Real devices allow 2 GiB; a small limit finds programs
/// that exceed it with small buffers.
constexpr size_t max_pitch = 64 << 10;

/// One end of a copy. `type` is HOST, DEVICE, ARRAY, or UNIFIED, which the address resolves to one
/// of these.
struct End {
    CUmemorytype type = CU_MEMORYTYPE_HOST;
    CUdeviceptr address = 0; ///< also of host memory
    CUarray array = nullptr;
    size_t x = 0, y = 0, z = 0; ///< x in bytes
    size_t pitch = 0, height = 0;
    std::shared_ptr<Context> context; ///< the context whose access rights count; null: the stream's
};

struct Extent {
    size_t width = 0, height = 1, depth = 1; ///< width in bytes
    bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

/// How much of a copy is done when the call returns.
enum class Return {
    enqueued,  ///< nothing, but pageable host memory may be reused
    as_cuda,   ///< as calls without Async promise: nothing between device memory, otherwise all
    completed, ///< all
};

/// Checks the ends and enqueues the copy; throws INVALID_VALUE for unknown addresses.
CUresult copy(Lock &lock, const std::shared_ptr<Stream> &stream, End to, End from, Extent extent,
              Return mode);

} // namespace pi::cuda::simulated
