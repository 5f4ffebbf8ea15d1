// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image.hpp"
#include "commands.hpp"
#include "entries.hpp"

#include <algorithm>

namespace pi::level_zero {

using namespace sdk;

// ----- the driver's enumerators ------------------------------------------------------------------

namespace {

ze_image_format_type_t format_type(pi_channel_type type) {
    switch (type) {
    case PI_CHANNEL_UNORM8:
    case PI_CHANNEL_UNORM16:
        return ZE_IMAGE_FORMAT_TYPE_UNORM;
    case PI_CHANNEL_SNORM8:
    case PI_CHANNEL_SNORM16:
        return ZE_IMAGE_FORMAT_TYPE_SNORM;
    case PI_CHANNEL_UINT8:
    case PI_CHANNEL_UINT16:
    case PI_CHANNEL_UINT32:
        return ZE_IMAGE_FORMAT_TYPE_UINT;
    case PI_CHANNEL_SINT8:
    case PI_CHANNEL_SINT16:
    case PI_CHANNEL_SINT32:
        return ZE_IMAGE_FORMAT_TYPE_SINT;
    default: // the sdk has checked it
        return ZE_IMAGE_FORMAT_TYPE_FLOAT;
    }
}

struct LayoutRow {
    uint32_t channels, channel_bytes;
    ze_image_format_layout_t layout;
};
constexpr LayoutRow layouts[] = {
    {1, 1, ZE_IMAGE_FORMAT_LAYOUT_8},           {1, 2, ZE_IMAGE_FORMAT_LAYOUT_16},
    {1, 4, ZE_IMAGE_FORMAT_LAYOUT_32},          {2, 1, ZE_IMAGE_FORMAT_LAYOUT_8_8},
    {2, 2, ZE_IMAGE_FORMAT_LAYOUT_16_16},       {2, 4, ZE_IMAGE_FORMAT_LAYOUT_32_32},
    {4, 1, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8},     {4, 2, ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16},
    {4, 4, ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32},
};

/// Missing channels read as in OpenCL: 0, and 1 for the last.
ze_image_format_t format_of(const PixelFormat &format) {
    const auto row =
        std::find_if(std::begin(layouts), std::end(layouts), [&](const LayoutRow &one) {
            return one.channels == format.channels() && one.channel_bytes == format.channel_bytes();
        });
    const bool swapped = format.order() == PI_CHANNEL_ORDER_BGRA;
    const uint32_t channels = format.channels();
    return {row->layout,
            format_type(format.type()),
            swapped ? ZE_IMAGE_FORMAT_SWIZZLE_B : ZE_IMAGE_FORMAT_SWIZZLE_R,
            channels > 1 ? ZE_IMAGE_FORMAT_SWIZZLE_G : ZE_IMAGE_FORMAT_SWIZZLE_0,
            channels < 4 ? ZE_IMAGE_FORMAT_SWIZZLE_0
            : swapped    ? ZE_IMAGE_FORMAT_SWIZZLE_R
                         : ZE_IMAGE_FORMAT_SWIZZLE_B,
            channels > 3 ? ZE_IMAGE_FORMAT_SWIZZLE_A : ZE_IMAGE_FORMAT_SWIZZLE_1};
}

ze_image_type_t type_of(pi_image_type type) {
    switch (type) {
    case PI_IMAGE_1D:
        return ZE_IMAGE_TYPE_1D;
    case PI_IMAGE_1D_ARRAY:
        return ZE_IMAGE_TYPE_1DARRAY;
    case PI_IMAGE_2D_ARRAY:
        return ZE_IMAGE_TYPE_2DARRAY;
    case PI_IMAGE_3D:
        return ZE_IMAGE_TYPE_3D;
    default:
        return ZE_IMAGE_TYPE_2D;
    }
}

/// Axes that the image type lacks are 0.
ze_image_desc_t describe(const ImageShape &shape, uint64_t flags) {
    const ImageType &type = *shape.type;
    auto desc = typed<ze_image_desc_t>(ZE_STRUCTURE_TYPE_IMAGE_DESC);
    desc.flags = flags & PI_MEM_READ_ONLY ? 0 : ZE_IMAGE_FLAG_KERNEL_WRITE;
    desc.type = type_of(type.type);
    desc.format = format_of(shape.format);
    desc.width = shape.extent[0];
    desc.height = type.height ? static_cast<uint32_t>(shape.extent[1]) : 0;
    desc.depth = type.depth ? static_cast<uint32_t>(shape.extent[2]) : 0;
    desc.arraylevels = type.layers ? static_cast<uint32_t>(shape.extent[2]) : 0;
    return desc;
}

bool no_format(ze_result_t code) {
    return code == ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT ||
           code == ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION ||
           code == ZE_RESULT_ERROR_INVALID_ENUMERATION;
}

} // namespace

ImageLimits image_limits(const Device &device, pi_image_type type) {
    const ze_device_image_properties_t &most = device.image_properties();
    const uint64_t flat = find_image_type(type).height ? most.maxImageDims2D : most.maxImageDims1D;
    ImageLimits limits{};
    limits.size_2d = {flat, flat};
    limits.size_3d = {most.maxImageDims3D, most.maxImageDims3D, most.maxImageDims3D};
    limits.layers = most.maxImageArraySlices;
    return limits;
}

// ----- Image -------------------------------------------------------------------------------------

Image::Image(Place &place, const ImageShape &of, uint64_t flags)
    : LinearImage{of, of.dense()}, context_(place.context().shared_from_this()), place_(place) {
    const ze_image_desc_t desc = describe(shape, flags);
    const auto create = [&] {
        std::lock_guard lock(place.instance().handles_mutex());
        return place.api().zeImageCreate(context_->id(), place.device().id(), &desc, &id_);
    };
    ze_result_t code = create();
    if (no_memory(code) && free_unused(place, true))
        code = create();
    if (no_format(code))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, place.device().name(), " has no ", shape.type->name,
             " with ", shape.format, ": zeImageCreate: ", error_name(code));
    check_allocated(place, true, "zeImageCreate", code, shape.bytes());
    place.device().taken() += shape.bytes();
}

