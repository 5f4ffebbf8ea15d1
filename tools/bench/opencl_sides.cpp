// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "opencl_sides.hpp"

#include <pi/runtime/error.hpp>

#include <stdexcept>

namespace pi_bench {

namespace {

/// The device with the same names in PI.
cl_device_id same_device(const OpenCl &cl, const Place &place) {
    for (const ClDevice &device : all_devices(cl)) {
        if (device.platform == place.platform && device.name == place.name) {
            return device.id;
        }
    }
    throw std::runtime_error("OpenCL has no device \"" + place.name + "\" of a platform \"" +
                             place.platform + "\"");
}

} // namespace

Sides::Sides(const OpenCl &functions, pi_device ours)
    : cl(functions), place(ours), device(same_device(cl, place)) {
    cl_int code = CL_SUCCESS;
    context.reset(cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
    check_cl(code, "clCreateContext");
    queue.reset(cl.clCreateCommandQueue(context.get(), device, 0, &code));
    check_cl(code, "clCreateCommandQueue");
}
Owned<cl_mem> Sides::make_cl_buffer(uint64_t size, unsigned char value) const {
    cl_int code = CL_SUCCESS;
    Owned<cl_mem> mem(cl.clCreateBuffer(context.get(), CL_MEM_READ_WRITE, size, nullptr, &code),
                      cl.clReleaseMemObject);
    check_cl(code, "clCreateBuffer");
    const std::vector<unsigned char> bytes(size, value);
    check_cl(cl.clEnqueueWriteBuffer(queue.get(), mem.get(), CL_TRUE, 0, size, bytes.data(), 0,
                                     nullptr, nullptr),
             "clEnqueueWriteBuffer");
    return mem;
}

bool Sides::can(uint64_t capability) const {
    uint64_t all = 0;
    pi::runtime::check(
        piDeviceGetInfo(place.device, PI_DEVICE_INFO_CAPABILITIES, sizeof all, &all, nullptr),
        "piDeviceGetInfo");
    return (all & capability) == capability;
}

} // namespace pi_bench
