// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables that the loader asks for. Tables only grow at their end: entries of later versions
// than the requested one would lie behind the caller's table.
#include "faults.hpp"

#include <level_zero/ze_ddi.h>

using namespace pi::level_zero::simulated;

namespace {

template <class Table, class Function>
struct Row {
    Function *Table::*slot;
    Function *function;
    unsigned since; ///< minor version
};

template <class Table, class Function>
Row<Table, Function> row(Function *Table::*slot, Function *function, unsigned since) {
    return {slot, function, since};
}

template <class Table, class Function>
void put(ze_api_version_t version, Table &table, const Row<Table, Function> &row) {
    if (ZE_MINOR_VERSION(version) >= row.since)
        table.*row.slot = row.function;
}

template <class Table, class... Functions>
ze_result_t fill(ze_api_version_t version, Table *table, const Row<Table, Functions> &...rows) {
    if (!table)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (ZE_MAJOR_VERSION(version) != ZE_MAJOR_VERSION(ZE_API_VERSION_1_4))
        return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
    (put(version, *table, rows), ...);
    return ZE_RESULT_SUCCESS;
}

} // namespace

#define ROW(table, slot, function, since)                                                          \
    row(&table::slot, &Entry<#function, &function>::call, since)

ze_result_t ZE_APICALL zeGetGlobalProcAddrTable(ze_api_version_t version,
                                                ze_global_dditable_t *table) {
    return fill(version, table, ROW(ze_global_dditable_t, pfnInit, zeInit, 0));
}

ze_result_t ZE_APICALL zeGetDriverProcAddrTable(ze_api_version_t version,
                                                ze_driver_dditable_t *table) {
    return fill(
        version, table, ROW(ze_driver_dditable_t, pfnGet, zeDriverGet, 0),
        ROW(ze_driver_dditable_t, pfnGetApiVersion, zeDriverGetApiVersion, 0),
        ROW(ze_driver_dditable_t, pfnGetProperties, zeDriverGetProperties, 0),
        ROW(ze_driver_dditable_t, pfnGetIpcProperties, zeDriverGetIpcProperties, 0),
        ROW(ze_driver_dditable_t, pfnGetExtensionProperties, zeDriverGetExtensionProperties, 0),
        ROW(ze_driver_dditable_t, pfnGetExtensionFunctionAddress,
            zeDriverGetExtensionFunctionAddress, 0));
}

ze_result_t ZE_APICALL zeGetDeviceProcAddrTable(ze_api_version_t version,
                                                ze_device_dditable_t *table) {
    return fill(version, table, ROW(ze_device_dditable_t, pfnGet, zeDeviceGet, 0),
                ROW(ze_device_dditable_t, pfnGetSubDevices, zeDeviceGetSubDevices, 0),
                ROW(ze_device_dditable_t, pfnGetProperties, zeDeviceGetProperties, 0),
                ROW(ze_device_dditable_t, pfnGetComputeProperties, zeDeviceGetComputeProperties, 0),
                ROW(ze_device_dditable_t, pfnGetModuleProperties, zeDeviceGetModuleProperties, 0),
                ROW(ze_device_dditable_t, pfnGetCommandQueueGroupProperties,
                    zeDeviceGetCommandQueueGroupProperties, 0),
                ROW(ze_device_dditable_t, pfnGetMemoryProperties, zeDeviceGetMemoryProperties, 0),
                ROW(ze_device_dditable_t, pfnGetMemoryAccessProperties,
                    zeDeviceGetMemoryAccessProperties, 0),
                ROW(ze_device_dditable_t, pfnGetCacheProperties, zeDeviceGetCacheProperties, 0),
                ROW(ze_device_dditable_t, pfnGetImageProperties, zeDeviceGetImageProperties, 0),
                ROW(ze_device_dditable_t, pfnGetExternalMemoryProperties,
                    zeDeviceGetExternalMemoryProperties, 0),
                ROW(ze_device_dditable_t, pfnGetP2PProperties, zeDeviceGetP2PProperties, 0),
                ROW(ze_device_dditable_t, pfnCanAccessPeer, zeDeviceCanAccessPeer, 0),
                ROW(ze_device_dditable_t, pfnGetStatus, zeDeviceGetStatus, 0),
                ROW(ze_device_dditable_t, pfnGetGlobalTimestamps, zeDeviceGetGlobalTimestamps, 0),
                ROW(ze_device_dditable_t, pfnPciGetPropertiesExt, zeDevicePciGetPropertiesExt, 3));
}

ze_result_t ZE_APICALL zeGetDeviceExpProcAddrTable(ze_api_version_t version,
                                                   ze_device_exp_dditable_t *table) {
    return fill(version, table);
}

ze_result_t ZE_APICALL zeGetContextProcAddrTable(ze_api_version_t version,
                                                 ze_context_dditable_t *table) {
    return fill(version, table, ROW(ze_context_dditable_t, pfnCreate, zeContextCreate, 0),
                ROW(ze_context_dditable_t, pfnDestroy, zeContextDestroy, 0),
                ROW(ze_context_dditable_t, pfnGetStatus, zeContextGetStatus, 0),
                ROW(ze_context_dditable_t, pfnSystemBarrier, zeContextSystemBarrier, 0),
                ROW(ze_context_dditable_t, pfnMakeMemoryResident, zeContextMakeMemoryResident, 0),
                ROW(ze_context_dditable_t, pfnEvictMemory, zeContextEvictMemory, 0),
                ROW(ze_context_dditable_t, pfnMakeImageResident, zeContextMakeImageResident, 0),
                ROW(ze_context_dditable_t, pfnEvictImage, zeContextEvictImage, 0),
                ROW(ze_context_dditable_t, pfnCreateEx, zeContextCreateEx, 1));
}

ze_result_t ZE_APICALL zeGetCommandQueueProcAddrTable(ze_api_version_t version,
                                                      ze_command_queue_dditable_t *table) {
    return fill(version, table,
                ROW(ze_command_queue_dditable_t, pfnCreate, zeCommandQueueCreate, 0),
                ROW(ze_command_queue_dditable_t, pfnDestroy, zeCommandQueueDestroy, 0),
                ROW(ze_command_queue_dditable_t, pfnExecuteCommandLists,
                    zeCommandQueueExecuteCommandLists, 0),
                ROW(ze_command_queue_dditable_t, pfnSynchronize, zeCommandQueueSynchronize, 0));
}

ze_result_t ZE_APICALL zeGetCommandListProcAddrTable(ze_api_version_t version,
                                                     ze_command_list_dditable_t *table) {
    return fill(
        version, table, ROW(ze_command_list_dditable_t, pfnCreate, zeCommandListCreate, 0),
        ROW(ze_command_list_dditable_t, pfnCreateImmediate, zeCommandListCreateImmediate, 0),
        ROW(ze_command_list_dditable_t, pfnDestroy, zeCommandListDestroy, 0),
        ROW(ze_command_list_dditable_t, pfnClose, zeCommandListClose, 0),
        ROW(ze_command_list_dditable_t, pfnReset, zeCommandListReset, 0),
        ROW(ze_command_list_dditable_t, pfnAppendWriteGlobalTimestamp,
            zeCommandListAppendWriteGlobalTimestamp, 0),
        ROW(ze_command_list_dditable_t, pfnAppendBarrier, zeCommandListAppendBarrier, 0),
        ROW(ze_command_list_dditable_t, pfnAppendMemoryRangesBarrier,
            zeCommandListAppendMemoryRangesBarrier, 0),
        ROW(ze_command_list_dditable_t, pfnAppendMemoryCopy, zeCommandListAppendMemoryCopy, 0),
        ROW(ze_command_list_dditable_t, pfnAppendMemoryFill, zeCommandListAppendMemoryFill, 0),
        ROW(ze_command_list_dditable_t, pfnAppendMemoryCopyRegion,
            zeCommandListAppendMemoryCopyRegion, 0),
        ROW(ze_command_list_dditable_t, pfnAppendMemoryCopyFromContext,
            zeCommandListAppendMemoryCopyFromContext, 0),
        ROW(ze_command_list_dditable_t, pfnAppendImageCopy, zeCommandListAppendImageCopy, 0),
        ROW(ze_command_list_dditable_t, pfnAppendImageCopyRegion,
            zeCommandListAppendImageCopyRegion, 0),
        ROW(ze_command_list_dditable_t, pfnAppendImageCopyToMemory,
            zeCommandListAppendImageCopyToMemory, 0),
        ROW(ze_command_list_dditable_t, pfnAppendImageCopyFromMemory,
            zeCommandListAppendImageCopyFromMemory, 0),
        ROW(ze_command_list_dditable_t, pfnAppendMemoryPrefetch, zeCommandListAppendMemoryPrefetch,
            0),
        ROW(ze_command_list_dditable_t, pfnAppendMemAdvise, zeCommandListAppendMemAdvise, 0),
        ROW(ze_command_list_dditable_t, pfnAppendSignalEvent, zeCommandListAppendSignalEvent, 0),
        ROW(ze_command_list_dditable_t, pfnAppendWaitOnEvents, zeCommandListAppendWaitOnEvents, 0),
        ROW(ze_command_list_dditable_t, pfnAppendEventReset, zeCommandListAppendEventReset, 0),
        ROW(ze_command_list_dditable_t, pfnAppendQueryKernelTimestamps,
            zeCommandListAppendQueryKernelTimestamps, 0),
        ROW(ze_command_list_dditable_t, pfnAppendLaunchKernel, zeCommandListAppendLaunchKernel, 0),
        ROW(ze_command_list_dditable_t, pfnAppendLaunchCooperativeKernel,
            zeCommandListAppendLaunchCooperativeKernel, 0),
        ROW(ze_command_list_dditable_t, pfnAppendLaunchKernelIndirect,
            zeCommandListAppendLaunchKernelIndirect, 0),
        ROW(ze_command_list_dditable_t, pfnAppendImageCopyToMemoryExt,
            zeCommandListAppendImageCopyToMemoryExt, 3),
        ROW(ze_command_list_dditable_t, pfnAppendImageCopyFromMemoryExt,
            zeCommandListAppendImageCopyFromMemoryExt, 3));
}

ze_result_t ZE_APICALL zeGetImageProcAddrTable(ze_api_version_t version,
                                               ze_image_dditable_t *table) {
    return fill(
        version, table, ROW(ze_image_dditable_t, pfnGetProperties, zeImageGetProperties, 0),
        ROW(ze_image_dditable_t, pfnCreate, zeImageCreate, 0),
        ROW(ze_image_dditable_t, pfnDestroy, zeImageDestroy, 0),
        ROW(ze_image_dditable_t, pfnGetAllocPropertiesExt, zeImageGetAllocPropertiesExt, 3));
}

ze_result_t ZE_APICALL zeGetImageExpProcAddrTable(ze_api_version_t version,
                                                  ze_image_exp_dditable_t *table) {
    return fill(version, table);
}

ze_result_t ZE_APICALL zeGetFenceProcAddrTable(ze_api_version_t version,
                                               ze_fence_dditable_t *table) {
    return fill(version, table, ROW(ze_fence_dditable_t, pfnCreate, zeFenceCreate, 0),
                ROW(ze_fence_dditable_t, pfnDestroy, zeFenceDestroy, 0),
                ROW(ze_fence_dditable_t, pfnHostSynchronize, zeFenceHostSynchronize, 0),
                ROW(ze_fence_dditable_t, pfnQueryStatus, zeFenceQueryStatus, 0),
                ROW(ze_fence_dditable_t, pfnReset, zeFenceReset, 0));
}

ze_result_t ZE_APICALL zeGetEventPoolProcAddrTable(ze_api_version_t version,
                                                   ze_event_pool_dditable_t *table) {
    return fill(version, table, ROW(ze_event_pool_dditable_t, pfnCreate, zeEventPoolCreate, 0),
                ROW(ze_event_pool_dditable_t, pfnDestroy, zeEventPoolDestroy, 0));
}

ze_result_t ZE_APICALL zeGetEventProcAddrTable(ze_api_version_t version,
                                               ze_event_dditable_t *table) {
    return fill(version, table, ROW(ze_event_dditable_t, pfnCreate, zeEventCreate, 0),
                ROW(ze_event_dditable_t, pfnDestroy, zeEventDestroy, 0),
                ROW(ze_event_dditable_t, pfnHostSignal, zeEventHostSignal, 0),
                ROW(ze_event_dditable_t, pfnHostSynchronize, zeEventHostSynchronize, 0),
                ROW(ze_event_dditable_t, pfnQueryStatus, zeEventQueryStatus, 0),
                ROW(ze_event_dditable_t, pfnHostReset, zeEventHostReset, 0),
                ROW(ze_event_dditable_t, pfnQueryKernelTimestamp, zeEventQueryKernelTimestamp, 0));
}

ze_result_t ZE_APICALL zeGetEventExpProcAddrTable(ze_api_version_t version,
                                                  ze_event_exp_dditable_t *table) {
    return fill(version, table);
}

ze_result_t ZE_APICALL zeGetModuleProcAddrTable(ze_api_version_t version,
                                                ze_module_dditable_t *table) {
    return fill(version, table, ROW(ze_module_dditable_t, pfnCreate, zeModuleCreate, 0),
                ROW(ze_module_dditable_t, pfnDestroy, zeModuleDestroy, 0),
                ROW(ze_module_dditable_t, pfnDynamicLink, zeModuleDynamicLink, 0),
                ROW(ze_module_dditable_t, pfnGetNativeBinary, zeModuleGetNativeBinary, 0),
                ROW(ze_module_dditable_t, pfnGetGlobalPointer, zeModuleGetGlobalPointer, 0),
                ROW(ze_module_dditable_t, pfnGetKernelNames, zeModuleGetKernelNames, 0),
                ROW(ze_module_dditable_t, pfnGetProperties, zeModuleGetProperties, 0),
                ROW(ze_module_dditable_t, pfnGetFunctionPointer, zeModuleGetFunctionPointer, 0),
                ROW(ze_module_dditable_t, pfnInspectLinkageExt, zeModuleInspectLinkageExt, 3));
}

ze_result_t ZE_APICALL zeGetModuleBuildLogProcAddrTable(ze_api_version_t version,
                                                        ze_module_build_log_dditable_t *table) {
    return fill(version, table,
                ROW(ze_module_build_log_dditable_t, pfnDestroy, zeModuleBuildLogDestroy, 0),
                ROW(ze_module_build_log_dditable_t, pfnGetString, zeModuleBuildLogGetString, 0));
}

ze_result_t ZE_APICALL zeGetKernelProcAddrTable(ze_api_version_t version,
                                                ze_kernel_dditable_t *table) {
    return fill(version, table, ROW(ze_kernel_dditable_t, pfnCreate, zeKernelCreate, 0),
                ROW(ze_kernel_dditable_t, pfnDestroy, zeKernelDestroy, 0),
                ROW(ze_kernel_dditable_t, pfnSetCacheConfig, zeKernelSetCacheConfig, 0),
                ROW(ze_kernel_dditable_t, pfnSetGroupSize, zeKernelSetGroupSize, 0),
                ROW(ze_kernel_dditable_t, pfnSuggestGroupSize, zeKernelSuggestGroupSize, 0),
                ROW(ze_kernel_dditable_t, pfnSuggestMaxCooperativeGroupCount,
                    zeKernelSuggestMaxCooperativeGroupCount, 0),
                ROW(ze_kernel_dditable_t, pfnSetArgumentValue, zeKernelSetArgumentValue, 0),
                ROW(ze_kernel_dditable_t, pfnSetIndirectAccess, zeKernelSetIndirectAccess, 0),
                ROW(ze_kernel_dditable_t, pfnGetIndirectAccess, zeKernelGetIndirectAccess, 0),
                ROW(ze_kernel_dditable_t, pfnGetSourceAttributes, zeKernelGetSourceAttributes, 0),
                ROW(ze_kernel_dditable_t, pfnGetProperties, zeKernelGetProperties, 0),
                ROW(ze_kernel_dditable_t, pfnGetName, zeKernelGetName, 0));
}

ze_result_t ZE_APICALL zeGetKernelExpProcAddrTable(ze_api_version_t version,
                                                   ze_kernel_exp_dditable_t *table) {
    return fill(
        version, table,
        ROW(ze_kernel_exp_dditable_t, pfnSetGlobalOffsetExp, zeKernelSetGlobalOffsetExp, 0));
}

ze_result_t ZE_APICALL zeGetSamplerProcAddrTable(ze_api_version_t version,
                                                 ze_sampler_dditable_t *table) {
    return fill(version, table, ROW(ze_sampler_dditable_t, pfnCreate, zeSamplerCreate, 0),
                ROW(ze_sampler_dditable_t, pfnDestroy, zeSamplerDestroy, 0));
}

ze_result_t ZE_APICALL zeGetPhysicalMemProcAddrTable(ze_api_version_t version,
                                                     ze_physical_mem_dditable_t *table) {
    return fill(version, table);
}

ze_result_t ZE_APICALL zeGetMemProcAddrTable(ze_api_version_t version, ze_mem_dditable_t *table) {
    return fill(version, table, ROW(ze_mem_dditable_t, pfnAllocShared, zeMemAllocShared, 0),
                ROW(ze_mem_dditable_t, pfnAllocDevice, zeMemAllocDevice, 0),
                ROW(ze_mem_dditable_t, pfnAllocHost, zeMemAllocHost, 0),
                ROW(ze_mem_dditable_t, pfnFree, zeMemFree, 0),
                ROW(ze_mem_dditable_t, pfnGetAllocProperties, zeMemGetAllocProperties, 0),
                ROW(ze_mem_dditable_t, pfnGetAddressRange, zeMemGetAddressRange, 0),
                ROW(ze_mem_dditable_t, pfnGetIpcHandle, zeMemGetIpcHandle, 0),
                ROW(ze_mem_dditable_t, pfnOpenIpcHandle, zeMemOpenIpcHandle, 0),
                ROW(ze_mem_dditable_t, pfnCloseIpcHandle, zeMemCloseIpcHandle, 0),
                ROW(ze_mem_dditable_t, pfnFreeExt, zeMemFreeExt, 3));
}

ze_result_t ZE_APICALL zeGetVirtualMemProcAddrTable(ze_api_version_t version,
                                                    ze_virtual_mem_dditable_t *table) {
    return fill(version, table);
}

ze_result_t ZE_APICALL zeGetFabricVertexExpProcAddrTable(ze_api_version_t version,
                                                         ze_fabric_vertex_exp_dditable_t *table) {
    return fill(version, table);
}

ze_result_t ZE_APICALL zeGetFabricEdgeExpProcAddrTable(ze_api_version_t version,
                                                       ze_fabric_edge_exp_dditable_t *table) {
    return fill(version, table);
}
