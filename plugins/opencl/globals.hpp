// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions for programs' variables, which Intel's drivers have without announcing an extension.
#pragma once

#include "opencl.hpp"

namespace pi::opencl {

class Platform;

struct GlobalsApi {
    using Find = cl_int(CL_API_CALL *)(cl_device_id, cl_program, const char *name, size_t *out_size,
                                       void **out_address);
    template <class Pointer>
    using Enqueue = cl_int(CL_API_CALL *)(cl_command_queue, cl_program, const char *name,
                                          cl_bool blocking, size_t size, size_t offset, Pointer,
                                          cl_uint wait_count, const cl_event *waits,
                                          cl_event *out_event);
    Find find = nullptr;
    Enqueue<void *> read = nullptr;
    Enqueue<const void *> write = nullptr;

    explicit operator bool() const { return find && read && write; }
};

/// True only if the platform has all of them.
GlobalsApi find_globals(const Platform &platform);

} // namespace pi::opencl
