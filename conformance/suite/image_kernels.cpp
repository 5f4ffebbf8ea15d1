// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "image_kernels.hpp"

#include "library.hpp"
#include "spirv.hpp"

#include <string_view>

namespace pi::suite {
namespace {

// Surfaces and textures count their first coordinate in bytes and in pixels.
constexpr std::string_view cuda_text = R"(
extern "C" __global__ void transpose(unsigned long long src, unsigned long long dst) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    surf2Dwrite(surf2Dread<uchar4>(src, x * 4, y), dst, y * 4, x);
}

extern "C" __global__ void flatten(unsigned long long src, uint4 *out) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    const uchar4 pixel = surf3Dread<uchar4>(src, x * 4, y, z);
    out[(z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x] =
        make_uint4(pixel.x, pixel.y, pixel.z, pixel.w);
}

extern "C" __global__ void flatten_layers(unsigned long long src, uint4 *out) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    const uchar4 pixel = surf2DLayeredread<uchar4>(src, x * 4, y, z);
    out[(z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x] =
        make_uint4(pixel.x, pixel.y, pixel.z, pixel.w);
}

extern "C" __global__ void flatten_line(unsigned long long src, uint4 *out) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const uchar4 pixel = surf1Dread<uchar4>(src, x * 4);
    out[x] = make_uint4(pixel.x, pixel.y, pixel.z, pixel.w);
}

extern "C" __global__ void flatten_lines(unsigned long long src, uint4 *out) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    const uchar4 pixel = surf1DLayeredread<uchar4>(src, x * 4, z);
    out[z * gridDim.x * blockDim.x + x] = make_uint4(pixel.x, pixel.y, pixel.z, pixel.w);
}

extern "C" __global__ void fetch_view(unsigned long long src, unsigned, uint4 *out) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    out[x] = tex1Dfetch<uint4>(src, static_cast<int>(x));
}

extern "C" __global__ void sample(unsigned long long image, unsigned, const float2 *at,
                                  float4 *out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2D<float4>(image, at[i].x, at[i].y);
}
)";

const std::string &simulated_cuda_text() {
    static const std::string text = simulated_cuda_module(
        PI_SUITE_KERNELS_LIBRARY, "function transpose surface surface\n"
                                  "function flatten surface pointer\n"
                                  "function flatten_layers surface pointer\n"
                                  "function flatten_line surface pointer\n"
                                  "function flatten_lines surface pointer\n"
                                  "function fetch_view texture 4 pointer\n"
                                  "function sample texture 4 pointer pointer\n");
    return text;
}

const std::string &simulated_level_zero_text() {
    static const std::string text = simulated_level_zero_module(
        PI_SUITE_KERNELS_LIBRARY, "function transpose image image\n"
                                  "function flatten image pointer\n"
                                  "function flatten_layers image pointer\n"
                                  "function flatten_line image pointer\n"
                                  "function flatten_lines image pointer\n"
                                  "function flatten_view image pointer\n"
                                  "function sample image sampler pointer pointer\n");
    return text;
}

void set(pi_program_desc &desc, pi_program_format format, std::string_view text) {
    desc.format = format;
    desc.data = text.data();
    desc.size = text.size();
}

pi_program_desc image_program_desc(Fixture &fixture, pi_device device) {
    auto desc = pi::desc<pi_program_desc>();
    const pi_program_format format = kernel_format(fixture, device);
    switch (format) {
    case PI_PROGRAM_FORMAT_NATIVE_TABLE:
        desc.format = format;
        desc.data = &native_image_program;
        desc.size = sizeof native_image_program;
        return desc;
    case PI_PROGRAM_FORMAT_CUBIN: // of a simulated device
        set(desc, format, simulated_cuda_text());
        return desc;
    case PI_PROGRAM_FORMAT_DEVICE_BINARY: // likewise, of Level Zero
        set(desc, format, simulated_level_zero_text());
        return desc;
    case PI_PROGRAM_FORMAT_PTX: {
        const auto formats =
            get_info<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_PROGRAM_FORMATS);
        if ((formats >> PI_PROGRAM_FORMAT_CUDA_C & 1) == 0)
            skip("the suite's kernels on images are in CUDA C++ for this device, which has no "
                 "compiler of it (NVRTC) here");
        set(desc, PI_PROGRAM_FORMAT_CUDA_C, cuda_text);
        return desc;
    }
    default: {
        const Embedded program =
            format == PI_PROGRAM_FORMAT_SPIRV ? spirv::image_kernels() : opencl_c_image_kernels();
        desc.format = format;
        desc.data = program.data();
        desc.size = program.size();
        return desc;
    }
    }
}

} // namespace

Program make_image_program(Fixture &fixture) {
    return make_image_program(fixture, fixture.place());
}

Program make_image_program(Fixture &fixture, const Place &place) {
    fixture.need(PI_CAPABILITY_IMAGE, "PI_CAPABILITY_IMAGE", place.device);
    const pi_program_desc desc = image_program_desc(fixture, place.device);
    Program program;
    require_success(piProgramCreate(place.context, &desc, program.out()),
                    "piProgramCreate of the suite's kernels on images");
    require_success(piProgramBuild(program, nullptr),
                    "piProgramBuild of the suite's kernels on images");
    return program;
}

} // namespace pi::suite
