// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An OpenCL device through PI and through plain OpenCL calls: each side has its own context, queue
// and buffers, created in the simplest way.
#pragma once

#include "opencl.hpp"
#include "place.hpp"
#include "session.hpp"

namespace pi_bench {

/// The name of the limit in each row.
inline constexpr const char *plain_opencl = "the same by plain OpenCL calls";

/// Both sides of the comparison.
struct Sides {
    /// Throws std::runtime_error if OpenCL does not have the device, and for each call that fails.
    Sides(const OpenCl &functions, pi_device ours);
    /// The counterpart of make_buffer.
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

/// The parts of the benchmark, in separate files.
void compare_buffers(Session &session, const Sides &sides);
void compare_launches(Session &session, const Sides &sides);
void compare_usm(Session &session, const Sides &sides);
void compare_images(Session &session, const Sides &sides);

} // namespace pi_bench
