// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An OpenCL device through PI beside plain OpenCL calls on the same device: each side has a context, a queue and
// buffers of its own, made in the plainest way.
#pragma once

#include "opencl.hpp"
#include "place.hpp"
#include "session.hpp"

namespace pi_bench {

/// What the other side of each row is.
inline constexpr const char *plain_opencl = "the same by plain OpenCL calls";

/// Both sides of the comparison.
struct Sides {
    /// Throws std::runtime_error if OpenCL does not have the device, and for each call that fails.
    Sides(const OpenCl &functions, pi_device ours);
    /// As make_buffer of ours.
    Owned<cl_mem> make_cl_buffer(uint64_t size, unsigned char value) const;
    /// Whether the device has this PI_CAPABILITY_.
    bool can(uint64_t capability) const;

    const OpenCl &cl;
    Place place;
    cl_device_id device;
    Owned<cl_context> context{nullptr, cl.clReleaseContext};
    Owned<cl_command_queue> queue{nullptr, cl.clReleaseCommandQueue};
};

/// The name of a row.
inline std::string opencl_row(const std::string &what) {
    return "OpenCL: " + what;
}

/// The parts of the benchmark, in files of their own.
void compare_buffers(Session &session, const Sides &sides);
void compare_launches(Session &session, const Sides &sides);
void compare_usm(Session &session, const Sides &sides);
void compare_images(Session &session, const Sides &sides);

} // namespace pi_bench
