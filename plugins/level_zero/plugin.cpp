// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "connection.hpp"
#include "context.hpp"
#include "entries.hpp"
#include "kernel.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "queue.hpp"
#include "sampler.hpp"
#include "usm.hpp"

#include <pi/sdk/context.hpp>
#include <pi/sdk/plugin.hpp>
#include <pi/sdk/program.hpp>
#include <pi/sdk/queue.hpp>
#include <pi/sdk/verification_kernel.hpp>

namespace pi::level_zero {

using namespace sdk;

namespace {

using Plugin = plugin_entries<Instance, this_plugin>;

pi_verification_kernel verification_kernel_of(Device &device) {
    if (!device.modules().spirvVersionSupported)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(), " does not accept SPIR-V");
    return spirv_verification_kernel();
}

constexpr Extension extensions[] = {
    {PI_VERIFICATION_KERNEL_V1,
     &verification_kernel_entries<Device, verification_kernel_of>::table},
};

// NOLINTNEXTLINE(readability-function-size): a row for each function
constexpr pi_dispatch make_functions() {
    pi_dispatch table = {
        .struct_size = sizeof(pi_dispatch),
        .version_major = PI_VERSION_MAJOR,
        .version_minor = PI_VERSION_MINOR,
        .piPluginGetInfo = Plugin::get_info,
        .piPluginGetExtension = Plugin::get_extension<extensions>,
        .piPlatformsGet = entries::piPlatformsGet,
        .piPlatformGetInfo = entries::piPlatformGetInfo,
        .piPlatformGetBackendOption = entries::piPlatformGetBackendOption,
        .piPlatformGetNativeHandle = entries::piPlatformGetNativeHandle,
        .piPlatformCreateWithNativeHandle = entries::piPlatformCreateWithNativeHandle,
        .piDevicesGet = entries::piDevicesGet,
        .piDeviceGetInfo = entries::piDeviceGetInfo,
        .piDevicePartition = entries::piDevicePartition,
        .piDeviceRetain = entries::piDeviceRetain,
        .piDeviceRelease = entries::piDeviceRelease,
        .piDeviceGetGlobalTimestamps = entries::piDeviceGetGlobalTimestamps,
        .piDeviceSelectBinary = entries::piDeviceSelectBinary,
        .piDeviceGetMemoryScopes = entries::piDeviceGetMemoryScopes,
        .piDeviceGetNativeHandle = entries::piDeviceGetNativeHandle,
        .piDeviceCreateWithNativeHandle = entries::piDeviceCreateWithNativeHandle,
        .piContextCreate = entries::piContextCreate,
        .piContextGetNativeHandle = entries::piContextGetNativeHandle,
        .piContextCreateWithNativeHandle = entries::piContextCreateWithNativeHandle,
        .piGetMemoryConnection = Connections::get,
        .piGetMemoryConnectionInfo = Connections::get_info,
        .piQueueCreate = entries::piQueueCreate,
        .piQueueGetNativeHandle = entries::piQueueGetNativeHandle,
        .piQueueCreateWithNativeHandle = entries::piQueueCreateWithNativeHandle,
        .piMemBufferCreate = entries::piMemBufferCreate,
        .piMemImageCreate = entries::piMemImageCreate,
        .piMemBufferPartition = entries::piMemBufferPartition,
        .piMemImport = entries::piMemImport,
        .piMemExport = entries::piMemExport,
        .piMemGetInfo = entries::piMemGetInfo,
        .piMemGetHostPointer = entries::piMemGetHostPointer,
        .piMemRetain = retain_entry<Mem>,
        .piMemRelease = release_entry<Mem>,
        .piMemGetNativeHandle = entries::piMemGetNativeHandle,
        .piUsmHostRegister = entries::piUsmHostRegister,
        .piUsmHostUnregister = entries::piUsmHostUnregister,
        .piEnqueueMemBufferRead = entries::piEnqueueMemBufferRead,
        .piEnqueueMemBufferWrite = entries::piEnqueueMemBufferWrite,
        .piEnqueueMemBufferCopy = entries::piEnqueueMemBufferCopy,
        .piEnqueueMemBufferFill = entries::piEnqueueMemBufferFill,
        .piEnqueueMemBufferMap = entries::piEnqueueMemBufferMap,
        .piEnqueueMemUnmap = entries::piEnqueueMemUnmap,
        .piEnqueueMemImageRead = entries::piEnqueueMemImageRead,
        .piEnqueueMemImageWrite = entries::piEnqueueMemImageWrite,
        .piEnqueueMemImageCopy = entries::piEnqueueMemImageCopy,
        .piEnqueueMemImageFill = entries::piEnqueueMemImageFill,
        .piEnqueueUsmCopy = entries::piEnqueueUsmCopy,
        .piEnqueueUsmFill = entries::piEnqueueUsmFill,
        .piEnqueueUsmPrefetch = entries::piEnqueueUsmPrefetch,
        .piEnqueueUsmAdvise = entries::piEnqueueUsmAdvise,
        .piEnqueueKernelLaunch = entries::piEnqueueKernelLaunch,
        .piEnqueueDeviceGlobalRead = entries::piEnqueueDeviceGlobalRead,
        .piEnqueueDeviceGlobalWrite = entries::piEnqueueDeviceGlobalWrite,
        .piProgramCreate = entries::piProgramCreate,
        .piProgramCompile = program_entries<Program>::compile,
        .piProgramLink = program_entries<Program>::link<Context, link_programs>,
        .piProgramSetSpecializationConstants = entries::piProgramSetSpecializationConstants,
        .piProgramGetFunctionPointer = entries::piProgramGetFunctionPointer,
        .piProgramGetGlobalVariablePointer = entries::piProgramGetGlobalVariablePointer,
        .piProgramGetNativeHandle = entries::piProgramGetNativeHandle,
        .piProgramCreateWithNativeHandle = entries::piProgramCreateWithNativeHandle,
        .piKernelGetGroupInfo = entries::piKernelGetGroupInfo,
        .piKernelGetSubGroupInfo = entries::piKernelGetSubGroupInfo,
        .piKernelGetSuggestedLocalSize = entries::piKernelGetSuggestedLocalSize,
        .piKernelGetMaxCooperativeGroups = entries::piKernelGetMaxCooperativeGroups,
        .piKernelGetNativeHandle = entries::piKernelGetNativeHandle,
        .piKernelCreateWithNativeHandle = entries::piKernelCreateWithNativeHandle,
        .piSamplerCreate = entries::piSamplerCreate,
        .piSamplerRetain = retain_entry<Sampler>,
        .piSamplerRelease = release_entry<Sampler>,
        .piSamplerGetInfo = sampler_get_info<Sampler>,
        .piSamplerGetNativeHandle = entries::piSamplerGetNativeHandle,
        .piSamplerCreateWithNativeHandle = entries::piSamplerCreateWithNativeHandle,
    };
    context_entries<Context>::fill(table);
    queue_entries<Queue>::fill(table);
    table.piEnqueueTimestamp = entries::piEnqueueTimestamp; // the device's clock
    mem_maintenance::fill<Mem>(table);
    usm_entries::fill<Usm>(table);
    event_entries::fill<Context>(table);
    program_entries<Program>::fill(table);
    kernel_entries<Kernel, Program>::fill(table);
    table.piEventGetNativeHandle = entries::piEventGetNativeHandle;
    table.piEventCreateWithNativeHandle = entries::piEventCreateWithNativeHandle;
    return table;
}

constexpr pi_dispatch functions = make_functions();

} // namespace
} // namespace pi::level_zero

PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    return pi::level_zero::Plugin::main(host, out_desc, pi::level_zero::functions);
}
