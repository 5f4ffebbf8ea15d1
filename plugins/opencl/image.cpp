// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image.hpp"
#include "entries.hpp"

#include <algorithm>
#include <cstring>

namespace pi::opencl {

using namespace sdk;

namespace {

// ----- the vendor's enumerators ------------------------------------------------------------------

template <class Vendor>
struct WordRow {
    uint32_t ours;
    Vendor vendor;
};
constexpr WordRow<cl_channel_order> orders[] = {
    {PI_CHANNEL_ORDER_R, CL_R},
    {PI_CHANNEL_ORDER_RG, CL_RG},
    {PI_CHANNEL_ORDER_RGBA, CL_RGBA},
    {PI_CHANNEL_ORDER_BGRA, CL_BGRA},
};
constexpr WordRow<cl_channel_type> types[] = {
    {PI_CHANNEL_UNORM8, CL_UNORM_INT8},     {PI_CHANNEL_UNORM16, CL_UNORM_INT16},
    {PI_CHANNEL_SNORM8, CL_SNORM_INT8},     {PI_CHANNEL_SNORM16, CL_SNORM_INT16},
    {PI_CHANNEL_UINT8, CL_UNSIGNED_INT8},   {PI_CHANNEL_UINT16, CL_UNSIGNED_INT16},
    {PI_CHANNEL_UINT32, CL_UNSIGNED_INT32}, {PI_CHANNEL_SINT8, CL_SIGNED_INT8},
    {PI_CHANNEL_SINT16, CL_SIGNED_INT16},   {PI_CHANNEL_SINT32, CL_SIGNED_INT32},
    {PI_CHANNEL_HALF, CL_HALF_FLOAT},       {PI_CHANNEL_FLOAT, CL_FLOAT},
};
constexpr WordRow<cl_mem_object_type> shapes[] = {
    {PI_IMAGE_1D, CL_MEM_OBJECT_IMAGE1D},
    {PI_IMAGE_2D, CL_MEM_OBJECT_IMAGE2D},
    {PI_IMAGE_3D, CL_MEM_OBJECT_IMAGE3D},
    {PI_IMAGE_1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_ARRAY},
    {PI_IMAGE_2D_ARRAY, CL_MEM_OBJECT_IMAGE2D_ARRAY},
};

/// `ours` has been checked by the sdk's tables.
template <class Vendor, size_t Count>
Vendor to_vendor(const WordRow<Vendor> (&rows)[Count], uint32_t ours) {
    const auto *row = std::find_if(std::begin(rows), std::end(rows),
                                   [=](const WordRow<Vendor> &one) { return one.ours == ours; });
    return row->vendor;
}

cl_image_format to_vendor(const PixelFormat &format) {
    return {to_vendor(orders, format.order()), to_vendor(types, format.type())};
}

/// A vendor descriptor without pitches, which callers add where memory has pitches.
cl_image_desc vendor_desc(cl_mem_object_type type, const ImageShape &shape) {
    cl_image_desc vendor{};
    vendor.image_type = type;
    vendor.image_width = shape.extent[0];
    vendor.image_height = shape.type->height ? shape.extent[1] : 0;
    vendor.image_depth = shape.type->depth ? shape.extent[2] : 0;
    vendor.image_array_size = shape.type->layers ? shape.extent[2] : 0;
    return vendor;
}

cl_mem_flags access_or_both(uint64_t flags) {
    const cl_mem_flags access = access_flags(flags);
    return access ? access : CL_MEM_READ_WRITE;
}

// ----- limits and formats ------------------------------------------------------------------------

ImageLimits image_limits(const Device &device) {
    ImageLimits limits{};
    limits.size_2d = {device.get<size_t>(CL_DEVICE_IMAGE2D_MAX_WIDTH),
                      device.get<size_t>(CL_DEVICE_IMAGE2D_MAX_HEIGHT)};
    limits.size_3d = {device.get<size_t>(CL_DEVICE_IMAGE3D_MAX_WIDTH),
                      device.get<size_t>(CL_DEVICE_IMAGE3D_MAX_HEIGHT),
                      device.get<size_t>(CL_DEVICE_IMAGE3D_MAX_DEPTH)};
    limits.layers = device.get<size_t>(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
    return limits;
}

/// Checks against the vendor's list for the context. With several devices the list may not
/// distinguish them; then the vendor's create call refuses the format.
void check_format(const Context &context, const Device &device, cl_mem_flags flags,
                  cl_mem_object_type type, const ImageShape &shape) {
    const Api &api = context.api();
    cl_uint count = 0;
    check(api.clGetSupportedImageFormats(context.id(), flags, type, 0, nullptr, &count),
          "clGetSupportedImageFormats", "on ", device.name());
    std::vector<cl_image_format> formats(count);
    if (count)
        check(api.clGetSupportedImageFormats(context.id(), flags, type, count, formats.data(),
                                             nullptr),
              "clGetSupportedImageFormats", "on ", device.name());
    const cl_image_format wanted = to_vendor(shape.format);
    const bool known = std::any_of(formats.begin(), formats.end(), [&](const cl_image_format &one) {
        return one.image_channel_order == wanted.image_channel_order &&
               one.image_channel_data_type == wanted.image_channel_data_type;
    });
    if (!known)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(), " has no ", shape.type->name, " with ",
             shape.format, " (clGetSupportedImageFormats)");
}

/// For 2-D views: the vendor's values are in pixels, and 0 if it has no such views.
struct View2dAlignments {
    uint64_t pitch = 0, begin = 0;
};
View2dAlignments view_2d_alignments(const Device &device) {
    if (!device.has_extension("cl_khr_image2d_from_buffer"))
        return {};
    // Some drivers with the extension return 0 for "any".
    return {std::max<uint64_t>(1, device.get<cl_uint>(CL_DEVICE_IMAGE_PITCH_ALIGNMENT)),
            std::max<uint64_t>(1, device.get<cl_uint>(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT))};
}
constexpr uint64_t largest_pixel = 16;

// ----- creation ----------------------------------------------------------------------------------

MemOwner create_vendor_image(const Context &context, const Device &device, cl_mem_flags flags,
                             const cl_image_desc &vendor, const ImageShape &shape, void *pointer) {
    const cl_image_format format = to_vendor(shape.format);
    cl_int code = CL_SUCCESS;
    const cl_mem mem =
        context.api().clCreateImage(context.id(), flags, &format, &vendor, pointer, &code);
    // The vendor's code for "no device supports this".
    if (code == CL_INVALID_OPERATION)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, error_text("clCreateImage", code), ": ", device.name(),
             vendor.buffer ? " cannot show this buffer as " : " has no ", shape.type->name,
             " with ", shape.format);
    // Some drivers require whole rows of a buffer, the last one included.
    if (code == CL_INVALID_IMAGE_DESCRIPTOR && vendor.buffer)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, error_text("clCreateImage", code), ": ", device.name(),
             " cannot show this buffer as ", shape.type->name, " with a row pitch of ",
             vendor.image_row_pitch, " bytes: it may need ", shape.extent[1],
             " rows of that size, the last one included");
    check(code, "clCreateImage", shape.type->name, " of ", shape.extent[0], " x ", shape.extent[1],
          " x ", shape.extent[2], " pixels, ", shape.format, ", on ", device.name());
    return {context.api(), mem};
}

