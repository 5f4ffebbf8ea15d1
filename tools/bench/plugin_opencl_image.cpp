// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images of the OpenCL plugin compared with plain OpenCL: whole reads and writes of an RGBA image
// of bytes.
#include "opencl_sides.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

#include <stdexcept>
#include <vector>

namespace pi_bench {
namespace {

using pi::runtime::check;

constexpr uint64_t width = 512, height = 512, pixel = 4;
using Pixels = std::vector<unsigned char>;

pi::runtime::Mem make_image(const Place &place) {
    auto desc = pi::desc<pi_mem_image_desc>();
    desc.image_type = PI_IMAGE_2D;
    desc.channel_order = PI_CHANNEL_ORDER_RGBA;
    desc.channel_type = PI_CHANNEL_UNORM8;
    desc.width = width;
    desc.height = height;
    pi::runtime::Mem image;
    check(piMemImageCreate(place.context.get(), place.device, &desc, image.out()),
          "piMemImageCreate");
    return image;
}

Owned<cl_mem> make_image(const Sides &sides) {
    const cl_image_format format{CL_RGBA, CL_UNORM_INT8};
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = width;
    desc.image_height = height;
    cl_int code = CL_SUCCESS;
    Owned<cl_mem> image(sides.cl.clCreateImage(sides.context.get(), CL_MEM_READ_WRITE, &format,
                                               &desc, nullptr, &code),
                        sides.cl.clReleaseMemObject);
    check_cl(code, "clCreateImage");
    return image;
}

pi_image_region whole_image() {
    pi_image_region region{};
    region.extent[0] = width;
    region.extent[1] = height;
    region.extent[2] = 1;
    return region;
}

void write_image(const Place &place, pi_mem image, const Pixels &pixels) {
    const pi_image_region region = whole_image();
    auto desc = pi::desc<pi_image_write_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.image = image;
    desc.host_ptr = pixels.data();
    desc.region_count = 1;
    desc.regions = &region;
    check(piEnqueueMemImageWrite(place.queue.get(), &desc, 0, nullptr, nullptr),
          "piEnqueueMemImageWrite");
}

void read_image(const Place &place, pi_mem image, Pixels &pixels) {
    const pi_image_region region = whole_image();
    auto desc = pi::desc<pi_image_read_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.image = image;
    desc.host_ptr = pixels.data();
    desc.region_count = 1;
    desc.regions = &region;
    check(piEnqueueMemImageRead(place.queue.get(), &desc, 0, nullptr, nullptr),
          "piEnqueueMemImageRead");
}

} // namespace

void compare_images(Session &session, const Sides &sides) {
    const std::string writes = opencl_row("blocking write of an image of 1 MiB");
    const std::string reads = opencl_row("blocking read of an image of 1 MiB");
    if (!sides.can(PI_CAPABILITY_IMAGE)) {
        return session.skip(opencl_row("images"), "the device has no PI_CAPABILITY_IMAGE");
    }
    const pi::runtime::Mem ours = make_image(sides.place);
    const Owned<cl_mem> theirs = make_image(sides);
    Pixels pixels(width * height * pixel, 0x5a);
    Pixels arrived(pixels.size());
    write_image(sides.place, ours.get(), pixels);
    read_image(sides.place, ours.get(), arrived);
    if (arrived != pixels) {
        throw std::runtime_error("an image lost pixels on " + sides.place.name);
    }
    const size_t origin[3] = {0, 0, 0};
    const size_t extent[3] = {width, height, 1};
    const OpenCl &cl = sides.cl;
    session.compare(writes, plain_opencl, Unit::microseconds,
                    repeat([&] { write_image(sides.place, ours.get(), pixels); }), repeat([&] {
                        check_cl(cl.clEnqueueWriteImage(sides.queue.get(), theirs.get(), CL_TRUE,
                                                        origin, extent, 0, 0, pixels.data(), 0,
                                                        nullptr, nullptr),
                                 "clEnqueueWriteImage");
                    }));
    session.compare(reads, plain_opencl, Unit::microseconds,
                    repeat([&] { read_image(sides.place, ours.get(), arrived); }), repeat([&] {
                        check_cl(cl.clEnqueueReadImage(sides.queue.get(), theirs.get(), CL_TRUE,
                                                       origin, extent, 0, 0, arrived.data(), 0,
                                                       nullptr, nullptr),
                                 "clEnqueueReadImage");
                    }));
}

} // namespace pi_bench
