// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Textures and surfaces: kernels' access to the pixels of arrays and, by textures, of linear
// memory. A native kernel receives a record of the raw pixels with the texture's settings, and
// samples by itself.
#include "texture.hpp"

#include <algorithm>

namespace pi::cuda::simulated {

namespace {

constexpr unsigned known_flags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES;

bool narrow_integer(CUarray_format format) {
    return format == CU_AD_FORMAT_UNSIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT8 ||
           format == CU_AD_FORMAT_UNSIGNED_INT16 || format == CU_AD_FORMAT_SIGNED_INT16;
}

/// Whether the kernel reads integers.
bool reads_integers(CUarray_format format, unsigned flags) {
    const bool real = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT;
    return !real && (!narrow_integer(format) || flags & CU_TRSF_READ_AS_INTEGER);
}

std::shared_ptr<Array> array_of(const CUDA_RESOURCE_DESC *resource,
                                const std::shared_ptr<Context> &context) {
    need(resource && resource->flags == 0, CUDA_ERROR_INVALID_VALUE);
    need(resource->resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, CUDA_ERROR_NOT_SUPPORTED);
    need(resource->resType == CU_RESOURCE_TYPE_ARRAY, CUDA_ERROR_INVALID_VALUE);
    std::shared_ptr<Array> array = driver().arrays.find(resource->res.array.hArray);
    need(array && array->context == context, CUDA_ERROR_INVALID_HANDLE);
    return array;
}

/// Pixels in linear memory.
struct Line {
    CUdeviceptr begin;
    CUarray_format format;
    unsigned channels;
    size_t width, height, pitch; ///< height 0: one row of a 1-D texture
    size_t element() const { return channel_size(format) * channels; }
    size_t bytes() const {
        return height == 0 ? width * element() : (height - 1) * pitch + width * element();
    }
};

Line line_of(const CUDA_RESOURCE_DESC &resource) {
    if (resource.resType == CU_RESOURCE_TYPE_PITCH2D) {
        const auto &of = resource.res.pitch2D;
        return {of.devPtr, of.format, of.numChannels, of.width, of.height, of.pitchInBytes};
    }
    const auto &of = resource.res.linear;
    const size_t element = channel_size(of.format) * of.numChannels;
    const size_t width = element == 0 ? 0 : of.sizeInBytes / element;
    return {of.devPtr, of.format, of.numChannels, width, 0, of.sizeInBytes};
}

/// The pixels must be memory that the context may use now; their beginning and pitch must have the
/// device's alignments.
void check_line(const CUDA_RESOURCE_DESC &resource, const Context &context) {
    const auto limit = [&](CUdevice_attribute name) {
        return static_cast<size_t>(attribute_of(*context.device, name));
    };
    const Line line = line_of(resource);
    need(resource.flags == 0 && (line.channels == 1 || line.channels == 2 || line.channels == 4) &&
             line.width > 0 && line.begin % limit(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) == 0,
         CUDA_ERROR_INVALID_VALUE);
    if (resource.resType == CU_RESOURCE_TYPE_PITCH2D)
        need(line.height > 0 && line.pitch >= line.width * line.element() &&
                 line.pitch % limit(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) == 0 &&
                 line.width <= limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) &&
                 line.height <= limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) &&
                 line.pitch <= limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH),
             CUDA_ERROR_INVALID_VALUE);
    else
        need(line.width <= limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH),
             CUDA_ERROR_INVALID_VALUE);
    need(known(line.begin, line.bytes()), CUDA_ERROR_INVALID_VALUE);
}

/// 1-D textures of memory only fetch pixels. A real device ignores settings beyond that.
void check_fetches(const CUDA_TEXTURE_DESC &how) {
    need(how.filterMode == CU_TR_FILTER_MODE_POINT &&
             (how.flags & CU_TRSF_NORMALIZED_COORDINATES) == 0,
         CUDA_ERROR_INVALID_VALUE);
}

