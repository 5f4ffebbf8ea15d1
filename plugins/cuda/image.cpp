// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image.hpp"
#include "entries.hpp"
#include "memory.hpp"
#include "transfer.hpp"

#include <algorithm>

namespace pi::cuda {

using namespace sdk;

namespace {

// ----- the driver's enumerators ------------------------------------------------------------------

/// Normalised types are stored as integers; a texture converts them.
CUarray_format array_format(pi_channel_type type) {
    switch (type) {
    case PI_CHANNEL_UNORM8:
    case PI_CHANNEL_UINT8:
        return CU_AD_FORMAT_UNSIGNED_INT8;
    case PI_CHANNEL_UNORM16:
    case PI_CHANNEL_UINT16:
        return CU_AD_FORMAT_UNSIGNED_INT16;
    case PI_CHANNEL_UINT32:
        return CU_AD_FORMAT_UNSIGNED_INT32;
    case PI_CHANNEL_SNORM8:
    case PI_CHANNEL_SINT8:
        return CU_AD_FORMAT_SIGNED_INT8;
    case PI_CHANNEL_SNORM16:
    case PI_CHANNEL_SINT16:
        return CU_AD_FORMAT_SIGNED_INT16;
    case PI_CHANNEL_SINT32:
        return CU_AD_FORMAT_SIGNED_INT32;
    case PI_CHANNEL_HALF:
        return CU_AD_FORMAT_HALF;
    default: // the sdk has checked it
        return CU_AD_FORMAT_FLOAT;
    }
}

/// Axes that the image type lacks are 0.
CUDA_ARRAY3D_DESCRIPTOR describe(const ImageShape &shape) {
    CUDA_ARRAY3D_DESCRIPTOR array{};
    array.Width = shape.extent[0];
    array.Height = shape.type->height ? shape.extent[1] : 0;
    array.Depth = shape.type->has_slices() ? shape.extent[2] : 0;
    array.Format = array_format(shape.format.type());
    array.NumChannels = shape.format.channels();
    array.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    if (shape.type->layers)
        array.Flags |= CUDA_ARRAY3D_LAYERED;
    return array;
}

/// PI_ADDRESSING_NONE promises nothing outside of an image; the border's colour is 0. For
/// unnormalised coordinates the driver's reference allows only CLAMP; the runtime's forbids only
/// WRAP and MIRROR.
CUaddress_mode address_mode(pi_addressing_mode mode) {
    switch (mode) {
    case PI_ADDRESSING_CLAMP:
        return CU_TR_ADDRESS_MODE_BORDER;
    case PI_ADDRESSING_REPEAT:
        return CU_TR_ADDRESS_MODE_WRAP;
    case PI_ADDRESSING_MIRRORED_REPEAT:
        return CU_TR_ADDRESS_MODE_MIRROR;
    default:
        return CU_TR_ADDRESS_MODE_CLAMP;
    }
}

CUDA_TEXTURE_DESC describe(const pi_sampler_desc &sampler, const PixelFormat &format) {
    CUDA_TEXTURE_DESC texture{};
    std::fill(std::begin(texture.addressMode), std::end(texture.addressMode),
              address_mode(sampler.addressing));
    texture.filterMode =
        sampler.filter == PI_FILTER_LINEAR ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    if (format.kind() != ColorKind::FLOAT)
        texture.flags |= CU_TRSF_READ_AS_INTEGER;
    if (sampler.normalized_coordinates)
        texture.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    return texture;
}

/// The least of several attributes.
uint64_t least(const Device &device, std::initializer_list<CUdevice_attribute> names) {
    int least = INT_MAX;
    for (const CUdevice_attribute name : names)
        least = std::min(least, device.attribute(name));
    return static_cast<uint64_t>(std::max(least, 0));
}

} // namespace

#define PI_LEAST(name)                                                                             \
    least(device,                                                                                  \
          {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE##name, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE##name})

ImageLimits image_limits(const Device &device, pi_image_type type) {
    ImageLimits limits{};
    switch (type) {
    case PI_IMAGE_1D:
        limits.size_2d[0] = PI_LEAST(1D_WIDTH);
        break;
    case PI_IMAGE_1D_ARRAY:
        limits.size_2d[0] = PI_LEAST(1D_LAYERED_WIDTH);
        limits.layers = PI_LEAST(1D_LAYERED_LAYERS);
        break;
    case PI_IMAGE_2D_ARRAY:
        limits.size_2d = {PI_LEAST(2D_LAYERED_WIDTH), PI_LEAST(2D_LAYERED_HEIGHT)};
        limits.layers = PI_LEAST(2D_LAYERED_LAYERS);
        break;
    case PI_IMAGE_3D:
        limits.size_3d = {PI_LEAST(3D_WIDTH), PI_LEAST(3D_HEIGHT), PI_LEAST(3D_DEPTH)};
        break;
    default:
        limits.size_2d = {PI_LEAST(2D_WIDTH), PI_LEAST(2D_HEIGHT)};
    }
    return limits;
}

#undef PI_LEAST

// ----- Image -------------------------------------------------------------------------------------

namespace {

void check_format(const PixelFormat &format) {
    if (format.order() == PI_CHANNEL_ORDER_BGRA)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "images of ", format,
             ": CUDA supports 1, 2 or 4 channels in the order {r, g, b, a}");
}

} // namespace

Image::Image(Primary &primary, const LinearImage &of, CUdeviceptr begin)
    : LinearImage(of), primary_(primary.shared_from_this()), begin_(begin) {
    check_format(shape.format);
}

Image::Image(Primary &primary, const ImageShape &of)
    : LinearImage{of, of.dense()}, primary_(primary.shared_from_this()) {
    check_format(shape.format);
    const CUDA_ARRAY3D_DESCRIPTOR array = describe(shape);
    const Current current(primary);
    const CUresult code = allocate_with_patience(
        primary, [&] { return primary.api().cuArray3DCreate_v2(&id_, &array); });
    check_allocated(primary, code, "cuArray3DCreate_v2", shape.bytes());
}

Image::~Image() {
    primary_->instance().reap(
        [keep = primary_, array = id_, surface = surface_, textures = textures_] {
            try {
                const Current current(*keep);
                const Api &cu = keep->api();
                for (const CUtexObject texture : textures)
                    if (texture)
                        keep->note(cu.cuTexObjectDestroy(texture));
                if (surface)
                    keep->note(cu.cuSurfObjectDestroy(surface));
                if (array)
                    keep->note(cu.cuArrayDestroy(array));
            } catch (...) {
                // The context is lost, and so is everything in it.
            }
        });
}

CUDA_RESOURCE_DESC Image::resource() const {
    const CUarray_format format = array_format(shape.format.type());
    CUDA_RESOURCE_DESC resource{};
    if (id_) {
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = id_;
    } else if (shape.type->height) {
        resource.resType = CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D = {begin_,          format,          shape.format.channels(),
                                shape.extent[0], shape.extent[1], pixels.row_pitch};
    } else {
        resource.resType = CU_RESOURCE_TYPE_LINEAR;
        resource.res.linear = {begin_, format, shape.format.channels(), shape.bytes()};
    }
    return resource;
}

CUsurfObject Image::surface() {
    if (!id_)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "a view of a buffer without image_sampler: CUDA has no surfaces over linear memory; "
             "kernels read a view through a sampler, and write to the buffer itself");
    std::lock_guard lock(mutex_);
    if (!surface_) {
        const CUDA_RESOURCE_DESC resource = this->resource();
        const Current current(*primary_);
        primary_->check(primary_->api().cuSurfObjectCreate(&surface_, &resource),
                        "cuSurfObjectCreate", "of an image of ", shape.format);
    }
    return surface_;
}

void Image::check_readable(const pi_sampler_desc &sampler) const {
    if (sampler.filter == PI_FILTER_LINEAR && shape.format.kind() != ColorKind::FLOAT)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "a sampler with PI_FILTER_LINEAR for an image of ",
             shape.format, ": integers are not filtered; PI_FILTER_NEAREST is needed");
    const bool fetches = sampler.filter == PI_FILTER_NEAREST &&
                         sampler.addressing == PI_ADDRESSING_NONE &&
                         !sampler.normalized_coordinates;
    if (!id_ && !shape.type->height && !fetches)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "a 1-D view of a buffer through a sampler with filter ",
             sampler.filter, ", addressing ", sampler.addressing, " and normalized_coordinates ",
             sampler.normalized_coordinates,
             ": CUDA reads 1-D views by pixel index; PI_FILTER_NEAREST, PI_ADDRESSING_NONE and 0 "
             "are needed");
}