/// The rows without gaps.
std::vector<std::byte> pack(const void *pointer, const Rectangle &bytes) {
    std::vector<std::byte> packed(bytes.bytes());
    for (uint64_t row = 0; row < bytes.rows * bytes.slices; ++row)
        std::memcpy(packed.data() + row * bytes.row,
                    static_cast<const std::byte *>(pointer) + bytes.row_offset(row), bytes.row);
    return packed;
}

Ref<Mem> create_image(Context &context, Device &device, const pi_mem_image_desc &desc) {
    require_images(device);
    const ImageShape shape = read_image_shape(desc, image_limits(device));
    const Rectangle given = check_image_create(desc, shape, mem_create_flags);
    check_global_scope(device, desc.scope, "images");
    check_requirements(device, desc.flags);
    check_allocation(device, shape.bytes());
    const cl_mem_object_type type = to_vendor(shapes, shape.type->type);
    cl_mem_flags flags = access_or_both(desc.flags);
    check_format(context, device, flags, type, shape);
    cl_image_desc vendor = vendor_desc(type, shape);
    std::vector<std::byte> packed;
    void *pointer = desc.host_ptr;
    if (pointer && !given.dense() && device.quirk(QUIRK_NO_IMAGE_PITCHES)) {
        // With PI_MEM_USE_HOST_PTR as well: images have no maps by which the application could
        // notice that the memory is a copy.
        packed = pack(pointer, given);
        pointer = packed.data();
        flags |= CL_MEM_COPY_HOST_PTR;
    } else if (pointer) {
        flags |= desc.flags & PI_MEM_USE_HOST_PTR ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR;
        const VendorPitches pitches = vendor_pitches(*shape.type, given);
        vendor.image_row_pitch = pitches.row;
        vendor.image_slice_pitch = pitches.slice;
    }
    Mem::Parts parts;
    parts.vendor = create_vendor_image(context, device, flags, vendor, shape, pointer);
    parts.size = shape.bytes();
    parts.flags = desc.flags;
    parts.kind = PI_MEMORY_KIND_IMAGE;
    parts.image = Image{shape, shape.dense()};
    return make<Mem>(context, device, std::move(parts));
}

// ----- views -------------------------------------------------------------------------------------