void check_texture(const CUDA_TEXTURE_DESC &how, CUarray_format format) {
    need((how.flags & ~known_flags) == 0, CUDA_ERROR_NOT_SUPPORTED);
    need(how.filterMode == CU_TR_FILTER_MODE_POINT || how.filterMode == CU_TR_FILTER_MODE_LINEAR,
         CUDA_ERROR_INVALID_VALUE);
    need(how.filterMode == CU_TR_FILTER_MODE_POINT || !reads_integers(format, how.flags),
         CUDA_ERROR_INVALID_VALUE);
    for (const CUaddress_mode mode : how.addressMode) {
        need(mode >= CU_TR_ADDRESS_MODE_WRAP && mode <= CU_TR_ADDRESS_MODE_BORDER,
             CUDA_ERROR_INVALID_VALUE);
        // A real device clamps in this case.
        need((how.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ||
                 (mode != CU_TR_ADDRESS_MODE_WRAP && mode != CU_TR_ADDRESS_MODE_MIRROR),
             CUDA_ERROR_INVALID_VALUE);
    }
    // All axes share one addressing mode; the border is 0.
    need(std::count(how.addressMode, how.addressMode + 3, how.addressMode[0]) == 3 &&
             std::count(how.borderColor, how.borderColor + 4, 0.0f) == 4,
         CUDA_ERROR_NOT_SUPPORTED);
    need(how.maxAnisotropy <= 16 && std::count(how.reserved, how.reserved + 12, 0) == 12,
         CUDA_ERROR_INVALID_VALUE);
}

pi_channel_type channel_type(CUarray_format format, bool norm) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
        return norm ? PI_CHANNEL_UNORM8 : PI_CHANNEL_UINT8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
        return norm ? PI_CHANNEL_UNORM16 : PI_CHANNEL_UINT16;
    case CU_AD_FORMAT_SIGNED_INT8:
        return norm ? PI_CHANNEL_SNORM8 : PI_CHANNEL_SINT8;
    case CU_AD_FORMAT_SIGNED_INT16:
        return norm ? PI_CHANNEL_SNORM16 : PI_CHANNEL_SINT16;
    case CU_AD_FORMAT_UNSIGNED_INT32:
        return PI_CHANNEL_UINT32;
    case CU_AD_FORMAT_SIGNED_INT32:
        return PI_CHANNEL_SINT32;
    case CU_AD_FORMAT_HALF:
        return PI_CHANNEL_HALF;
    default:
        return PI_CHANNEL_FLOAT;
    }
}

pi_image_type image_type(const CUDA_ARRAY3D_DESCRIPTOR &array) {
    if (array.Flags & CUDA_ARRAY3D_LAYERED)
        return array.Height ? PI_IMAGE_2D_ARRAY : PI_IMAGE_1D_ARRAY;
    return array.Depth ? PI_IMAGE_3D : array.Height ? PI_IMAGE_2D : PI_IMAGE_1D;
}

pi_native_sampler sampler_of(const CUDA_TEXTURE_DESC &how) {
    pi_native_sampler sampler{};
    sampler.struct_size = sizeof sampler;
    sampler.normalized_coordinates = (how.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    switch (how.addressMode[0]) {
    case CU_TR_ADDRESS_MODE_WRAP:
        sampler.addressing = PI_ADDRESSING_REPEAT;
        break;
    case CU_TR_ADDRESS_MODE_MIRROR:
        sampler.addressing = PI_ADDRESSING_MIRRORED_REPEAT;
        break;
    case CU_TR_ADDRESS_MODE_BORDER:
        sampler.addressing = PI_ADDRESSING_CLAMP;
        break;
    default:
        sampler.addressing = PI_ADDRESSING_CLAMP_TO_EDGE;
    }
    sampler.filter =
        how.filterMode == CU_TR_FILTER_MODE_LINEAR ? PI_FILTER_LINEAR : PI_FILTER_NEAREST;
    return sampler;
}

pi_channel_order channel_order(unsigned channels) {
    return channels == 1   ? PI_CHANNEL_ORDER_R
           : channels == 2 ? PI_CHANNEL_ORDER_RG
                           : PI_CHANNEL_ORDER_RGBA;
}

/// The pixels in memory, if the context may use them when the kernel runs; otherwise throws
/// ILLEGAL_ADDRESS.
std::shared_ptr<ImageRecord> record_of(const Line &line, const Context &context, bool norm) {
    const Bytes bytes = reach(line.begin, line.bytes(), context, false);
    auto record = std::make_shared<ImageRecord>();
    record->memory = bytes.owners;
    pi_native_image &image = record->image;
    image.struct_size = sizeof image;
    image.image_type = line.height == 0 ? PI_IMAGE_1D : PI_IMAGE_2D;
    image.channel_order = channel_order(line.channels);
    image.channel_type = channel_type(line.format, norm);
    image.data = bytes.data;
    image.extent[0] = line.width;
    image.extent[1] = std::max<size_t>(line.height, 1);
    image.extent[2] = 1;
    image.row_pitch = line.pitch;
    image.slice_pitch = line.pitch * image.extent[1];
    image.pixel_size = static_cast<uint32_t>(line.element());
    return record;
}

/// The pixels of a live array of the context; otherwise throws ILLEGAL_ADDRESS.
std::shared_ptr<ImageRecord> record_of(const std::shared_ptr<Array> &array, const Context &context,
                                       bool norm) {
    need(driver().arrays.find(array->handle) == array && array->context.get() == &context,
         CUDA_ERROR_ILLEGAL_ADDRESS);
    auto record = std::make_shared<ImageRecord>();
    record->memory = {array->memory};
    const CUDA_ARRAY3D_DESCRIPTOR &descriptor = array->descriptor;
    pi_native_image &image = record->image;
    image.struct_size = sizeof image;
    image.image_type = image_type(descriptor);
    image.channel_order = channel_order(descriptor.NumChannels);
    image.channel_type = channel_type(descriptor.Format, norm);
    image.data = array->memory->bytes;
    image.extent[0] = descriptor.Width;
    image.extent[1] = std::max<size_t>(descriptor.Height, 1);
    image.extent[2] = std::max<size_t>(descriptor.Depth, 1);
    image.row_pitch = array->row;
    image.slice_pitch = array->slice;
    image.pixel_size = static_cast<uint32_t>(array->element);
    return record;
}

} // namespace

