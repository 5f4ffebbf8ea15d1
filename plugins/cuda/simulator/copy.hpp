// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "driver.hpp"

namespace pi::cuda::simulated {

/// The longest pitch that a caller may give. Real devices take 2 GiB; programs that go beyond it should be found with
/// buffers that a test can have.
constexpr size_t max_pitch = 64 << 10;

/// One end of a copy. `type` is HOST, DEVICE, ARRAY, or UNIFIED, which is one of the others by its address.
struct End {
    CUmemorytype type = CU_MEMORYTYPE_HOST;
    CUdeviceptr address = 0; ///< of the host, too
    CUarray array = nullptr;
    size_t x = 0, y = 0, z = 0; ///< x in bytes
    size_t pitch = 0, height = 0;
    std::shared_ptr<Context> context; ///< whose rights count; null: those of the stream's
};

struct Extent {
    size_t width = 0, height = 1, depth = 1; ///< width in bytes
    bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

/// How much of a copy is done when the call returns.
enum class Return {
    enqueued,  ///< nothing, but pageable host memory may be used again
    as_cuda,   ///< what the calls without Async promise: nothing between devices' memory, else all
    completed, ///< all
};

/// Checks the ends and enqueues the copy; throws INVALID_VALUE for addresses that are not known.
CUresult copy(Lock &lock, const std::shared_ptr<Stream> &stream, End to, End from, Extent extent,
              Return mode);

} // namespace pi::cuda::simulated
