// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "functions.hpp"
#include "info.hpp"
#include "memory.hpp"

#include <pi/describe/descriptor.hpp>

#include <array>

namespace pi::unified_runtime {

using runtime::check;

namespace {

struct Order {
    ur_image_channel_order_t ur;
    pi_channel_order pi;
    size_t channels;
};
constexpr std::array orders{
    Order{UR_IMAGE_CHANNEL_ORDER_R, PI_CHANNEL_ORDER_R, 1},
    Order{UR_IMAGE_CHANNEL_ORDER_RG, PI_CHANNEL_ORDER_RG, 2},
    Order{UR_IMAGE_CHANNEL_ORDER_RGBA, PI_CHANNEL_ORDER_RGBA, 4},
    Order{UR_IMAGE_CHANNEL_ORDER_BGRA, PI_CHANNEL_ORDER_BGRA, 4},
};

struct Channel {
    ur_image_channel_type_t ur;
    pi_channel_type pi;
    size_t size; // bytes
};
constexpr std::array channels{
    Channel{UR_IMAGE_CHANNEL_TYPE_UNORM_INT8, PI_CHANNEL_UNORM8, 1},
    Channel{UR_IMAGE_CHANNEL_TYPE_UNORM_INT16, PI_CHANNEL_UNORM16, 2},
    Channel{UR_IMAGE_CHANNEL_TYPE_SNORM_INT8, PI_CHANNEL_SNORM8, 1},
    Channel{UR_IMAGE_CHANNEL_TYPE_SNORM_INT16, PI_CHANNEL_SNORM16, 2},
    Channel{UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8, PI_CHANNEL_UINT8, 1},
    Channel{UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16, PI_CHANNEL_UINT16, 2},
    Channel{UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32, PI_CHANNEL_UINT32, 4},
    Channel{UR_IMAGE_CHANNEL_TYPE_SIGNED_INT8, PI_CHANNEL_SINT8, 1},
    Channel{UR_IMAGE_CHANNEL_TYPE_SIGNED_INT16, PI_CHANNEL_SINT16, 2},
    Channel{UR_IMAGE_CHANNEL_TYPE_SIGNED_INT32, PI_CHANNEL_SINT32, 4},
    Channel{UR_IMAGE_CHANNEL_TYPE_HALF_FLOAT, PI_CHANNEL_HALF, 2},
    Channel{UR_IMAGE_CHANNEL_TYPE_FLOAT, PI_CHANNEL_FLOAT, 4},
};

/// UR's descriptors may have anything in axes that the type does not have.
struct Type {
    ur_mem_type_t ur;
    pi_image_type pi;
    bool has_height, has_depth, is_array;
};
constexpr std::array types{
    Type{UR_MEM_TYPE_IMAGE1D, PI_IMAGE_1D, false, false, false},
    Type{UR_MEM_TYPE_IMAGE2D, PI_IMAGE_2D, true, false, false},
    Type{UR_MEM_TYPE_IMAGE3D, PI_IMAGE_3D, true, true, false},
    Type{UR_MEM_TYPE_IMAGE1D_ARRAY, PI_IMAGE_1D_ARRAY, false, false, true},
    Type{UR_MEM_TYPE_IMAGE2D_ARRAY, PI_IMAGE_2D_ARRAY, true, false, true},
};

/// The row of the value; `code` if there is none.
template <class Table, class Value>
const auto &row_of(const Table &table, Value value, ur_result_t code, const char *text) {
    for (const auto &row : table) {
        if (row.ur == value) {
            return row;
        }
    }
    throw Refusal(code, text);
}

struct Format {
    pi_channel_order order;
    pi_channel_type type;
    size_t pixel_size; // bytes
};
Format format_of(const ur_image_format_t &ur) {
    constexpr ur_result_t code = UR_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
    const Order &order = row_of(orders, ur.channelOrder, code,
                                "image: the channel order is none of R, RG, RGBA and BGRA");
    const Channel &channel = row_of(channels, ur.channelType, code,
                                    "image: the channels are packed into a word, or unknown");
    return {order.pi, channel.pi, order.channels * channel.size};
}

const Type &type_of(const ur_image_desc_t &desc) {
    return row_of(types, desc.type, UR_RESULT_ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                  "image: the type is none of 1D, 2D, 3D, 1D_ARRAY and 2D_ARRAY");
}

/// The bytes that one row and one slice step over, dense or not.
struct Pitches {
    size_t row = 0, slice = 0;
};
Pitches pitches_of(const ur_mem_handle_t_::Image &image) {
    const ur_image_desc_t &desc = image.desc;
    const Type &type = type_of(desc);
    Pitches pitches{desc.rowPitch != 0 ? desc.rowPitch : desc.width * image.pixel_size, 0};
    if (type.has_depth || type.is_array) {
        pitches.slice = desc.slicePitch != 0 ? desc.slicePitch
                                             : pitches.row * (type.has_height ? desc.height : 1);
    }
    return pitches;
}

void check_desc(const ur_image_desc_t &desc, size_t pixel_size, const void *host_ptr) {
    const auto demand = [](bool holds, const char *text) {
        if (!holds) {
            throw Refusal(UR_RESULT_ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR, text);
        }
    };
    demand(desc.stype == UR_STRUCTURE_TYPE_IMAGE_DESC, "image: stype is not IMAGE_DESC");
    demand(desc.numMipLevel == 0, "image: numMipLevel is not 0");
    demand(desc.numSamples == 0, "image: numSamples is not 0");
    demand(host_ptr != nullptr || (desc.rowPitch == 0 && desc.slicePitch == 0),
           "image: a pitch that is not 0 needs a host pointer");
    demand(desc.rowPitch == 0 ||
               (desc.rowPitch % pixel_size == 0 && desc.rowPitch / pixel_size >= desc.width),
           "image: rowPitch is smaller than a row, or not a multiple of the pixel's size");
    const size_t row = desc.rowPitch != 0 ? desc.rowPitch : desc.width * pixel_size;
    demand(desc.slicePitch == 0 ||
               (row != 0 && desc.slicePitch % row == 0 &&
                desc.slicePitch / row >= (type_of(desc).has_height ? desc.height : 1)),
           "image: slicePitch is smaller than a slice, or not a multiple of rowPitch");
}

pi_mem_image_desc pi_desc_of(const Format &format, const ur_image_desc_t &ur) {
    const Type &type = type_of(ur);
    auto desc = pi::desc<pi_mem_image_desc>();
    desc.image_type = type.pi;
    desc.channel_order = format.order;
    desc.channel_type = format.type;
    desc.width = ur.width;
    desc.height = type.has_height ? ur.height : 0;
    desc.depth = type.has_depth ? ur.depth : 0;
    desc.array_size = type.is_array ? ur.arraySize : 0;
    desc.row_pitch = ur.rowPitch;
    desc.slice_pitch = type.has_depth || type.is_array ? ur.slicePitch : 0;
    return desc;
}

/// On a device with images, what PI calls unsupported is the format.
runtime::Mem create_image(const facade::Context &context, pi_device device,
                          const pi_mem_image_desc &desc) {
    const bool has_images =
        pi_info<uint32_t, piDeviceGetInfo>(device, PI_DEVICE_INFO_IMAGES).value_or(0) != 0;
    try {
        return with_size_code(UR_RESULT_ERROR_INVALID_IMAGE_SIZE, [&] {
            runtime::Mem mem;
            check(piMemImageCreate(context.part_of(device).context.get(), device, &desc, mem.out()),
                  "piMemImageCreate");
            return mem;
        });
    } catch (const runtime::Error &error) {
        if (has_images && error.code() == PI_ERROR_UNSUPPORTED_FEATURE) {
            throw Refusal(UR_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, error.what());
        }
        throw;
    }
}

} // namespace

ur_result_t UR_APICALL urMemImageCreate(ur_context_handle_t context, ur_mem_flags_t flags,
                                        const ur_image_format_t *format,
                                        const ur_image_desc_t *desc, void *host_ptr,
                                        ur_mem_handle_t *out_image) {
    return boundary([&] {
        const auto &core = deref(context).core;
        const Format pi_format = format_of(*needed(format));
        auto pi = pi_desc_of(pi_format, *needed(desc));
        needed(out_image);
        pi.flags = pi_mem_flags(flags, host_ptr);
        pi.host_ptr = host_ptr;
        check_desc(*desc, pi_format.pixel_size, host_ptr);
        // PI's images belong to one device, in a context of several, too.
        const pi_device device = core->devices().front();
        *out_image = new ur_mem_handle_t_(
            context, facade::Memory::adopt(core, device, create_image(*core, device, pi)), flags,
            ur_mem_handle_t_::Image{*format, *desc, pi_format.pixel_size});
    });
}

ur_result_t UR_APICALL urMemImageCreateWithNativeHandle(
    ur_native_handle_t, ur_context_handle_t context, const ur_image_format_t *format,
    const ur_image_desc_t *desc, const ur_mem_native_properties_t *, ur_mem_handle_t *out_image) {
    return boundary([&] {
        deref(context);
        needed(format);
        needed(desc);
        needed(out_image);
        throw Refusal(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "urMemImageCreateWithNativeHandle: PI imports buffers only");
    });
}

ur_result_t UR_APICALL urMemImageGetInfo(ur_mem_handle_t mem, ur_image_info_t name, size_t size,
                                         void *value, size_t *out_size) {
    return boundary([&] {
        const ur_mem_handle_t_::Image &image = image_of(mem);
        const ur_image_desc_t &desc = image.desc;
        const InfoAnswer answer(size, value, out_size);
        switch (name) {
        case UR_IMAGE_INFO_FORMAT:
            return answer(image.format);
        case UR_IMAGE_INFO_ELEMENT_SIZE:
            return answer(image.pixel_size);
        case UR_IMAGE_INFO_ROW_PITCH:
            return answer(pitches_of(image).row);
        case UR_IMAGE_INFO_SLICE_PITCH:
            return answer(pitches_of(image).slice);
        case UR_IMAGE_INFO_WIDTH:
            return answer(desc.width);
        case UR_IMAGE_INFO_HEIGHT:
            return answer(desc.height);
        case UR_IMAGE_INFO_DEPTH:
            return answer(desc.depth);
        case UR_IMAGE_INFO_ARRAY_SIZE:
            return answer(desc.arraySize);
        case UR_IMAGE_INFO_NUM_MIP_LEVELS:
            return answer(desc.numMipLevel);
        case UR_IMAGE_INFO_NUM_SAMPLES:
            return answer(desc.numSamples);
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urMemImageGetInfo: unknown name");
        }
    });
}

} // namespace pi::unified_runtime
