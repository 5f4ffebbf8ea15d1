// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vendor's side: the functions of OpenCL, owners of its objects, and its error codes.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <pi/sdk/error.hpp>
#include <pi/sdk/library.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pi::opencl {

/// Functions that every ICD loader has.
#define PI_OPENCL_REQUIRED(X)                                                                      \
    X(clBuildProgram)                                                                              \
    X(clCompileProgram)                                                                            \
    X(clCreateBuffer)                                                                              \
    X(clCreateCommandQueue)                                                                        \
    X(clCreateContext)                                                                             \
    X(clCreateImage)                                                                               \
    X(clCreateKernel)                                                                              \
    X(clCreateProgramWithBinary)                                                                   \
    X(clCreateProgramWithSource)                                                                   \
    X(clCreateSampler)                                                                             \
    X(clCreateSubBuffer)                                                                           \
    X(clCreateSubDevices)                                                                          \
    X(clCreateUserEvent)                                                                           \
    X(clEnqueueCopyBuffer)                                                                         \
    X(clEnqueueCopyBufferRect)                                                                     \
    X(clEnqueueCopyBufferToImage)                                                                  \
    X(clEnqueueCopyImage)                                                                          \
    X(clEnqueueCopyImageToBuffer)                                                                  \
    X(clEnqueueFillBuffer)                                                                         \
    X(clEnqueueFillImage)                                                                          \
    X(clEnqueueMapBuffer)                                                                          \
    X(clEnqueueMarkerWithWaitList)                                                                 \
    X(clEnqueueNDRangeKernel)                                                                      \
    X(clEnqueueReadBuffer)                                                                         \
    X(clEnqueueReadBufferRect)                                                                     \
    X(clEnqueueReadImage)                                                                          \
    X(clEnqueueUnmapMemObject)                                                                     \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clEnqueueWriteBufferRect)                                                                    \
    X(clEnqueueWriteImage)                                                                         \
    X(clFinish)                                                                                    \
    X(clFlush)                                                                                     \
    X(clGetCommandQueueInfo)                                                                       \
    X(clGetContextInfo)                                                                            \
    X(clGetDeviceIDs)                                                                              \
    X(clGetDeviceInfo)                                                                             \
    X(clGetEventInfo)                                                                              \
    X(clGetEventProfilingInfo)                                                                     \
    X(clGetKernelArgInfo)                                                                          \
    X(clGetKernelInfo)                                                                             \
    X(clGetKernelWorkGroupInfo)                                                                    \
    X(clGetMemObjectInfo)                                                                          \
    X(clGetPlatformIDs)                                                                            \
    X(clGetPlatformInfo)                                                                           \
    X(clGetProgramBuildInfo)                                                                       \
    X(clGetProgramInfo)                                                                            \
    X(clGetSamplerInfo)                                                                            \
    X(clGetSupportedImageFormats)                                                                  \
    X(clLinkProgram)                                                                               \
    X(clReleaseCommandQueue)                                                                       \
    X(clReleaseContext)                                                                            \
    X(clReleaseDevice)                                                                             \
    X(clReleaseEvent)                                                                              \
    X(clReleaseKernel)                                                                             \
    X(clReleaseMemObject)                                                                          \
    X(clReleaseProgram)                                                                            \
    X(clReleaseSampler)                                                                            \
    X(clRetainCommandQueue)                                                                        \
    X(clRetainContext)                                                                             \
    X(clRetainDevice)                                                                              \
    X(clRetainEvent)                                                                               \
    X(clRetainKernel)                                                                              \
    X(clRetainMemObject)                                                                           \
    X(clRetainProgram)                                                                             \
    X(clRetainSampler)                                                                             \
    X(clSetEventCallback)                                                                          \
    X(clSetKernelArg)                                                                              \
    X(clSetMemObjectDestructorCallback)                                                            \
    X(clSetUserEventStatus)                                                                        \
    X(clWaitForEvents)

/// Functions of later versions: NULL with an old ICD loader; only for platforms of that version.
#define PI_OPENCL_OPTIONAL(X)                                                                      \
    X(clCreateCommandQueueWithProperties)                                                          \
    X(clCreateProgramWithIL)                                                                       \
    X(clCreateSamplerWithProperties)                                                               \
    X(clEnqueueSVMMemFill)                                                                         \
    X(clEnqueueSVMMemcpy)                                                                          \
    X(clEnqueueSVMMigrateMem)                                                                      \
    X(clGetDeviceAndHostTimer)                                                                     \
    X(clGetExtensionFunctionAddressForPlatform)                                                    \
    X(clGetKernelSubGroupInfo)                                                                     \
    X(clSVMAlloc)                                                                                  \
    X(clSVMFree)                                                                                   \
    X(clSetKernelArgSVMPointer)                                                                    \
    X(clSetKernelExecInfo)                                                                         \
    X(clSetProgramSpecializationConstant)

