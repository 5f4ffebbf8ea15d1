// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include <algorithm>

namespace pi::level_zero::simulated {

namespace {

struct Layout {
    std::uint32_t channels, bits;
};

Layout layout_of(const ze_image_format_t &format) {
    switch (format.layout) {
    case ZE_IMAGE_FORMAT_LAYOUT_8:
        return {1, 8};
    case ZE_IMAGE_FORMAT_LAYOUT_16:
        return {1, 16};
    case ZE_IMAGE_FORMAT_LAYOUT_32:
        return {1, 32};
    case ZE_IMAGE_FORMAT_LAYOUT_8_8:
        return {2, 8};
    case ZE_IMAGE_FORMAT_LAYOUT_16_16:
        return {2, 16};
    case ZE_IMAGE_FORMAT_LAYOUT_32_32:
        return {2, 32};
    case ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8:
        return {4, 8};
    case ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16:
        return {4, 16};
    case ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32:
        return {4, 32};
    default:
        throw Failure{ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT};
    }
}

pi_channel_type channel_type(const ze_image_format_t &format) {
    const std::uint32_t bits = layout_of(format).bits;
    switch (format.type) {
    case ZE_IMAGE_FORMAT_TYPE_UINT:
        return bits == 8 ? PI_CHANNEL_UINT8 : bits == 16 ? PI_CHANNEL_UINT16 : PI_CHANNEL_UINT32;
    case ZE_IMAGE_FORMAT_TYPE_SINT:
        return bits == 8 ? PI_CHANNEL_SINT8 : bits == 16 ? PI_CHANNEL_SINT16 : PI_CHANNEL_SINT32;
    case ZE_IMAGE_FORMAT_TYPE_UNORM:
        need(bits < 32, ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
        return bits == 8 ? PI_CHANNEL_UNORM8 : PI_CHANNEL_UNORM16;
    case ZE_IMAGE_FORMAT_TYPE_SNORM:
        need(bits < 32, ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
        return bits == 8 ? PI_CHANNEL_SNORM8 : PI_CHANNEL_SNORM16;
    case ZE_IMAGE_FORMAT_TYPE_FLOAT:
        need(bits > 8, ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
        return bits == 16 ? PI_CHANNEL_HALF : PI_CHANNEL_FLOAT;
    default:
        throw Failure{ZE_RESULT_ERROR_INVALID_ENUMERATION};
    }
}

/// The channel order of a swizzle: plain, or with red and blue exchanged.
pi_channel_order channel_order(const ze_image_format_t &format) {
    const std::uint32_t channels = layout_of(format).channels;
    const ze_image_format_swizzle_t said[] = {format.x, format.y, format.z, format.w};
    const ze_image_format_swizzle_t plain[] = {ZE_IMAGE_FORMAT_SWIZZLE_R, ZE_IMAGE_FORMAT_SWIZZLE_G,
                                               ZE_IMAGE_FORMAT_SWIZZLE_B,
                                               ZE_IMAGE_FORMAT_SWIZZLE_A};
    if (std::equal(said, said + channels, plain))
        return channels == 1   ? PI_CHANNEL_ORDER_R
               : channels == 2 ? PI_CHANNEL_ORDER_RG
                               : PI_CHANNEL_ORDER_RGBA;
    need(channels == 4 && format.x == ZE_IMAGE_FORMAT_SWIZZLE_B &&
             format.y == ZE_IMAGE_FORMAT_SWIZZLE_G && format.z == ZE_IMAGE_FORMAT_SWIZZLE_R &&
             format.w == ZE_IMAGE_FORMAT_SWIZZLE_A,
         ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
    return PI_CHANNEL_ORDER_BGRA;
}

void check(const ze_image_desc_t &descriptor) {
    need(descriptor.stype == ZE_STRUCTURE_TYPE_IMAGE_DESC, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    need(descriptor.flags < ZE_IMAGE_FLAG_BIAS_UNCACHED * 2 &&
             descriptor.type <= ZE_IMAGE_TYPE_BUFFER,
         ZE_RESULT_ERROR_INVALID_ENUMERATION);
    need(descriptor.type != ZE_IMAGE_TYPE_BUFFER, ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    need(!descriptor.pNext, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    channel_type(descriptor.format);
    channel_order(descriptor.format);
}

bool has_layers(ze_image_type_t type) {
    return type == ZE_IMAGE_TYPE_1DARRAY || type == ZE_IMAGE_TYPE_2DARRAY;
}

bool has_rows(ze_image_type_t type) {
    return type != ZE_IMAGE_TYPE_1D && type != ZE_IMAGE_TYPE_1DARRAY;
}

/// Uses the axes of the image type; the others are 1, whatever the descriptor says.
std::shared_ptr<Image> make_image(const ze_image_desc_t &descriptor) {
    auto image = std::make_shared<Image>();
    image->descriptor = descriptor;
    const bool layers = has_layers(descriptor.type), deep = descriptor.type == ZE_IMAGE_TYPE_3D;
    image->width = descriptor.width;
    image->height = has_rows(descriptor.type) ? descriptor.height : 1;
    image->depth = layers ? descriptor.arraylevels : deep ? descriptor.depth : 1;
    need(image->width > 0 && image->height > 0 && image->depth > 0,
         ZE_RESULT_ERROR_INVALID_ARGUMENT);
    const size_t most = deep ? most_image_depth : most_image_width;
    need(image->width <= most && image->height <= most && image->depth <= most_image_depth,
         ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    const Layout layout = layout_of(descriptor.format);
    image->pixel = layout.channels * layout.bits / 8;
    image->row = image->width * image->pixel;
    image->slice = image->row * image->height;
    return image;
}

} // namespace

pi_native_image record_of(const Image &image) {
    static constexpr pi_image_type types[] = {PI_IMAGE_1D, PI_IMAGE_1D_ARRAY, PI_IMAGE_2D,
                                              PI_IMAGE_2D_ARRAY, PI_IMAGE_3D};
    pi_native_image record{};
    record.struct_size = sizeof record;
    record.image_type = types[image.descriptor.type];
    record.channel_order = channel_order(image.descriptor.format);
    record.channel_type = channel_type(image.descriptor.format);
    record.data = const_cast<char *>(image.pixels.data());
    record.extent[0] = image.width;
    record.extent[1] = image.height;
    record.extent[2] = image.depth;
    record.row_pitch = image.row;
    record.slice_pitch = image.slice;
    record.pixel_size = static_cast<uint32_t>(image.pixel);
    return record;
}

pi_native_sampler record_of(const Sampler &sampler) {
    static constexpr pi_addressing_mode modes[] = {PI_ADDRESSING_NONE, PI_ADDRESSING_REPEAT,
                                                   PI_ADDRESSING_CLAMP_TO_EDGE, PI_ADDRESSING_CLAMP,
                                                   PI_ADDRESSING_MIRRORED_REPEAT};
    pi_native_sampler record{};
    record.struct_size = sizeof record;
    record.normalized_coordinates = sampler.descriptor.isNormalized;
    record.addressing = modes[sampler.descriptor.addressMode];
    record.filter = sampler.descriptor.filterMode == ZE_SAMPLER_FILTER_MODE_LINEAR
                        ? PI_FILTER_LINEAR
                        : PI_FILTER_NEAREST;
    return record;
}

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

ze_result_t ZE_APICALL zeImageGetProperties(ze_device_handle_t device,
                                            const ze_image_desc_t *descriptor,
                                            ze_image_properties_t *out) {
    return call([&](Lock &) {
        driver().device(device);
        need_pointers(descriptor, out);
        check(*descriptor);
        const bool integers = descriptor->format.type == ZE_IMAGE_FORMAT_TYPE_UINT ||
                              descriptor->format.type == ZE_IMAGE_FORMAT_TYPE_SINT;
        out->samplerFilterFlags = ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT;
        if (!integers)
            out->samplerFilterFlags |= ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR;
    });
}

ze_result_t ZE_APICALL zeImageCreate(ze_context_handle_t context, ze_device_handle_t device,
                                     const ze_image_desc_t *descriptor, ze_image_handle_t *out) {
    return call([&](Lock &) {
        const std::shared_ptr<Context> owner = driver().context(context);
        Device &home = driver().device(device);
        need_pointers(descriptor, out);
        check(*descriptor);
        const std::shared_ptr<Image> image = make_image(*descriptor);
        image->context = owner;
        image->device = &home;
        image->id = driver().next_id++;
        const size_t size = image->slice * image->depth;
        home.need_room(size);
        image->pixels.resize(size);
        pi::drivers::fill_with_poison(image->pixels.data(), size);
        home.take(size);
        *out = driver().images.add(image);
    });
}

ze_result_t ZE_APICALL zeImageDestroy(ze_image_handle_t handle) {
    return call([&](Lock &) {
        const std::shared_ptr<Image> image = find(driver().images, handle);
        image->need_idle();
        image->device->give(image->pixels.size());
        driver().images.erase(handle);
    });
}

ze_result_t ZE_APICALL zeImageGetAllocPropertiesExt(ze_context_handle_t context,
                                                    ze_image_handle_t handle,
                                                    ze_image_allocation_ext_properties_t *out) {
    return call([&](Lock &) {
        driver().context(context);
        const std::shared_ptr<Image> image = find(driver().images, handle);
        need_pointers(out);
        out->id = image->id;
    });
}

ze_result_t ZE_APICALL zeSamplerCreate(ze_context_handle_t context, ze_device_handle_t device,
                                       const ze_sampler_desc_t *descriptor,
                                       ze_sampler_handle_t *out) {
    return call([&](Lock &) {
        auto sampler = std::make_shared<Sampler>();
        sampler->context = driver().context(context);
        sampler->device = &driver().device(device);
        need_pointers(descriptor, out);
        need(descriptor->stype == ZE_STRUCTURE_TYPE_SAMPLER_DESC, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        need(descriptor->addressMode <= ZE_SAMPLER_ADDRESS_MODE_MIRROR &&
                 descriptor->filterMode <= ZE_SAMPLER_FILTER_MODE_LINEAR,
             ZE_RESULT_ERROR_INVALID_ENUMERATION);
        sampler->descriptor = *descriptor;
        *out = driver().samplers.add(sampler);
    });
}

ze_result_t ZE_APICALL zeSamplerDestroy(ze_sampler_handle_t handle) {
    return call([&](Lock &) {
        find(driver().samplers, handle)->need_idle();
        driver().samplers.erase(handle);
    });
}
