// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.hpp"
#include "entries.hpp"
#include "kernel.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "queue.hpp"
#include "usm.hpp"

#include <pi/sdk/context.hpp>
#include <pi/sdk/queue.hpp>

namespace pi::cuda {

using namespace sdk;

namespace {

// Root devices live as long as the instance: retaining and releasing them changes nothing.
pi_result PI_CALL keep_device(pi_device device) {
    return call<Device>(device, [](Device &) {});
}

constexpr const char *plugin_name = "cuda", *plugin_version = "0.1.0";

pi_result PI_CALL get_plugin_info(pi_plugin plugin, pi_plugin_info name, uint64_t size, void *value,
                                  uint64_t *out_size) {
    static constexpr InfoRow<Instance> rows[] = {
        {PI_PLUGIN_INFO_NAME, [](Instance &, const InfoWriter &write) { write(plugin_name); }},
        {PI_PLUGIN_INFO_VERSION,
         [](Instance &, const InfoWriter &write) { write(plugin_version); }},
        {PI_PLUGIN_INFO_CAPABILITIES,
         [](Instance &, const InfoWriter &write) { write(capabilities); }},
    };
    return call<Instance>(
        plugin, [&](Instance &self) { answer_info(self, rows, name, size, value, out_size); });
}

constexpr pi_dispatch make_functions() {
    pi_dispatch table = {
        .struct_size = sizeof(pi_dispatch),
        .version_major = PI_VERSION_MAJOR,
        .version_minor = PI_VERSION_MINOR,
        .piPluginGetInfo = get_plugin_info,
        .piPlatformsGet = entries::piPlatformsGet,
        .piPlatformGetInfo = entries::piPlatformGetInfo,
        .piPlatformGetBackendOption = entries::piPlatformGetBackendOption,
        .piDevicesGet = entries::piDevicesGet,
        .piDeviceGetInfo = entries::piDeviceGetInfo,
        .piDeviceRetain = keep_device,
        .piDeviceRelease = keep_device,
        .piDeviceGetGlobalTimestamps = entries::piDeviceGetGlobalTimestamps,
        .piDeviceGetMemoryScopes = entries::piDeviceGetMemoryScopes,
        .piContextCreate = entries::piContextCreate,
        .piGetMemoryConnection = entries::piGetMemoryConnection,
        .piGetMemoryConnectionInfo = entries::piGetMemoryConnectionInfo,
        .piQueueCreate = entries::piQueueCreate,
        .piMemBufferCreate = entries::piMemBufferCreate,
        .piMemBufferPartition = entries::piMemBufferPartition,
        .piMemImport = entries::piMemImport,
        .piMemGetInfo = entries::piMemGetInfo,
        .piMemGetHostPointer = entries::piMemGetHostPointer,
        .piMemFlush = entries::piMemFlush,
        .piMemInvalidate = entries::piMemInvalidate,
        .piMemRetain = retain_entry<Mem>,
        .piMemRelease = release_entry<Mem>,
        .piUsmHostRegister = entries::piUsmHostRegister,
        .piUsmHostUnregister = entries::piUsmHostUnregister,
        .piEnqueueMemBufferRead = entries::piEnqueueMemBufferRead,
        .piEnqueueMemBufferWrite = entries::piEnqueueMemBufferWrite,
        .piEnqueueMemBufferCopy = entries::piEnqueueMemBufferCopy,
        .piEnqueueMemBufferFill = entries::piEnqueueMemBufferFill,
        .piEnqueueMemBufferMap = entries::piEnqueueMemBufferMap,
        .piEnqueueMemUnmap = entries::piEnqueueMemUnmap,
        .piEnqueueUsmCopy = entries::piEnqueueUsmCopy,
        .piEnqueueUsmFill = entries::piEnqueueUsmFill,
        .piEnqueueUsmPrefetch = entries::piEnqueueUsmPrefetch,
        .piEnqueueUsmAdvise = entries::piEnqueueUsmAdvise,
        .piEnqueueKernelLaunch = entries::piEnqueueKernelLaunch,
        .piProgramCreate = entries::piProgramCreate,
        .piProgramBuild = entries::piProgramBuild,
        .piProgramRetain = retain_entry<Program>,
        .piProgramRelease = release_entry<Program>,
        .piProgramGetInfo = entries::piProgramGetInfo,
        .piProgramGetBuildInfo = entries::piProgramGetBuildInfo,
        .piKernelCreate = entries::piKernelCreate,
        .piKernelRetain = retain_entry<Kernel>,
        .piKernelRelease = release_entry<Kernel>,
        .piKernelGetInfo = entries::piKernelGetInfo,
        .piKernelGetGroupInfo = entries::piKernelGetGroupInfo,
        .piKernelGetSubGroupInfo = entries::piKernelGetSubGroupInfo,
        .piKernelGetSuggestedLocalSize = entries::piKernelGetSuggestedLocalSize,
        .piKernelGetMaxCooperativeGroups = entries::piKernelGetMaxCooperativeGroups,
    };
    context_entries<Context>::fill(table);
    queue_entries<Queue>::fill(table);
    table.piEnqueueTimestamp = entries::piEnqueueTimestamp; // the device's clock
    usm_entries::fill<Usm>(table);
    event_entries::fill<Context>(table);
    table.piEventWait = entries::piEventWait; // waits in the driver where it can
    return table;
}

constexpr pi_dispatch functions = make_functions();

} // namespace
} // namespace pi::cuda

PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    using namespace pi;
    return sdk::guard(host, [&] {
        out_desc->version_major = PI_VERSION_MAJOR;
        out_desc->version_minor = PI_VERSION_MINOR;
        out_desc->name = cuda::plugin_name;
        out_desc->version = cuda::plugin_version;
        out_desc->capabilities = cuda::capabilities;
        out_desc->functions = &cuda::functions;
        out_desc->teardown = [](pi_plugin instance) { cuda::Instance::from(instance).release(); };
        out_desc->instance = sdk::make<cuda::Instance>(host).give();
    });
}
