// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one exported symbol, and which of its functions the plugin has.
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

using namespace entries;
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
    pi_dispatch functions = {
        .struct_size = sizeof(pi_dispatch),
        .version_major = PI_VERSION_MAJOR,
        .version_minor = PI_VERSION_MINOR,
        .piPluginGetInfo = Plugin::get_info,
        .piPluginGetExtension = Plugin::get_extension<extensions>,
        .piPlatformsGet = platforms_get,
        .piPlatformGetInfo = platform_get_info,
        .piDevicesGet = devices_get,
        .piDeviceGetInfo = device_get_info,
        .piDevicePartition = device_partition,
        .piDeviceRetain = device_retain,
        .piDeviceRelease = device_release,
        .piDeviceGetGlobalTimestamps = device_get_global_timestamps,
        .piDeviceGetMemoryScopes = device_get_memory_scopes,
        .piContextCreate = sdk::context_create<Context, Platform>,
        .piGetMemoryConnection = get_memory_connection,
        .piGetMemoryConnectionInfo = get_memory_connection_info,
        .piQueueCreate = queue_create,
        .piMemBufferCreate = mem_buffer_create,
        .piMemImageCreate = mem_image_create,
        .piMemBufferPartition = mem_buffer_partition,
        .piMemImageViewCreate = mem_image_view_create,
        .piMemImport = mem_import,
        .piMemExport = mem_export,
        .piMemGetInfo = mem_get_info,
        .piMemGetHostPointer = mem_get_host_pointer,
        .piMemFlush = mem_flush,
        .piMemInvalidate = mem_invalidate,
        .piMemRetain = retain_entry<Mem>,
        .piMemRelease = release_entry<Mem>,
        .piUsmHostRegister = usm_host_register,
        .piUsmHostUnregister = usm_host_unregister,
        .piEnqueueMemBufferRead = enqueue_mem_buffer_read,
        .piEnqueueMemBufferWrite = enqueue_mem_buffer_write,
        .piEnqueueMemBufferCopy = enqueue_mem_buffer_copy,
        .piEnqueueMemBufferFill = enqueue_mem_buffer_fill,
        .piEnqueueMemBufferMap = enqueue_mem_buffer_map,
        .piEnqueueMemUnmap = enqueue_mem_unmap,
        .piEnqueueMemImageRead = enqueue_mem_image_read,
        .piEnqueueMemImageWrite = enqueue_mem_image_write,
        .piEnqueueMemImageCopy = enqueue_mem_image_copy,
        .piEnqueueMemImageFill = enqueue_mem_image_fill,
        .piEnqueueUsmCopy = enqueue_usm_copy,
        .piEnqueueUsmFill = enqueue_usm_fill,
        .piEnqueueUsmPrefetch = enqueue_usm_prefetch,
        .piEnqueueUsmAdvise = enqueue_usm_advise,
        .piEnqueueDeviceGlobalRead = enqueue_device_global_read,
        .piEnqueueDeviceGlobalWrite = enqueue_device_global_write,
        .piProgramGetGlobalVariablePointer = program_get_global_variable_pointer,
    };
    sdk::context_entries<Context>::fill(functions);
    sdk::queue_entries<Queue>::fill(functions);
    sdk::event_entries::fill<Context>(functions);
    sdk::native_entries<Native>::fill(functions);
    sdk::native_launch_entries<Native>::fill(functions);
    sdk::usm_entries::fill<Usm>(functions);
    sdk::sampler_entries<Context>::fill(functions);
    return functions;
}

constexpr pi_dispatch functions = make_functions();

} // namespace

} // namespace pi::host

pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    return pi::host::Plugin::main(host, out_desc, pi::host::functions);
}
