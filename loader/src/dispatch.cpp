// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exported functions: a null check, a load, a tail jump. Whatever is not that lives out of line and
// is reached by a jump as well, so that no stub needs a frame. (A test reads the machine code.)

#include "connection.hpp"
#include "error.hpp"
#include "functions.hpp"

#include <tuple>

namespace pi::loader {
namespace {

[[gnu::cold, gnu::noinline]] pi_result refuse_null(const char *function, pi_kind kind,
                                                   pi_result code) {
    return fail(code, "{}: {} is NULL", function, kind_name(kind));
}

template <auto Slot, typename Handle, typename... Rest>
[[gnu::always_inline]] inline pi_result forward(const char *function, Handle handle, Rest... rest) {
    if (handle == nullptr) [[unlikely]]
        return refuse_null(function, HandleTraits<Handle>::kind, HandleTraits<Handle>::error);
    return (dispatch_of(handle)->*Slot)(handle, rest...);
}

template <typename Function>
struct Signature;
template <typename... Parameters>
struct Signature<pi_result(Parameters...)> {
    template <std::size_t Index>
    using Parameter = std::tuple_element_t<Index, std::tuple<Parameters...>>;
};

} // namespace
} // namespace pi::loader

using pi::loader::Signature;

// The parameters' types come from the declaration in pi.h; a wrong number of them does not compile.
#define PI_PARAMETER(name, index) Signature<decltype(::name)>::Parameter<index>
#define PI_BODY(name, ...)                                                                         \
    { return pi::loader::forward<&pi_dispatch::name>(#name, __VA_ARGS__); }
#define PI_FORWARD_1(name) pi_result PI_CALL name(PI_PARAMETER(name, 0) a) PI_BODY(name, a)
#define PI_FORWARD_2(name)                                                                         \
    pi_result PI_CALL name(PI_PARAMETER(name, 0) a, PI_PARAMETER(name, 1) b) PI_BODY(name, a, b)
#define PI_FORWARD_3(name)                                                                         \
    pi_result PI_CALL name(PI_PARAMETER(name, 0) a, PI_PARAMETER(name, 1) b,                       \
                           PI_PARAMETER(name, 2) c) PI_BODY(name, a, b, c)
#define PI_FORWARD_4(name)                                                                         \
    pi_result PI_CALL name(PI_PARAMETER(name, 0) a, PI_PARAMETER(name, 1) b,                       \
                           PI_PARAMETER(name, 2) c, PI_PARAMETER(name, 3) d)                       \
        PI_BODY(name, a, b, c, d)
#define PI_FORWARD_5(name)                                                                         \
    pi_result PI_CALL name(PI_PARAMETER(name, 0) a, PI_PARAMETER(name, 1) b,                       \
                           PI_PARAMETER(name, 2) c, PI_PARAMETER(name, 3) d,                       \
                           PI_PARAMETER(name, 4) e) PI_BODY(name, a, b, c, d, e)
#define PI_FORWARD_6(name)                                                                         \
    pi_result PI_CALL name(PI_PARAMETER(name, 0) a, PI_PARAMETER(name, 1) b,                       \
                           PI_PARAMETER(name, 2) c, PI_PARAMETER(name, 3) d,                       \
                           PI_PARAMETER(name, 4) e, PI_PARAMETER(name, 5) f)                       \
        PI_BODY(name, a, b, c, d, e, f)

// clang-format off
PI_FORWARD_5(piPluginGetInfo)
PI_FORWARD_4(piPluginGetExtension)
PI_FORWARD_4(piPlatformsGet)
PI_FORWARD_5(piPlatformGetInfo)
PI_FORWARD_5(piPlatformGetBackendOption)
PI_FORWARD_2(piPlatformGetNativeHandle)
PI_FORWARD_3(piPlatformCreateWithNativeHandle)
PI_FORWARD_5(piDevicesGet)
PI_FORWARD_5(piDeviceGetInfo)
PI_FORWARD_5(piDevicePartition)
PI_FORWARD_1(piDeviceRetain)
PI_FORWARD_1(piDeviceRelease)
PI_FORWARD_3(piDeviceGetGlobalTimestamps)
PI_FORWARD_4(piDeviceSelectBinary)
PI_FORWARD_4(piDeviceGetMemoryScopes)
PI_FORWARD_2(piDeviceGetNativeHandle)
PI_FORWARD_3(piDeviceCreateWithNativeHandle)
PI_FORWARD_3(piContextCreate)
PI_FORWARD_1(piContextRetain)
PI_FORWARD_1(piContextRelease)
PI_FORWARD_5(piContextGetInfo)
PI_FORWARD_3(piContextGetNativeHandle)
PI_FORWARD_3(piContextCreateWithNativeHandle)
PI_FORWARD_4(piQueueCreate)
PI_FORWARD_1(piQueueRetain)
PI_FORWARD_1(piQueueRelease)
PI_FORWARD_5(piQueueGetInfo)
PI_FORWARD_1(piQueueFlush)
PI_FORWARD_1(piQueueFinish)
PI_FORWARD_2(piQueueGetNativeHandle)
PI_FORWARD_4(piQueueCreateWithNativeHandle)
PI_FORWARD_4(piMemBufferCreate)
PI_FORWARD_4(piMemImageCreate)
PI_FORWARD_3(piMemBufferPartition)
PI_FORWARD_3(piMemImageViewCreate)
PI_FORWARD_4(piMemImport)
PI_FORWARD_3(piMemExport)
PI_FORWARD_5(piMemGetInfo)
PI_FORWARD_2(piMemGetHostPointer)
PI_FORWARD_3(piMemFlush)
PI_FORWARD_3(piMemInvalidate)
PI_FORWARD_1(piMemRetain)
PI_FORWARD_1(piMemRelease)
PI_FORWARD_3(piMemGetNativeHandle)
PI_FORWARD_4(piUsmAlloc)
PI_FORWARD_2(piUsmFree)
PI_FORWARD_6(piUsmGetInfo)
PI_FORWARD_4(piUsmPoolCreate)
PI_FORWARD_1(piUsmPoolRetain)
PI_FORWARD_1(piUsmPoolRelease)
PI_FORWARD_5(piUsmPoolGetInfo)
PI_FORWARD_4(piUsmHostRegister)
PI_FORWARD_2(piUsmHostUnregister)
PI_FORWARD_5(piEnqueueMemBufferRead)
PI_FORWARD_5(piEnqueueMemBufferWrite)
PI_FORWARD_5(piEnqueueMemBufferCopy)
PI_FORWARD_5(piEnqueueMemBufferFill)
PI_FORWARD_5(piEnqueueMemBufferMap)
PI_FORWARD_5(piEnqueueMemUnmap)
PI_FORWARD_5(piEnqueueMemImageRead)
PI_FORWARD_5(piEnqueueMemImageWrite)
PI_FORWARD_5(piEnqueueMemImageCopy)
PI_FORWARD_5(piEnqueueMemImageFill)
PI_FORWARD_5(piEnqueueUsmCopy)
PI_FORWARD_5(piEnqueueUsmFill)
PI_FORWARD_5(piEnqueueUsmPrefetch)
PI_FORWARD_5(piEnqueueUsmAdvise)
PI_FORWARD_5(piEnqueueUsmAlloc)
PI_FORWARD_5(piEnqueueUsmFree)
PI_FORWARD_5(piEnqueueKernelLaunch)
PI_FORWARD_5(piEnqueueHostFunction)
PI_FORWARD_5(piEnqueueEventsWait)
PI_FORWARD_5(piEnqueueBarrier)
PI_FORWARD_5(piEnqueueTimestamp)
PI_FORWARD_5(piEnqueueDeviceGlobalRead)
PI_FORWARD_5(piEnqueueDeviceGlobalWrite)
PI_FORWARD_3(piProgramCreate)
PI_FORWARD_2(piProgramCompile)
PI_FORWARD_3(piProgramLink)
PI_FORWARD_2(piProgramBuild)
PI_FORWARD_3(piProgramSetSpecializationConstants)
PI_FORWARD_1(piProgramRetain)
PI_FORWARD_1(piProgramRelease)
PI_FORWARD_5(piProgramGetInfo)
PI_FORWARD_6(piProgramGetBuildInfo)
PI_FORWARD_4(piProgramGetFunctionPointer)
PI_FORWARD_5(piProgramGetGlobalVariablePointer)
PI_FORWARD_3(piProgramGetNativeHandle)
PI_FORWARD_3(piProgramCreateWithNativeHandle)
PI_FORWARD_4(piKernelCreate)
PI_FORWARD_1(piKernelRetain)
PI_FORWARD_1(piKernelRelease)
PI_FORWARD_5(piKernelGetInfo)
PI_FORWARD_6(piKernelGetGroupInfo)
PI_FORWARD_6(piKernelGetSubGroupInfo)
PI_FORWARD_3(piKernelGetSuggestedLocalSize)
PI_FORWARD_3(piKernelGetMaxCooperativeGroups)
PI_FORWARD_3(piKernelGetNativeHandle)
PI_FORWARD_3(piKernelCreateWithNativeHandle)
PI_FORWARD_3(piSamplerCreate)
PI_FORWARD_1(piSamplerRetain)
PI_FORWARD_1(piSamplerRelease)
PI_FORWARD_5(piSamplerGetInfo)
PI_FORWARD_2(piSamplerGetNativeHandle)
PI_FORWARD_3(piSamplerCreateWithNativeHandle)
PI_FORWARD_2(piEventWait)
PI_FORWARD_5(piEventGetInfo)
PI_FORWARD_5(piEventGetProfilingInfo)
PI_FORWARD_3(piEventSetCallback)
PI_FORWARD_3(piEventCreateHost)
PI_FORWARD_2(piEventSignalHost)
PI_FORWARD_1(piEventRetain)
PI_FORWARD_1(piEventRelease)
PI_FORWARD_2(piEventGetNativeHandle)
PI_FORWARD_3(piEventCreateWithNativeHandle)
// clang-format on

pi_result piGetMemoryConnection(pi_device src_device, pi_context src_context, pi_device dst_device,
                                pi_context dst_context, pi_memory_connection *out_connection) {
    using namespace pi::loader;
    if (src_device == nullptr || src_context == nullptr || dst_device == nullptr ||
        dst_context == nullptr || out_connection == nullptr) [[unlikely]]
        return refuse_null_connection(src_device, src_context, dst_device, dst_context,
                                      out_connection);
    const pi_dispatch *dispatch = dispatch_of(src_device);
    if (dispatch != dispatch_of(src_context) || dispatch != dispatch_of(dst_device) ||
        dispatch != dispatch_of(dst_context)) [[unlikely]]
        return connection_between_plugins(src_device, src_context, dst_device, dst_context,
                                          out_connection);
    return dispatch->piGetMemoryConnection(src_device, src_context, dst_device, dst_context,
                                           out_connection);
}

pi_result piGetMemoryConnectionInfo(pi_device src_device, pi_context src_context,
                                    pi_device dst_device, pi_context dst_context,
                                    const pi_memory_connection_query *query,
                                    pi_memory_connection_info *out_info) {
    using namespace pi::loader;
    if (src_device == nullptr || src_context == nullptr || dst_device == nullptr ||
        dst_context == nullptr || out_info == nullptr) [[unlikely]]
        return refuse_null_connection_info(src_device, src_context, dst_device, dst_context, query,
                                           out_info);
    const pi_dispatch *dispatch = dispatch_of(src_device);
    if (dispatch != dispatch_of(src_context) || dispatch != dispatch_of(dst_device) ||
        dispatch != dispatch_of(dst_context)) [[unlikely]]
        return connection_info_between_plugins(src_device, src_context, dst_device, dst_context,
                                               query, out_info);
    return dispatch->piGetMemoryConnectionInfo(src_device, src_context, dst_device, dst_context,
                                               query, out_info);
}