/// The functions of an opened libOpenCL.
struct Api {
    /// PI_ERROR_UNAVAILABLE when the library or one of its functions is missing.
    explicit Api(const std::string &path);

    sdk::Library library;
#define PI_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
    PI_OPENCL_REQUIRED(PI_OPENCL_MEMBER)
    PI_OPENCL_OPTIONAL(PI_OPENCL_MEMBER)
#undef PI_OPENCL_MEMBER
};

/// "CL_INVALID_VALUE" for -30.
const char *error_name(cl_int code);
/// The pi_result for a vendor's code.
pi_result to_result(cl_int code);
/// "clCreateBuffer: CL_OUT_OF_RESOURCES (-5)".
std::string error_text(const char *call, cl_int code);

/// Throws unless `code` is CL_SUCCESS; `particulars` are appended to the message.
template <class... Parts>
void check(cl_int code, const char *call, const Parts &...particulars) {
    if (code == CL_SUCCESS)
        return;
    std::string words = error_text(call, code);
    if constexpr (sizeof...(particulars) > 0)
        words += sdk::text(": ", particulars...);
    throw sdk::Error(to_result(code), std::move(words));
}

/// Owns one reference of a vendor object.
template <class Handle, auto Retain, auto Release>
class Owner {
public:
    /// Takes another reference.
    static Owner retained(const Api &api, Handle handle) {
        check((api.*Retain)(handle), "retaining a vendor's object");
        return {api, handle};
    }

    Owner() noexcept = default;
    Owner(const Api &api, Handle handle) noexcept : api_(&api), handle_(handle) {}
    Owner(Owner &&other) noexcept
        : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
    Owner &operator=(Owner other) noexcept {
        std::swap(api_, other.api_);
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Owner() {
        if (handle_)
            (api_->*Release)(handle_);
    }
    Handle get() const noexcept { return handle_; }
    explicit operator bool() const noexcept { return handle_ != nullptr; }

private:
    const Api *api_ = nullptr;
    Handle handle_ = nullptr;
};
using DeviceOwner = Owner<cl_device_id, &Api::clRetainDevice, &Api::clReleaseDevice>;
using ContextOwner = Owner<cl_context, &Api::clRetainContext, &Api::clReleaseContext>;
using QueueOwner = Owner<cl_command_queue, &Api::clRetainCommandQueue, &Api::clReleaseCommandQueue>;
using MemOwner = Owner<cl_mem, &Api::clRetainMemObject, &Api::clReleaseMemObject>;
using EventOwner = Owner<cl_event, &Api::clRetainEvent, &Api::clReleaseEvent>;
using ProgramOwner = Owner<cl_program, &Api::clRetainProgram, &Api::clReleaseProgram>;
using KernelOwner = Owner<cl_kernel, &Api::clRetainKernel, &Api::clReleaseKernel>;
using SamplerOwner = Owner<cl_sampler, &Api::clRetainSampler, &Api::clReleaseSampler>;

/// A fixed-size answer of one of the clGet...Info functions: query<cl_uint>(api.clGetDeviceInfo,
/// "clGetDeviceInfo", device, CL_DEVICE_MAX_COMPUTE_UNITS).
template <class T, class Function, class... Arguments>
T query(Function function, const char *call, Arguments... arguments) {
    T value{};
    check(function(arguments..., sizeof value, &value, nullptr), call);
    return value;
}
/// The same for a list.
template <class T, class Function, class... Arguments>
std::vector<T> query_list(Function function, const char *call, Arguments... arguments) {
    size_t size = 0;
    check(function(arguments..., 0, nullptr, &size), call);
    std::vector<T> values(size / sizeof(T));
    if (!values.empty())
        check(function(arguments..., size, values.data(), nullptr), call);
    return values;
}
/// The same for a text.
template <class Function, class... Arguments>
std::string query_text(Function function, const char *call, Arguments... arguments) {
    const std::vector<char> bytes = query_list<char>(function, call, arguments...);
    std::string words(bytes.begin(), bytes.end());
    return words.substr(0, words.find('\0'));
}

/// The execution status of a vendor's event, or the error code if the query fails.
cl_int status_of(const Api &api, cl_event event);

} // namespace pi::opencl
