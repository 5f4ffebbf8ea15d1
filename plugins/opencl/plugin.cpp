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

namespace pi::opencl {

using namespace sdk;

namespace {

// Root devices live as long as the instance: retain and release do nothing.
pi_result PI_CALL retain_device(pi_device device) {
    return call<Device>(device, [](Device &self) {
        if (self.parent())
            self.retain();
    });
}
pi_result PI_CALL release_device(pi_device device) {
    return call<Device>(device, [](Device &self) {
        if (self.parent())
            self.release();
    });
}

using Plugin = plugin_entries<Instance, this_plugin>;

constexpr const char *copy_words_source =
    "kernel void pi_copy_words(global const uint *from, global uint *to) {\n"
    "    to[get_global_id(0)] = from[get_global_id(0)];\n"
    "}\n";

pi_verification_kernel verification_kernel_of(Device &device) {
    if (device.has_compiler())
        return verification_kernel(PI_PROGRAM_FORMAT_OPENCL_C, copy_words_source);
    if (device.il().create_program)
        return spirv_verification_kernel();
    fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(), " has no compiler");
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
        .piDeviceRetain = retain_device,
        .piDeviceRelease = release_device,
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
        .piMemGetInfo = entries::piMemGetInfo,
        .piMemGetHostPointer = entries::piMemGetHostPointer,
        .piMemFlush = entries::piMemFlush,
        .piMemInvalidate = entries::piMemInvalidate,
        .piMemRetain = retain_entry<Mem>,
        .piMemRelease = release_entry<Mem>,
        .piMemGetNativeHandle = entries::piMemGetNativeHandle,
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
        .piProgramGetGlobalVariablePointer = entries::piProgramGetGlobalVariablePointer,
        .piProgramGetNativeHandle = entries::piProgramGetNativeHandle,
        .piProgramCreateWithNativeHandle = entries::piProgramCreateWithNativeHandle,
        .piKernelGetGroupInfo = entries::piKernelGetGroupInfo,
        .piKernelGetSubGroupInfo = entries::piKernelGetSubGroupInfo,
        .piKernelGetSuggestedLocalSize = entries::piKernelGetSuggestedLocalSize,
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
    table.piEnqueueTimestamp = entries::piEnqueueTimestamp; // needs the driver's clock
    event_entries::fill<Context>(table);
    program_entries<Program>::fill(table);
    kernel_entries<Kernel, Program>::fill(table);
    usm_entries::fill<Usm>(table);
    table.piEventGetNativeHandle = entries::piEventGetNativeHandle;
    table.piEventCreateWithNativeHandle = entries::piEventCreateWithNativeHandle;
    return table;
}

constexpr pi_dispatch functions = make_functions();

} // namespace
} // namespace pi::opencl

PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    return pi::opencl::Plugin::main(host, out_desc, pi::opencl::functions);
}