/// PI_ERROR_UNSUPPORTED_FEATURE for a valid view that the device does not support.
void check_view_support(const Device &device, const ImageShape &shape, uint64_t offset) {
    if (shape.type->type != PI_IMAGE_1D && shape.type->type != PI_IMAGE_2D)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "image_type is ", shape.type->name,
             "; OpenCL's views of buffers are PI_IMAGE_1D or PI_IMAGE_2D");
    if (shape.type->type == PI_IMAGE_2D && !view_2d_alignments(device).pitch)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "image_type is PI_IMAGE_2D; ", device.name(),
             " has no 2-D views of buffers (cl_khr_image2d_from_buffer), only PI_IMAGE_1D");
    if (offset && device.quirk(QUIRK_NO_SUB_BUFFER_IMAGES))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the view would begin at byte ", offset,
             " of the buffer; on ", device.name(), " views begin at byte 0");
}

Ref<Mem> create_image_view(Mem &mem, const pi_mem_image_desc &desc) {
    Context &context = mem.context();
    Device &device = mem.device();
    require_buffer(mem, "mem");
    require_images(device);
    const bool one_row = desc.image_type == PI_IMAGE_1D;
    ImageLimits limits = image_limits(device);
    if (one_row)
        limits.size_2d[0] = device.get<size_t>(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
    const ImageShape shape = read_image_shape(desc, limits);
    const View2dAlignments pixels = one_row ? View2dAlignments{} : view_2d_alignments(device);
    // As reported, for pixels of any size.
    const uint64_t alignment =
        std::max(device.offset_alignment(), view_2d_alignments(device).begin * largest_pixel);
    Rectangle bytes = check_image_view(desc, shape, mem.size(), mem.flags(), alignment,
                                       std::max<uint64_t>(1, pixels.pitch * largest_pixel));
    bytes.offset += mem.offset();
    Mem &root = mem.root();
    const uint64_t begin = root.whole_offset() + bytes.offset;
    check_view_support(device, shape, begin);
    if (begin % alignment)
        fail(PI_ERROR_MISALIGNED_OFFSET, "the view would begin at byte ", begin,
             " of the whole buffer, not a multiple of ", alignment, ": ", device.name(),
             " has no views there");
    const cl_mem_object_type type = one_row ? CL_MEM_OBJECT_IMAGE1D_BUFFER : CL_MEM_OBJECT_IMAGE2D;
    check_format(context, device, access_or_both(desc.flags), type, shape);
    MemOwner part;
    cl_image_desc vendor = vendor_desc(type, shape);
    vendor.buffer = root.whole();
    if (begin) {
        // Some drivers require whole rows, the last one included.
        const uint64_t rows = std::min(bytes.row_pitch * bytes.rows, root.size() - bytes.offset);
        part = create_sub_buffer(root, desc.flags, bytes.offset, rows);
        vendor.buffer = part.get();
    }
    if (!one_row)
        vendor.image_row_pitch = bytes.row_pitch;
    MemOwner image =
        create_vendor_image(context, device, access_flags(desc.flags), vendor, shape, nullptr);
    const uint64_t offset = std::exchange(bytes.offset, 0);
    return make<Mem>(root, std::move(image), view_flags(desc.flags, mem.flags()), offset,
                     shape.bytes(), Image{shape, bytes}, std::move(part));
}

} // namespace

VendorPitches vendor_pitches(const ImageType &type, const Rectangle &bytes) {
    // For 1-D arrays drivers disagree about which pitch is the step between layers: set both.
    if (type.layers && !type.height)
        return {bytes.slice_pitch, bytes.slice_pitch};
    return {type.height ? bytes.row_pitch : 0, type.has_slices() ? bytes.slice_pitch : 0};
}

void require_images(const Device &device) {
    if (!device.images())
        fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(),
             " has no images (CL_DEVICE_IMAGE_SUPPORT)");
}

uint64_t view_offset_alignment(const Device &device) {
    require_images(device);
    if (device.quirk(QUIRK_NO_SUB_BUFFER_IMAGES))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "views of buffers on ", device.name(),
             " begin at byte 0 only");
    return std::max(device.offset_alignment(), view_2d_alignments(device).begin * largest_pixel);
}

uint64_t view_pitch_alignment(const Device &device) {
    require_images(device);
    const uint64_t pixels = view_2d_alignments(device).pitch;
    if (!pixels)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(),
             " has no 2-D views of buffers (cl_khr_image2d_from_buffer)");
    return pixels * largest_pixel;
}

void require_image_device(const Device &device, const ArgumentName &name) {
    if (!device.images())
        fail(PI_ERROR_INVALID_MEM_OBJECT, name, " is an image, and the queue's ", device.name(),
             " has none (CL_DEVICE_IMAGE_SUPPORT)");
}

Mem &checked_image(const Context &context, const Device &device, pi_mem mem,
                   const ArgumentName &name) {
    Mem &self = checked_mem(context, mem, name);
    require_image(self, name);
    require_image_device(device, name);
    return self;
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

pi_result PI_CALL piMemImageViewCreate(pi_mem mem, const pi_mem_image_desc *desc, pi_mem *out_mem) {
    return call<Mem>(mem, [&](Mem &self) {
        const auto known = read_desc(desc, PI_TYPE_MEM_IMAGE_DESC);
        require(out_mem, "out_mem");
        *out_mem = create_image_view(self, known).give();
    });
}

} // namespace entries
} // namespace pi::opencl