CUtexObject Image::texture(const pi_sampler_desc &sampler) {
    check_readable(sampler);
    std::lock_guard lock(mutex_);
    CUtexObject &texture = textures_[sampler_index(sampler)];
    if (!texture) {
        const CUDA_RESOURCE_DESC resource = this->resource();
        const CUDA_TEXTURE_DESC how = describe(sampler, shape.format);
        const Current current(*primary_);
        primary_->check(primary_->api().cuTexObjectCreate(&texture, &resource, &how, nullptr),
                        "cuTexObjectCreate", "of an image of ", shape.format);
    }
    return texture;
}

pi_native_handle image_handle(Image &image) {
    pi_sampler_desc sampler{};
    sampler.addressing = PI_ADDRESSING_CLAMP_TO_EDGE;
    pi_native_handle handle{};
    handle.type = PI_NATIVE_CUDA_ARRAY_TEXTURE;
    handle.count = 2;
    handle.value[0] = reinterpret_cast<uintptr_t>(image.id());
    handle.value[1] = image.texture(sampler);
    return handle;
}

// ----- creation ----------------------------------------------------------------------------------

namespace {

/// Uploads the pixels of host_ptr, with PI_MEM_USE_HOST_PTR as well: images have no maps by which
/// the application could notice that the memory is a copy.
void upload_pixels(Primary &primary, const Image &image, const void *host, const Rectangle &given) {
    const pi_region region = region_of(given, image.pixels);
    transfer(primary, Direction::TO_DEVICE, image,
             static_cast<std::byte *>(const_cast<void *>(host)), Regions({&region, 1}));
}

Ref<Mem> create_image(Context &context, Device &device, const pi_mem_image_desc &desc) {
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
    Primary &primary = context.primary(device);
    primary.require_alive();
    auto image = std::make_unique<Image>(primary, shape);
    if (desc.host_ptr)
        upload_pixels(primary, *image, desc.host_ptr, given);
    return make<Mem>(context, device, std::move(image), desc.flags);
}

} // namespace

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
} // namespace pi::cuda
