// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "adapter.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>

using namespace ur_test;

TEST_CASE("the tables have every function, served or refused", "[unified_runtime]") {
    std::array<void *, sizeof(ur_dditable_t) / sizeof(void *)> functions{};
    std::memcpy(functions.data(), &ur(), sizeof functions);
    CHECK(std::count(functions.begin(), functions.end(), nullptr) == 0);
    CHECK(ur().UsmP2PExp.pfnEnablePeerAccessExp(nullptr, nullptr) ==
          UR_RESULT_ERROR_UNSUPPORTED_FEATURE);
    CHECK(ur().VirtualMem.pfnFree(nullptr, nullptr, 0) == UR_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_CASE("only version 0.12 of Unified Runtime gets tables", "[unified_runtime]") {
    ur();
    void *const library = dlopen(PI_TEST_UR_ADAPTER, RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(library != nullptr);
    const auto get =
        reinterpret_cast<ur_pfnGetQueueProcAddrTable_t>(dlsym(library, "urGetQueueProcAddrTable"));
    REQUIRE(get != nullptr);
    ur_queue_dditable_t table{};
    CHECK(get(UR_API_VERSION_0_11, &table) == UR_RESULT_ERROR_UNSUPPORTED_VERSION);
    CHECK(table.pfnCreate == nullptr);
    CHECK(get(UR_API_VERSION_0_12, nullptr) == UR_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK(get(UR_API_VERSION_0_12, &table) == UR_RESULT_SUCCESS);
    CHECK(table.pfnCreate != nullptr);
    dlclose(library);
}

// DPC++ enables no layer that would check them.
TEST_CASE("arguments are checked without Unified Runtime's validation", "[unified_runtime]") {
    const ur_platform_handle_t platform = first_platform();
    const ur_device_handle_t device = all_devices().front();
    const Machine machine;
    ur_adapter_handle_t adapter = nullptr;
    OK(ur().Adapter.pfnGet(1, &adapter, nullptr));
    FAILS(INVALID_SIZE, ur().Adapter.pfnGet(0, &adapter, nullptr));
    FAILS(INVALID_VALUE, ur().Platform.pfnGet(adapter, 0, nullptr, nullptr));
    OK(ur().Adapter.pfnRelease(adapter));
    FAILS(INVALID_NULL_POINTER,
          ur().Device.pfnGet(platform, UR_DEVICE_TYPE_ALL, 1, nullptr, nullptr));

    ur_device_partition_properties_t partition{};
    partition.stype = UR_STRUCTURE_TYPE_DEVICE_PARTITION_PROPERTIES;
    FAILS(INVALID_NULL_POINTER, ur().Device.pfnPartition(device, &partition, 0, nullptr, nullptr));
    ur_device_binary_t binary{};
    uint32_t index = 0;
    FAILS(INVALID_SIZE, ur().Device.pfnSelectBinary(device, &binary, 0, &index));
    FAILS(INVALID_NULL_HANDLE, ur().Device.pfnSelectBinary(nullptr, &binary, 0, &index));

    Owned<ur_context_handle_t> context;
    FAILS(INVALID_SIZE, ur().Context.pfnCreate(0, &device, nullptr, context.out()));
    ur_context_properties_t properties{};
    properties.stype = UR_STRUCTURE_TYPE_CONTEXT_PROPERTIES;
    properties.flags = UR_CONTEXT_FLAGS_MASK;
    FAILS(INVALID_ENUMERATION, ur().Context.pfnCreate(1, &device, &properties, context.out()));

    // The outputs are looked at before what the descriptor says.
    ur_sampler_desc_t sampler{};
    sampler.stype = UR_STRUCTURE_TYPE_SAMPLER_DESC;
    sampler.addressingMode = UR_SAMPLER_ADDRESSING_MODE_FORCE_UINT32;
    FAILS(INVALID_NULL_POINTER, ur().Sampler.pfnCreate(machine.context, &sampler, nullptr));
    ur_usm_pool_desc_t pool{};
    pool.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC;
    pool.flags = UR_USM_POOL_FLAGS_MASK;
    FAILS(INVALID_NULL_POINTER, ur().USM.pfnPoolCreate(machine.context, &pool, nullptr));
    FAILS(INVALID_NULL_POINTER,
          ur().USMExp.pfnPoolCreateExp(machine.context, device, &pool, nullptr));
}

TEST_CASE("an error's text goes to the logger as a warning", "[unified_runtime]") {
    // DPC++ prints these only.
    ur_adapter_handle_t adapter = nullptr;
    OK(ur().Adapter.pfnGet(1, &adapter, nullptr));
    std::string logged;
    const auto append = [](ur_logger_level_t level, const char *text, void *to) {
        if (level == UR_LOGGER_LEVEL_WARN) {
            *static_cast<std::string *>(to) += text;
        }
    };
    OK(ur().Adapter.pfnSetLoggerCallback(adapter, append, &logged, UR_LOGGER_LEVEL_WARN));
    size_t size = 0;
    FAILS(INVALID_ENUMERATION,
          ur().Adapter.pfnGetInfo(adapter, UR_ADAPTER_INFO_FORCE_UINT32, 0, nullptr, &size));
    OK(ur().Adapter.pfnSetLoggerCallback(adapter, nullptr, nullptr, UR_LOGGER_LEVEL_QUIET));
    CHECK(logged == last_error());
    CHECK(logged.find("urAdapterGetInfo") != std::string::npos);
    OK(ur().Adapter.pfnRelease(adapter));
}
