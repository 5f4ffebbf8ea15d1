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

namespace pi::cuda {

using namespace sdk;

namespace {

// Root devices live as long as the instance: retaining and releasing them changes nothing.
pi_result PI_CALL keep_device(pi_device device) {
    return call<Device>(device, [](Device &) {});
}

using Plugin = plugin_entries<Instance, this_plugin>;

constexpr pi_dispatch make_functions() {
    pi_dispatch table = {
        .struct_size = sizeof(pi_dispatch),
        .version_major = PI_VERSION_MAJOR,
        .version_minor = PI_VERSION_MINOR,
        .piPluginGetInfo = Plugin::get_info,
        .piPlatformsGet = entries::piPlatformsGet,
        .piPlatformGetInfo = entries::piPlatformGetInfo,
        .piPlatformGetBackendOption = entries::piPlatformGetBackendOption,
        .piDevicesGet = entries::piDevicesGet,
        .piDeviceGetInfo = entries::piDeviceGetInfo,
        .piDeviceRetain = keep_device,
        .piDeviceRelease = keep_device,
        .piDeviceGetGlobalTimestamps = entries::piDeviceGetGlobalTimestamps,
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
        .piMemImageViewCreate = entries::piMemImageViewCreate,
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
        .piProgramGetGlobalVariablePointer = entries::piProgramGetGlobalVariablePointer,
        .piProgramGetNativeHandle = entries::piProgramGetNativeHandle,
        .piProgramCreateWithNativeHandle = entries::piProgramCreateWithNativeHandle,
        .piKernelGetGroupInfo = entries::piKernelGetGroupInfo,
        .piKernelGetSubGroupInfo = entries::piKernelGetSubGroupInfo,
        .piKernelGetSuggestedLocalSize = entries::piKernelGetSuggestedLocalSize,
        .piKernelGetMaxCooperativeGroups = entries::piKernelGetMaxCooperativeGroups,
        .piKernelGetNativeHandle = entries::piKernelGetNativeHandle,
        .piKernelCreateWithNativeHandle = entries::piKernelCreateWithNativeHandle,
    };
    context_entries<Context>::fill(table);
    queue_entries<Queue>::fill(table);
    table.piEnqueueTimestamp = entries::piEnqueueTimestamp; // the device's clock
    mem_maintenance::fill<Mem>(table);
    usm_entries::fill<Usm>(table);
    event_entries::fill<Context>(table);
    program_entries<Program>::fill(table);
    sampler_entries<Context>::fill(table);
    kernel_entries<Kernel, Program>::fill(table);
    table.piEventGetNativeHandle = entries::piEventGetNativeHandle;
    table.piEventCreateWithNativeHandle = entries::piEventCreateWithNativeHandle;
    return table;
}

constexpr pi_dispatch functions = make_functions();

} // namespace
} // namespace pi::cuda

PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    return pi::cuda::Plugin::main(host, out_desc, pi::cuda::functions);
}