std::shared_ptr<ImageRecord> texture_record(CUtexObject handle, const Context &context) {
    const std::shared_ptr<Texture> texture = driver().textures.find(handle);
    need(texture != nullptr, CUDA_ERROR_ILLEGAL_ADDRESS);
    const CUarray_format format =
        texture->array ? texture->array->descriptor.Format : line_of(texture->resource).format;
    const bool norm = !reads_integers(format, texture->how.flags);
    need(texture->context.get() == &context, CUDA_ERROR_ILLEGAL_ADDRESS);
    auto record = texture->array ? record_of(texture->array, context, norm)
                                 : record_of(line_of(texture->resource), context, norm);
    record->sampler = sampler_of(texture->how);
    record->image.sampler = &record->sampler;
    return record;
}

std::shared_ptr<ImageRecord> surface_record(CUsurfObject handle, const Context &context) {
    const std::shared_ptr<Surface> surface = driver().surfaces.find(handle);
    need(surface != nullptr, CUDA_ERROR_ILLEGAL_ADDRESS);
    return record_of(surface->array, context, false);
}

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *how, const CUDA_RESOURCE_VIEW_DESC *view) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(out && how && resource, CUDA_ERROR_INVALID_VALUE);
        need(!view, CUDA_ERROR_NOT_SUPPORTED);
        auto texture = std::make_shared<Texture>();
        texture->context = context;
        texture->resource = *resource;
        texture->how = *how;
        const bool line = resource->resType == CU_RESOURCE_TYPE_LINEAR;
        if (line || resource->resType == CU_RESOURCE_TYPE_PITCH2D) {
            check_line(*resource, *context);
            check_texture(*how, line_of(*resource).format);
        } else {
            texture->array = array_of(resource, context);
            check_texture(*how, texture->array->descriptor.Format);
        }
        if (line)
            check_fetches(*how);
        *out = driver().textures.add(texture);
        return CUDA_SUCCESS;
    });
}

CUresult cuSurfObjectCreate(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        auto surface = std::make_shared<Surface>();
        surface->context = context;
        surface->array = array_of(resource, context);
        need(surface->array->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST,
             CUDA_ERROR_INVALID_VALUE);
        *out = driver().surfaces.add(surface);
        return CUDA_SUCCESS;
    });
}

// Running work has its own references: the object can be dropped immediately.
CUresult cuTexObjectDestroy(CUtexObject handle) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        const std::shared_ptr<Texture> texture = driver().textures.find(handle);
        need(texture && texture->context == context, CUDA_ERROR_INVALID_HANDLE);
        driver().textures.erase(handle);
        return CUDA_SUCCESS;
    });
}

CUresult cuSurfObjectDestroy(CUsurfObject handle) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        const std::shared_ptr<Surface> surface = driver().surfaces.find(handle);
        need(surface && surface->context == context, CUDA_ERROR_INVALID_HANDLE);
        driver().surfaces.erase(handle);
        return CUDA_SUCCESS;
    });
}

} // namespace pi::cuda
