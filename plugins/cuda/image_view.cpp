// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of buffers as images. Commands on them are commands on the buffer's bytes; kernels read
// them by textures over linear memory, where the driver supports those.
#include "entries.hpp"
#include "memory.hpp"

namespace pi::cuda {

using namespace sdk;

namespace {

uint64_t ask(const Device &device, CUdevice_attribute name) {
    return static_cast<uint64_t>(std::max(device.attribute(name), 0));
}

/// Alignments are at least 1.
uint64_t ask_alignment(const Device &device, CUdevice_attribute name) {
    return std::max<uint64_t>(ask(device, name), 1);
}

} // namespace

ImageLimits view_limits(const Device &device, pi_image_type type) {
    ImageLimits limits{};
    if (type == PI_IMAGE_1D)
        limits.size_2d[0] = ask(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
    else if (type == PI_IMAGE_2D)
        limits.size_2d = {ask(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH),
                          ask(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT)};
    else
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "a view of a buffer of type ",
             find_image_type(type).name,
             ": CUDA's textures over linear memory are PI_IMAGE_1D or PI_IMAGE_2D");
    return limits;
}

uint64_t view_offset_alignment(const Device &device) {
    return ask_alignment(device, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
}

uint64_t view_pitch_alignment(const Device &device) {
    return ask_alignment(device, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
}

namespace {

Ref<Mem> create_view(Mem &mem, const pi_mem_image_desc &desc) {
    const Device &device = mem.device();
    const ImageShape shape = read_image_shape(desc, view_limits(device, desc.image_type));
    const uint64_t alignment = view_offset_alignment(device);
    Rectangle pixels = check_image_view(desc, shape, mem.size(), mem.flags(), alignment,
                                        view_pitch_alignment(device));
    const uint64_t longest = ask(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH);
    if (shape.type->height && pixels.row_pitch > longest)
        fail(PI_ERROR_INVALID_SIZE, "row_pitch is ", pixels.row_pitch, "; views of buffers on ",
             device.name(), " have a row pitch of at most ", longest);
    const CUdeviceptr begin = mem.address() + desc.offset;
    if (begin % alignment)
        fail(PI_ERROR_MISALIGNED_OFFSET, "the view would begin at address ", begin,
             ", not a multiple of ", alignment, ", which ", device.name(),
             " requires for views; the buffer begins at ", mem.address());
    pixels.offset = 0;
    auto image = std::make_unique<Image>(mem.primary(), LinearImage{shape, pixels}, begin);
    return make<Mem>(mem.root(), view_flags(desc.flags, mem.flags()), mem.offset() + desc.offset,
                     shape.bytes(), std::move(image));
}

} // namespace

namespace entries {

pi_result PI_CALL piMemImageViewCreate(pi_mem mem, const pi_mem_image_desc *desc, pi_mem *out_mem) {
    return call<Mem>(mem, [&](Mem &self) {
        const auto known = read_desc(desc, PI_TYPE_MEM_IMAGE_DESC);
        require(out_mem, "out_mem");
        require_buffer(self, "mem");
        if (!self.layout().flat())
            fail(PI_ERROR_UNSUPPORTED_FEATURE,
                 "mem is an n-D allocation; only a linear buffer can be viewed as an image");
        if (self.pageable())
            fail(PI_ERROR_UNSUPPORTED_FEATURE,
                 "mem is unpinned memory of the application; CUDA's textures need pinned memory");
        *out_mem = create_view(self, known).give();
    });
}

} // namespace entries
} // namespace pi::cuda
