// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exported symbol, and the table of the plugin's functions.
#include "plugin.hpp"

#include "entries.hpp"
#include "memory.hpp"
#include "native.hpp"
#include "queue.hpp"
#include "sampler.hpp"
#include "usm.hpp"

#include <pi/sdk/verification_kernel.hpp>

namespace pi::host {

namespace {

using sdk::release_entry;
using sdk::retain_entry;

using Plugin = sdk::plugin_entries<Instance, this_plugin>;

pi_verification_kernel verification_kernel_of(Device &) {
    return sdk::native_verification_kernel();
}

constexpr sdk::Extension extensions[] = {
    {PI_VERIFICATION_KERNEL_V1,
     &sdk::verification_kernel_entries<Device, verification_kernel_of>::table},
};

constexpr pi_dispatch make_functions() {
    pi_dispatch table = {
        .struct_size = sizeof(pi_dispatch),
        .version_major = PI_VERSION_MAJOR,
        .version_minor = PI_VERSION_MINOR,
        .piPluginGetInfo = Plugin::get_info,
        .piPluginGetExtension = Plugin::get_extension<extensions>,
        .piPlatformsGet = entries::piPlatformsGet,
        .piPlatformGetInfo = entries::piPlatformGetInfo,
        .piDevicesGet = entries::piDevicesGet,
        .piDeviceGetInfo = entries::piDeviceGetInfo,
        .piDevicePartition = entries::piDevicePartition,
        .piDeviceRetain = entries::piDeviceRetain,
        .piDeviceRelease = entries::piDeviceRelease,
        .piDeviceGetGlobalTimestamps = entries::piDeviceGetGlobalTimestamps,
        .piDeviceGetMemoryScopes = entries::piDeviceGetMemoryScopes,
        .piContextCreate = sdk::context_create<Context, Platform>,
        .piGetMemoryConnection = entries::piGetMemoryConnection,
        .piGetMemoryConnectionInfo = entries::piGetMemoryConnectionInfo,
        .piQueueCreate = entries::piQueueCreate,
        .piMemBufferCreate = entries::piMemBufferCreate,
        .piMemImageCreate = entries::piMemImageCreate,
        .piMemBufferPartition = entries::piMemBufferPartition,
        .piMemImageViewCreate = entries::piMemImageViewCreate,
        .piMemImport = entries::piMemImport,
        .piMemExport = entries::piMemExport,
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
        .piEnqueueMemImageRead = entries::piEnqueueMemImageRead,
        .piEnqueueMemImageWrite = entries::piEnqueueMemImageWrite,
        .piEnqueueMemImageCopy = entries::piEnqueueMemImageCopy,
        .piEnqueueMemImageFill = entries::piEnqueueMemImageFill,
        .piEnqueueUsmCopy = entries::piEnqueueUsmCopy,
        .piEnqueueUsmFill = entries::piEnqueueUsmFill,
        .piEnqueueUsmPrefetch = entries::piEnqueueUsmPrefetch,
        .piEnqueueUsmAdvise = entries::piEnqueueUsmAdvise,
        .piEnqueueDeviceGlobalRead = entries::piEnqueueDeviceGlobalRead,
        .piEnqueueDeviceGlobalWrite = entries::piEnqueueDeviceGlobalWrite,
        .piProgramGetGlobalVariablePointer = entries::piProgramGetGlobalVariablePointer,
    };
    sdk::context_entries<Context>::fill(table);
    sdk::queue_entries<Queue>::fill(table);
    sdk::event_entries::fill<Context>(table);
    sdk::native_entries<Native>::fill(table);
    sdk::native_launch_entries<Native>::fill(table);
    sdk::usm_entries::fill<Usm>(table);
    sdk::sampler_entries<Context>::fill(table);
    return table;
}

constexpr pi_dispatch functions = make_functions();

} // namespace

} // namespace pi::host

pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    return pi::host::Plugin::main(host, out_desc, pi::host::functions);
}
