// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays are dense; no kernel can read them, since native kernels know no textures of CUDA.
#include "driver.hpp"

#include <algorithm>

namespace pi::cuda::simulated {

namespace {

size_t channel_size(CUarray_format format) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        throw Failure{CUDA_ERROR_INVALID_VALUE};
    }
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *description) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(out && description && description->Width > 0, CUDA_ERROR_INVALID_VALUE);
        const unsigned channels = description->NumChannels;
        need(channels == 1 || channels == 2 || channels == 4, CUDA_ERROR_INVALID_VALUE);
        auto array = std::make_shared<Array>();
        array->context = context;
        array->description = *description;
        array->element = channel_size(description->Format) * channels;
        array->row = array->element * description->Width;
        array->slice = array->row * std::max<size_t>(description->Height, 1);
        array->memory = allocate(context, array->slice * std::max<size_t>(description->Depth, 1),
                                 Kind::variable);
        *out = driver().arrays.add(array);
        return CUDA_SUCCESS;
    });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray handle) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<Array> array = driver().arrays.find(handle);
        need(array != nullptr, CUDA_ERROR_INVALID_HANDLE);
        need(out, CUDA_ERROR_INVALID_VALUE);
        *out = array->description;
        return CUDA_SUCCESS;
    });
}

CUresult cuArrayDestroy(CUarray handle) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &lock) {
        const std::shared_ptr<Array> array = driver().arrays.find(handle);
        need(array != nullptr, CUDA_ERROR_INVALID_HANDLE);
        driver().wait(lock, work_of(*array->context));
        driver().arrays.erase(handle);
        forget(*array->memory);
        return CUDA_SUCCESS;
    });
}

} // namespace pi::cuda
