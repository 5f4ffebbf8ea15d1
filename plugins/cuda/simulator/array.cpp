// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays are dense.
#include "driver.hpp"

#include <algorithm>

namespace pi::cuda::simulated {

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

namespace {

/// Checks which axes there are and how long they may be. Without a height, depth means layers.
void check_shape(const CUDA_ARRAY3D_DESCRIPTOR &array, const Device &device) {
    need((array.Flags & ~unsigned{CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST}) == 0,
         CUDA_ERROR_NOT_SUPPORTED);
    const bool layered = array.Flags & CUDA_ARRAY3D_LAYERED;
    need(layered ? array.Depth > 0 : array.Height > 0 || array.Depth == 0,
         CUDA_ERROR_INVALID_VALUE);
    const auto check = [&](size_t length, CUdevice_attribute texture, CUdevice_attribute surface) {
        const bool loads = array.Flags & CUDA_ARRAY3D_SURFACE_LDST;
        need(length <= size_t(attribute_of(device, texture)) &&
                 (!loads || length <= size_t(attribute_of(device, surface))),
             CUDA_ERROR_INVALID_VALUE);
    };
#define PI_CHECK(length, axis)                                                                     \
    check(array.length, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE##axis,                                 \
          CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE##axis)
    if (layered && array.Height > 0) {
        PI_CHECK(Width, 2D_LAYERED_WIDTH);
        PI_CHECK(Height, 2D_LAYERED_HEIGHT);
        PI_CHECK(Depth, 2D_LAYERED_LAYERS);
    } else if (layered) {
        PI_CHECK(Width, 1D_LAYERED_WIDTH);
        PI_CHECK(Depth, 1D_LAYERED_LAYERS);
    } else if (array.Depth > 0) {
        PI_CHECK(Width, 3D_WIDTH);
        PI_CHECK(Height, 3D_HEIGHT);
        PI_CHECK(Depth, 3D_DEPTH);
    } else if (array.Height > 0) {
        PI_CHECK(Width, 2D_WIDTH);
        PI_CHECK(Height, 2D_HEIGHT);
    } else {
        PI_CHECK(Width, 1D_WIDTH);
    }
#undef PI_CHECK
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(out && descriptor && descriptor->Width > 0, CUDA_ERROR_INVALID_VALUE);
        const unsigned channels = descriptor->NumChannels;
        need(channels == 1 || channels == 2 || channels == 4, CUDA_ERROR_INVALID_VALUE);
        check_shape(*descriptor, *context->device);
        auto array = std::make_shared<Array>();
        array->context = context;
        array->descriptor = *descriptor;
        array->element = channel_size(descriptor->Format) * channels;
        array->row = array->element * descriptor->Width;
        array->slice = array->row * std::max<size_t>(descriptor->Height, 1);
        array->memory = allocate(context, array->slice * std::max<size_t>(descriptor->Depth, 1),
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
        *out = array->descriptor;
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
