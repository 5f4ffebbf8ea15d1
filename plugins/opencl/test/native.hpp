// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain OpenCL in the same process as the plugin, which opened the same library: both sides use one
// object.
#pragma once

#include "fixture.hpp"

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <chrono>
#include <thread>

namespace opencl_test {

using ClContext = Owned<cl_context, clReleaseContext>;
using ClQueue = Owned<cl_command_queue, clReleaseCommandQueue>;
using ClMem = Owned<cl_mem, clReleaseMemObject>;
using ClEvent = Owned<cl_event, clReleaseEvent>;
using ClProgram = Owned<cl_program, clReleaseProgram>;
using ClKernel = Owned<cl_kernel, clReleaseKernel>;
using ClSampler = Owned<cl_sampler, clReleaseSampler>;
using ClDevice = Owned<cl_device_id, clReleaseDevice>;

inline void cl_ok(cl_int code) {
    REQUIRE(code == CL_SUCCESS);
}

/// One answer of the vendor's.
template <class T, class Function, class Object>
T ask(Function function, Object object, cl_uint name) {
    T value{};
    cl_ok(function(object, name, sizeof value, &value, nullptr));
    return value;
}

inline cl_uint count(cl_context object) {
    return ask<cl_uint>(clGetContextInfo, object, CL_CONTEXT_REFERENCE_COUNT);
}
inline cl_uint count(cl_command_queue object) {
    return ask<cl_uint>(clGetCommandQueueInfo, object, CL_QUEUE_REFERENCE_COUNT);
}
inline cl_uint count(cl_mem object) {
    return ask<cl_uint>(clGetMemObjectInfo, object, CL_MEM_REFERENCE_COUNT);
}
inline cl_uint count(cl_event object) {
    return ask<cl_uint>(clGetEventInfo, object, CL_EVENT_REFERENCE_COUNT);
}
inline cl_uint count(cl_program object) {
    return ask<cl_uint>(clGetProgramInfo, object, CL_PROGRAM_REFERENCE_COUNT);
}
inline cl_uint count(cl_kernel object) {
    return ask<cl_uint>(clGetKernelInfo, object, CL_KERNEL_REFERENCE_COUNT);
}
inline cl_uint count(cl_sampler object) {
    return ask<cl_uint>(clGetSamplerInfo, object, CL_SAMPLER_REFERENCE_COUNT);
}
inline cl_uint count(cl_device_id object) {
    return ask<cl_uint>(clGetDeviceInfo, object, CL_DEVICE_REFERENCE_COUNT);
}

/// Waits until the count is `expected`: drivers release a command's objects some time after its
/// end.
template <class Handle>
cl_uint settled_count(const Handle &object, cl_uint expected) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (count(object) != expected && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return count(object);
}

/// The vendor's object in a native handle.
template <class T>
T vendor(const pi_native_handle &handle) {
    REQUIRE(handle.type == PI_NATIVE_OPENCL);
    REQUIRE(handle.count == 1);
    REQUIRE(handle.value[0] != 0);
    return reinterpret_cast<T>(handle.value[0]);
}
inline cl_device_id vendor_of(pi_device device) {
    pi_native_handle handle{};
    OK(piDeviceGetNativeHandle(device, &handle));
    return vendor<cl_device_id>(handle);
}
inline cl_context vendor_of(pi_context context) {
    pi_native_handle handle{};
    OK(piContextGetNativeHandle(context, nullptr, &handle));
    return vendor<cl_context>(handle);
}
inline cl_command_queue vendor_of(pi_queue queue) {
    pi_native_handle handle{};
    OK(piQueueGetNativeHandle(queue, &handle));
    return vendor<cl_command_queue>(handle);
}
inline cl_mem vendor_of(pi_mem mem) {
    pi_native_handle handle{};
    OK(piMemGetNativeHandle(mem, info<pi_device>(piMemGetInfo, mem, PI_MEM_INFO_DEVICE), &handle));
    return vendor<cl_mem>(handle);
}
inline cl_program vendor_of(pi_program program) {
    pi_native_handle handle{};
    OK(piProgramGetNativeHandle(program, nullptr, &handle));
    return vendor<cl_program>(handle);
}
inline cl_kernel vendor_of(pi_kernel kernel) {
    pi_native_handle handle{};
    OK(piKernelGetNativeHandle(kernel, nullptr, &handle));
    return vendor<cl_kernel>(handle);
}
inline cl_sampler vendor_of(pi_sampler sampler) {
    pi_native_handle handle{};
    OK(piSamplerGetNativeHandle(sampler, &handle));
    return vendor<cl_sampler>(handle);
}
inline cl_event vendor_of(pi_event event) {
    pi_native_handle handle{};
    OK(piEventGetNativeHandle(event, &handle));
    return vendor<cl_event>(handle);
}

inline pi_native_desc native_desc(const void *handle, uint64_t flags = 0) {
    auto desc = pi::desc<pi_native_desc>();
    desc.flags = flags;
    desc.handle.type = PI_NATIVE_OPENCL;
    desc.handle.count = 1;
    desc.handle.value[0] = reinterpret_cast<uintptr_t>(handle);
    return desc;
}

/// Calls create(desc) with handles of a wrong type or count, or NULL: each must be refused with its
/// text.
template <class Create>
void refuses_malformed(const pi_native_desc &good, const Create &create) {
    pi_native_desc desc = good;
    desc.handle.type = PI_NATIVE_CUDA_STREAM;
    refused(create(&desc), PI_ERROR_INVALID_NATIVE_HANDLE, {"type is 34", "16"});
    desc = good;
    desc.handle.count = 2;
    refused(create(&desc), PI_ERROR_INVALID_NATIVE_HANDLE, {"count is 2", "1 value"});
    desc.handle.count = 0;
    refused(create(&desc), PI_ERROR_INVALID_NATIVE_HANDLE, {"count is 0"});
    desc = good;
    desc.handle.value[0] = 0;
    refused(create(&desc), PI_ERROR_INVALID_NATIVE_HANDLE, {"NULL"});
    desc = good;
    desc.flags = 2;
    refused(create(&desc), PI_ERROR_UNSUPPORTED_FEATURE, {"flags"});
    refused(create(nullptr), PI_ERROR_INVALID_NULL_POINTER);
}

ClContext make_cl_context(cl_device_id device);
ClQueue make_cl_queue(cl_context context, cl_device_id device,
                      cl_command_queue_properties properties = 0);
/// Whether OpenCL's own commands can wait for a user event: PoCL's device without threads runs them
/// at once or hangs.
inline bool waits_for_user_events(pi_device device) {
    return name_of(device).find("/basic") == std::string::npos;
}
/// A cl_mem with these bytes.
ClMem make_cl_buffer(cl_context context, const std::vector<uint8_t> &bytes,
                     cl_mem_flags flags = CL_MEM_READ_WRITE);
ClEvent make_user_event(cl_context context);

Context context_around(pi_platform platform, cl_context context, uint64_t flags = 0);
Queue queue_around(pi_context context, pi_device device, cl_command_queue queue,
                   uint64_t flags = 0);
Event event_around(pi_context context, cl_event event, uint64_t flags = 0);
pi_mem_import_desc native_import(cl_mem mem, uint64_t offset, uint64_t size, uint32_t own = 0);
Mem mem_around(pi_context context, pi_device device, const pi_mem_import_desc &desc);

} // namespace opencl_test
