// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry points of this plugin that are not the sdk's; each is defined in the file of its noun.
#pragma once

#include <pi/pi_plugin.h>

namespace pi::sim::entries {

// platform.cpp
decltype(::piPlatformsGet) platforms_get;
decltype(::piPlatformGetInfo) platform_get_info;

// extension.cpp
decltype(::piPluginGetExtension) plugin_get_extension;

// device.cpp
decltype(::piDevicesGet) devices_get;
decltype(::piDeviceGetInfo) device_get_info;
decltype(::piDeviceRetain) device_retain;
decltype(::piDeviceRelease) device_release;
decltype(::piDeviceGetGlobalTimestamps) device_get_global_timestamps;
decltype(::piDeviceGetMemoryScopes) device_get_memory_scopes;

// connection.cpp
decltype(::piGetMemoryConnection) get_memory_connection;
decltype(::piGetMemoryConnectionInfo) get_memory_connection_info;

// export.cpp
decltype(::piMemExport) mem_export;

// queue.cpp
decltype(::piQueueCreate) queue_create;

// memory.cpp
decltype(::piMemBufferCreate) mem_buffer_create;
decltype(::piMemBufferPartition) mem_buffer_partition;
decltype(::piMemImport) mem_import;
decltype(::piMemGetInfo) mem_get_info;
decltype(::piMemGetHostPointer) mem_get_host_pointer;
decltype(::piMemFlush) mem_flush;
decltype(::piMemInvalidate) mem_invalidate;

// commands.cpp
decltype(::piEnqueueMemBufferRead) enqueue_mem_buffer_read;
decltype(::piEnqueueMemBufferWrite) enqueue_mem_buffer_write;
decltype(::piEnqueueMemBufferCopy) enqueue_mem_buffer_copy;
decltype(::piEnqueueMemBufferFill) enqueue_mem_buffer_fill;
decltype(::piEnqueueMemBufferMap) enqueue_mem_buffer_map;
decltype(::piEnqueueMemUnmap) enqueue_mem_unmap;

// events.cpp: what looks at the clock besides what the sdk does
decltype(::piEventWait) event_wait;
decltype(::piEventGetInfo) event_get_info;
decltype(::piEventSetCallback) event_set_callback;
decltype(::piEventCreateHost) event_create_host;
decltype(::piEventSignalHost) event_signal_host;

} // namespace pi::sim::entries
