// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include <cstring>

namespace pi::cuda::simulated {

namespace {

template <class Word>
void fill_rows(char *first, size_t pitch, size_t width, size_t height, Word word) {
    for (size_t y = 0; y < height; ++y) {
        char *const row = first + y * pitch;
        if constexpr (sizeof word == 1)
            std::memset(row, word, width);
        else
            for (size_t x = 0; x < width; ++x)
                std::memcpy(row + x * sizeof word, &word, sizeof word);
    }
}

/// The width is in words. Fills do not wait: hosts that read the memory must.
template <class Word>
CUresult fill(CUdeviceptr to, size_t pitch, Word word, size_t width, size_t height,
              CUstream handle) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        const std::shared_ptr<Stream> stream = stream_of(handle, context);
        if (width == 0 || height == 0)
            return CUDA_SUCCESS;
        const size_t row = width * sizeof word;
        need(to % sizeof word == 0 && (height == 1 || (pitch >= row && pitch % sizeof word == 0)),
             CUDA_ERROR_INVALID_VALUE);
        const size_t size = (height - 1) * pitch + row;
        need(known(to, size), CUDA_ERROR_INVALID_VALUE);
        enqueue(*stream, {.work = [=](CUresult) {
            Lock inner(driver().mutex);
            const Bytes bytes = reach(to, size, *stream->context, true);
            inner.unlock();
            fill_rows(bytes.data, pitch, width, height, word);
            return CUDA_SUCCESS;
        }});
        return CUDA_SUCCESS;
    });
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char word, size_t count) {
    return fill(to, 0, word, count, 1, nullptr);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short word, size_t count) {
    return fill(to, 0, word, count, 1, nullptr);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int word, size_t count) {
    return fill(to, 0, word, count, 1, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char word, size_t count, CUstream stream) {
    return fill(to, 0, word, count, 1, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short word, size_t count, CUstream stream) {
    return fill(to, 0, word, count, 1, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int word, size_t count, CUstream stream) {
    return fill(to, 0, word, count, 1, stream);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char word, size_t width,
                         size_t height) {
    return fill(to, pitch, word, width, height, nullptr);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short word, size_t width,
                          size_t height) {
    return fill(to, pitch, word, width, height, nullptr);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned int word, size_t width,
                          size_t height) {
    return fill(to, pitch, word, width, height, nullptr);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char word, size_t width,
                           size_t height, CUstream stream) {
    return fill(to, pitch, word, width, height, stream);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short word, size_t width,
                            size_t height, CUstream stream) {
    return fill(to, pitch, word, width, height, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned int word, size_t width,
                            size_t height, CUstream stream) {
    return fill(to, pitch, word, width, height, stream);
}

} // namespace pi::cuda
