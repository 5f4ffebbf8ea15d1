// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain OpenCL, as a program without PI would use it.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace pi_bench {

#define PI_BENCH_OPENCL_FUNCTIONS(X)                                                               \
    X(clBuildProgram)                                                                              \
    X(clCreateBuffer)                                                                              \
    X(clCreateCommandQueue)                                                                        \
    X(clCreateContext)                                                                             \
    X(clCreateImage)                                                                               \
    X(clCreateKernel)                                                                              \
    X(clCreateProgramWithSource)                                                                   \
    X(clEnqueueCopyBuffer)                                                                         \
    X(clEnqueueCopyBufferRect)                                                                     \
    X(clEnqueueNDRangeKernel)                                                                      \
    X(clEnqueueReadImage)                                                                          \
    X(clEnqueueSVMMemcpy)                                                                          \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clEnqueueWriteImage)                                                                         \
    X(clFinish)                                                                                    \
    X(clGetDeviceIDs)                                                                              \
    X(clGetDeviceInfo)                                                                             \
    X(clGetPlatformIDs)                                                                            \
    X(clGetPlatformInfo)                                                                           \
    X(clReleaseCommandQueue)                                                                       \
    X(clReleaseContext)                                                                            \
    X(clReleaseEvent)                                                                              \
    X(clReleaseKernel)                                                                             \
    X(clReleaseMemObject)                                                                          \
    X(clReleaseProgram)                                                                            \
    X(clRetainDevice)                                                                              \
    X(clSVMAlloc)                                                                                  \
    X(clSVMFree)                                                                                   \
    X(clSetKernelArg)                                                                              \
    X(clSetKernelArgSVMPointer)

/// The functions of one ICD loader. It stays open for the life of the process.
struct OpenCl {
    /// Throws std::runtime_error if the library or a function is missing.
    explicit OpenCl(const std::string &path);
#define PI_BENCH_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
    PI_BENCH_OPENCL_FUNCTIONS(PI_BENCH_OPENCL_MEMBER)
#undef PI_BENCH_OPENCL_MEMBER
};

struct ClDevice {
    cl_device_id id = nullptr;
    std::string platform; ///< its name
    std::string name;
};
/// All devices of all platforms.
std::vector<ClDevice> all_devices(const OpenCl &cl);

/// Throws std::runtime_error("<call>: <code>") unless the code is CL_SUCCESS.
void check_cl(cl_int code, const char *call);

/// Owns one reference of a vendor object: Owned<cl_kernel>(kernel, cl.clReleaseKernel).
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, cl_int(CL_API_CALL *)(Handle)>;

} // namespace pi_bench
