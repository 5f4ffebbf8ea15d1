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

namespace pi::cuda {

using namespace sdk;

namespace {

// Root devices live as long as the instance: retain and release do nothing.
pi_result PI_CALL keep_device(pi_device device) {
    return call<Device>(device, [](Device &) {});
}

using Plugin = plugin_entries<Instance, this_plugin>;

// Every driver since CUDA 9 translates PTX of this version and target.
constexpr const char *copy_words_ptx = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry pi_copy_words(.param .u64 source, .param .u64 destination)
{
    .reg .b32 %group, %size, %item, %word;
    .reg .b64 %from, %to, %offset;
    ld.param.u64 %from, [source];
    ld.param.u64 %to, [destination];
    cvta.to.global.u64 %from, %from;
    cvta.to.global.u64 %to, %to;
    mov.u32 %group, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %item, %tid.x;
    mad.lo.u32 %item, %group, %size, %item;
    mul.wide.u32 %offset, %item, 4;
    add.u64 %from, %from, %offset;
    add.u64 %to, %to, %offset;
    ld.global.u32 %word, [%from];
    st.global.u32 [%to], %word;
    ret;
}
)";

pi_verification_kernel verification_kernel_of(Device &) {
    return verification_kernel(PI_PROGRAM_FORMAT_PTX, copy_words_ptx);
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
        .piDevicesGet = entries::piDevicesGet,
        .piDeviceGetInfo = entries::piDeviceGetInfo,
        .piDeviceRetain = keep_device,
        .piDeviceRelease = keep_device,
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
