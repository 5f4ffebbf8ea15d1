// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queries.hpp"

namespace level_zero_vendor_test {

namespace {

/// One event that is visible to the host.
struct Event {
    explicit Event(const Driver &driver) {
        const ze_event_pool_desc_t of_pool{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                           ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
        ze_device_handle_t device = driver.device;
        zeEventPoolCreate(driver.context, &of_pool, 1, &device, &pool);
        const ze_event_desc_t description{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0,
                                          ZE_EVENT_SCOPE_FLAG_HOST};
        zeEventCreate(pool, &description, &handle);
    }
    Event(const Event &) = delete;
    ~Event() {
        zeEventDestroy(handle);
        zeEventPoolDestroy(pool);
    }
    ze_event_pool_handle_t pool = nullptr;
    ze_event_handle_t handle = nullptr;
};

std::string pool_of(const Driver &driver, uint32_t count) {
    const ze_event_pool_desc_t description{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                           ZE_EVENT_POOL_FLAG_HOST_VISIBLE, count};
    ze_device_handle_t device = driver.device;
    ze_event_pool_handle_t pool = nullptr;
    const ze_result_t result = zeEventPoolCreate(driver.context, &description, 1, &device, &pool);
    if (result == ZE_RESULT_SUCCESS) {
        zeEventPoolDestroy(pool);
    }
    return name_of(result);
}

} // namespace

const std::vector<Query> &event_queries() {
    static const std::vector<Query> queries{
        {"an event from its creation over a signal to its reset",
         [](const Driver &driver) {
             const Event event(driver);
             std::vector<ze_result_t> results{zeEventQueryStatus(event.handle),
                                              zeEventHostSynchronize(event.handle, 0)};
             results.push_back(zeEventHostSignal(event.handle));
             results.push_back(zeEventQueryStatus(event.handle));
             results.push_back(zeEventHostSynchronize(event.handle, UINT64_MAX));
             results.push_back(zeEventHostReset(event.handle));
             results.push_back(zeEventQueryStatus(event.handle));
             return names_of(results);
         },
         only_recorded},
        {"a wait of a thousand nanoseconds for what never comes",
         [](const Driver &driver) {
             const Event event(driver);
             return name_of(zeEventHostSynchronize(event.handle, 1000));
         },
         only_recorded},
        {"a pool of no events", [](const Driver &driver) { return pool_of(driver, 0); },
         as_specified},
        {"a pool of ten thousand events",
         [](const Driver &driver) { return pool_of(driver, 10000); }},
        {"the times of an event of a pool without times",
         [](const Driver &driver) {
             const Event event(driver);
             ze_kernel_timestamp_result_t times{};
             return name_of(zeEventQueryKernelTimestamp(event.handle, &times));
         },
         as_specified},
        {"two events of one index",
         [](const Driver &driver) {
             const Event event(driver);
             const ze_event_desc_t description{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
             ze_event_handle_t second = nullptr;
             const ze_result_t result = zeEventCreate(event.pool, &description, &second);
             if (result == ZE_RESULT_SUCCESS) {
                 zeEventDestroy(second);
             }
             return name_of(result);
         },
         as_specified},
        {"the times of the device and the host",
         [](const Driver &driver) {
             uint64_t host = 0;
             uint64_t device = 0;
             const ze_result_t result = zeDeviceGetGlobalTimestamps(driver.device, &host, &device);
             return name_of(result) + (host != 0 ? ", a time" : ", none");
         },
         only_recorded},
    };
    return queries;
}

} // namespace level_zero_vendor_test
