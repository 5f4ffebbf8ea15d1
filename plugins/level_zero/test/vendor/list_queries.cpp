// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queries.hpp"

#include <array>

namespace level_zero_vendor_test {

namespace {

struct List {
    explicit List(const Driver &driver, bool immediate, uint32_t group = 0) {
        if (immediate) {
            const ze_command_queue_desc_t description{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                                      nullptr,
                                                      group,
                                                      0,
                                                      0,
                                                      ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                                      ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
            result =
                zeCommandListCreateImmediate(driver.context, driver.device, &description, &handle);
        } else {
            const ze_command_list_desc_t description{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr,
                                                     group, 0};
            result = zeCommandListCreate(driver.context, driver.device, &description, &handle);
        }
    }
    List(const List &) = delete;
    ~List() {
        if (result == ZE_RESULT_SUCCESS) {
            zeCommandListDestroy(handle);
        }
    }
    ze_command_list_handle_t handle = nullptr;
    ze_result_t result;
};

ze_command_queue_desc_t queue_description(uint32_t group, uint32_t index) {
    return {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
            nullptr,
            group,
            index,
            0,
            ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
            ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
}

std::string queue_of(const Driver &driver, uint32_t group, uint32_t index) {
    const ze_command_queue_desc_t description = queue_description(group, index);
    ze_command_queue_handle_t queue = nullptr;
    const ze_result_t result =
        zeCommandQueueCreate(driver.context, driver.device, &description, &queue);
    if (result == ZE_RESULT_SUCCESS) {
        zeCommandQueueDestroy(queue);
    }
    return name_of(result);
}

} // namespace

const std::vector<Query> &list_queries() {
    static const std::vector<Query> queries{
        {"a list with a barrier: closed, run, waited for, reset",
         [](const Driver &driver) {
             const List list(driver, false);
             const ze_command_queue_desc_t description = queue_description(0, 0);
             ze_command_queue_handle_t queue = nullptr;
             std::vector<ze_result_t> results{
                 list.result,
                 zeCommandQueueCreate(driver.context, driver.device, &description, &queue)};
             ze_command_list_handle_t handle = list.handle;
             results.push_back(zeCommandListAppendBarrier(handle, nullptr, 0, nullptr));
             results.push_back(zeCommandListClose(handle));
             results.push_back(zeCommandQueueExecuteCommandLists(queue, 1, &handle, nullptr));
             results.push_back(zeCommandQueueSynchronize(queue, UINT64_MAX));
             results.push_back(zeCommandListReset(handle));
             zeCommandQueueDestroy(queue);
             return names_of(results);
         }},
        {"a list that is closed twice",
         [](const Driver &driver) {
             const List list(driver, false);
             return names_of({zeCommandListClose(list.handle), zeCommandListClose(list.handle)});
         },
         as_specified},
        {"an immediate list: a barrier, and a close",
         [](const Driver &driver) {
             const List list(driver, true);
             return names_of({list.result,
                              zeCommandListAppendBarrier(list.handle, nullptr, 0, nullptr),
                              zeCommandListClose(list.handle)});
         }},
        {"how many groups of queues, and what the first can do",
         [](const Driver &driver) {
             uint32_t count = 0;
             zeDeviceGetCommandQueueGroupProperties(driver.device, &count, nullptr);
             if (count == 0) {
                 return std::string("none");
             }
             std::vector<ze_command_queue_group_properties_t> groups(count);
             for (auto &group : groups) {
                 group.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
             }
             zeDeviceGetCommandQueueGroupProperties(driver.device, &count, groups.data());
             const ze_command_queue_group_property_flags_t flags = groups[0].flags;
             return std::string((flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) != 0
                                    ? "kernels"
                                    : "no kernels") +
                    ((flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY) != 0 ? ", copies"
                                                                              : ", no copies") +
                    (groups[0].numQueues != 0 ? ", a queue" : ", no queue");
         }},
        {"a queue of a group that there is not",
         [](const Driver &driver) { return queue_of(driver, 100, 0); }},
        {"a queue of an index that there is not",
         [](const Driver &driver) { return queue_of(driver, 0, 100); }},
        {"a fence that nothing signals",
         [](const Driver &driver) {
             const ze_command_queue_desc_t of_queue = queue_description(0, 0);
             ze_command_queue_handle_t queue = nullptr;
             zeCommandQueueCreate(driver.context, driver.device, &of_queue, &queue);
             const ze_fence_desc_t description{ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
             ze_fence_handle_t fence = nullptr;
             std::vector<ze_result_t> results{zeFenceCreate(queue, &description, &fence),
                                              zeFenceQueryStatus(fence),
                                              zeFenceHostSynchronize(fence, 0)};
             zeFenceDestroy(fence);
             zeCommandQueueDestroy(queue);
             return names_of(results);
         },
         only_recorded},
        {"copies and fills that are recorded",
         [](const Driver &driver) {
             const List list(driver, false);
             const ze_device_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                                          nullptr, 0, 0};
             void *memory = nullptr;
             zeMemAllocDevice(driver.context, &description, 4096, 64, driver.device, &memory);
             char *const bytes = static_cast<char *>(memory);
             const std::array<char, 16> pattern{};
             const ze_copy_region_t region{0, 0, 0, 8, 4, 1};
             const std::vector<ze_result_t> results{
                 zeCommandListAppendMemoryCopy(list.handle, bytes, bytes + 1024, 1024, nullptr, 0,
                                               nullptr),
                 zeCommandListAppendMemoryFill(list.handle, bytes, pattern.data(), 1, 100, nullptr,
                                               0, nullptr),
                 zeCommandListAppendMemoryFill(list.handle, bytes, pattern.data(), 16, 160, nullptr,
                                               0, nullptr),
                 zeCommandListAppendMemoryCopyRegion(list.handle, bytes, &region, 16, 0,
                                                     bytes + 1024, &region, 16, 0, nullptr, 0,
                                                     nullptr),
                 zeCommandListClose(list.handle)};
             zeMemFree(driver.context, memory);
             return names_of(results);
         }},
    };
    return queries;
}

} // namespace level_zero_vendor_test
