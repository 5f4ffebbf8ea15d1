// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry points of this plugin, declared with the types of pi.h; each is defined in the file of its noun. What
// is missing here is what the plugin does not have.
#pragma once

#include <pi/pi_plugin.h>

namespace pi::host::entries {

// platform.cpp
decltype(::piPlatformsGet) platforms_get;
decltype(::piPlatformGetInfo) platform_get_info;

// device.cpp
decltype(::piDevicesGet) devices_get;
decltype(::piDeviceGetInfo) device_get_info;
decltype(::piDeviceRetain) device_retain;
decltype(::piDeviceRelease) device_release;
decltype(::piDeviceGetGlobalTimestamps) device_get_global_timestamps;
decltype(::piDeviceGetMemoryScopes) device_get_memory_scopes;

// partition.cpp
decltype(::piDevicePartition) device_partition;

// connection.cpp
decltype(::piGetMemoryConnection) get_memory_connection;
decltype(::piGetMemoryConnectionInfo) get_memory_connection_info;

// queue.cpp
decltype(::piQueueCreate) queue_create;

// memory.cpp
decltype(::piMemBufferCreate) mem_buffer_create;
decltype(::piMemBufferPartition) mem_buffer_partition;
decltype(::piMemImport) mem_import;
decltype(::piMemExport) mem_export;
decltype(::piMemGetInfo) mem_get_info;
decltype(::piMemGetHostPointer) mem_get_host_pointer;
decltype(::piMemFlush) mem_flush;
decltype(::piMemInvalidate) mem_invalidate;

// image.cpp
decltype(::piMemImageCreate) mem_image_create;
decltype(::piMemImageViewCreate) mem_image_view_create;

// image_commands.cpp
decltype(::piEnqueueMemImageRead) enqueue_mem_image_read;
decltype(::piEnqueueMemImageWrite) enqueue_mem_image_write;
decltype(::piEnqueueMemImageCopy) enqueue_mem_image_copy;
decltype(::piEnqueueMemImageFill) enqueue_mem_image_fill;

// commands.cpp
decltype(::piEnqueueMemBufferRead) enqueue_mem_buffer_read;
decltype(::piEnqueueMemBufferWrite) enqueue_mem_buffer_write;
decltype(::piEnqueueMemBufferCopy) enqueue_mem_buffer_copy;
decltype(::piEnqueueMemBufferFill) enqueue_mem_buffer_fill;
decltype(::piEnqueueMemBufferMap) enqueue_mem_buffer_map;
decltype(::piEnqueueMemUnmap) enqueue_mem_unmap;

// usm_register.cpp
decltype(::piUsmHostRegister) usm_host_register;
decltype(::piUsmHostUnregister) usm_host_unregister;

// usm_commands.cpp
decltype(::piEnqueueUsmCopy) enqueue_usm_copy;
decltype(::piEnqueueUsmFill) enqueue_usm_fill;
decltype(::piEnqueueUsmPrefetch) enqueue_usm_prefetch;
decltype(::piEnqueueUsmAdvise) enqueue_usm_advise;

// globals.cpp
decltype(::piProgramGetGlobalVariablePointer) program_get_global_variable_pointer;
decltype(::piEnqueueDeviceGlobalRead) enqueue_device_global_read;
decltype(::piEnqueueDeviceGlobalWrite) enqueue_device_global_write;

} // namespace pi::host::entries