Image::~Image() {
    place_.device().taken() -= shape.bytes();
    std::lock_guard lock(place_.instance().handles_mutex());
    place_.note(context_->api().zeImageDestroy(id_));
}

// ----- creation ----------------------------------------------------------------------------------

namespace {

Ref<Mem> create_image(Context &context, Device &device, const pi_mem_image_desc &desc) {
    require_images(device);
    const ImageType &type = find_image_type(desc.image_type);
    const ImageShape shape = read_image_shape(desc, image_limits(device, type.type));
    const Rectangle given = check_image_create(desc, shape, mem_create_flags);
    check_scope(device, desc.scope);
    check_requirements(device, desc.flags, desc.scope);
    if (desc.scope != SCOPE_GLOBAL)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "scope is ", desc.scope, " (", scope_names[desc.scope],
             "); images are in scope ", uint32_t{SCOPE_GLOBAL}, " (", scope_names[SCOPE_GLOBAL],
             ')');
    if (shape.bytes() > device.memory_size())
        fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, "the image has ", shape.bytes(), " bytes; ",
             device.name(), " has ", device.memory_size());
    Place &place = context.place(device);
    place.require_alive();
    Ref<Mem> mem =
        make<Mem>(context, device, std::make_unique<Image>(place, shape, desc.flags), desc.flags);
    // With PI_MEM_USE_HOST_PTR as well: images have no maps by which the application could notice
    // that the memory is a copy.
    if (desc.host_ptr) {
        const pi_region region = region_of(given, shape.dense());
        transfer(&place, End{static_cast<std::byte *>(desc.host_ptr)}, end_of(*mem),
                 Regions({&region, 1}));
    }
    return mem;
}

} // namespace

void require_images(const Device &device) {
    if (!device.images())
        fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(),
             " has no images (zeDeviceGetImageProperties)");
}

namespace entries {

pi_result PI_CALL piMemImageCreate(pi_context context, pi_device device,
                                   const pi_mem_image_desc *desc, pi_mem *out_mem) {
    return call<Context>(context, [&](Context &self) {
        Device &on = self.checked_device(device);
        const auto known = read_desc(desc, PI_TYPE_MEM_IMAGE_DESC);
        require(out_mem, "out_mem");
        *out_mem = create_image(self, on, known).give();
    });
}

} // namespace entries
} // namespace pi::level_zero
