// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions by which loaders obtain the driver's tables.
#include "fixture.hpp"

#include <level_zero/ze_ddi.h>

#include <catch2/catch.hpp>

#include <cstring>
#include <dlfcn.h>

namespace {

template <class Function>
Function symbol(const char *name, const char *path = PI_TEST_DRIVER) {
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    return reinterpret_cast<Function>(dlsym(library, name));
}

using GetDeviceTable = ze_result_t (*)(ze_api_version_t, ze_device_dditable_t *);

} // namespace

TEST_CASE("A table is filled for every minor version of the major version, and for no other") {
    const auto get = symbol<GetDeviceTable>("zeGetDeviceProcAddrTable");
    ze_device_dditable_t table{};
    CHECK(get(ZE_API_VERSION_1_4, &table) == ZE_RESULT_SUCCESS);
    CHECK(table.pfnPciGetPropertiesExt != nullptr);
    CHECK(get(static_cast<ze_api_version_t>(ZE_MAKE_VERSION(1, 99)), &table) == ZE_RESULT_SUCCESS);
    CHECK(get(static_cast<ze_api_version_t>(ZE_MAKE_VERSION(2, 0)), &table) ==
          ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    CHECK(get(ZE_API_VERSION_1_4, nullptr) == ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_CASE("A table of an older version is not written beyond its end") {
    const auto get = symbol<GetDeviceTable>("zeGetDeviceProcAddrTable");
    ze_device_dditable_t table;
    std::memset(static_cast<void *>(&table), 0x5a, sizeof table);
    const ze_device_dditable_t before = table;
    CHECK(get(ZE_API_VERSION_1_0, &table) == ZE_RESULT_SUCCESS);
    CHECK(table.pfnGet != before.pfnGet);
    // The cache extension is of 1.2, the PCI extension of 1.3.
    CHECK(table.pfnReserveCacheExt == before.pfnReserveCacheExt);
    CHECK(table.pfnPciGetPropertiesExt == before.pfnPciGetPropertiesExt);
    const auto get_context = symbol<ze_result_t (*)(ze_api_version_t, ze_context_dditable_t *)>(
        "zeGetContextProcAddrTable");
    ze_context_dditable_t contexts{};
    CHECK(get_context(ZE_API_VERSION_1_0, &contexts) == ZE_RESULT_SUCCESS);
    CHECK(contexts.pfnEvictImage != nullptr);
    CHECK(contexts.pfnCreateEx == nullptr);
}

TEST_CASE("Tables of the tools and of system management exist and are empty") {
    for (const char *name : {"zetGetDeviceProcAddrTable", "zetGetTracerExpProcAddrTable",
                             "zesGetDeviceProcAddrTable", "zesGetTemperatureProcAddrTable"}) {
        CAPTURE(name);
        const auto get = symbol<ze_result_t (*)(ze_api_version_t, void *)>(name);
        REQUIRE(get);
        char table[1024] = {};
        CHECK(get(ZE_API_VERSION_1_4, table) == ZE_RESULT_SUCCESS);
        CHECK(std::string(table, sizeof table) == std::string(sizeof table, '\0'));
    }
}

TEST_CASE("Loaders can initialise the driver repeatedly") {
    CHECK(zeInit(0) == ZE_RESULT_SUCCESS);
    CHECK(zeInit(ZE_INIT_FLAG_GPU_ONLY) == ZE_RESULT_SUCCESS);
    const auto get = symbol<ze_result_t (*)(ze_api_version_t, ze_global_dditable_t *)>(
        "zeGetGlobalProcAddrTable");
    ze_global_dditable_t table{};
    REQUIRE(get(ZE_API_VERSION_1_4, &table) == ZE_RESULT_SUCCESS);
    CHECK(table.pfnInit(0) == ZE_RESULT_SUCCESS);
    CHECK(table.pfnInit(0) == ZE_RESULT_SUCCESS);
}

TEST_CASE("Two files of the driver have separate handles and state") {
    const auto first = symbol<GetDeviceTable>("zeGetDeviceProcAddrTable");
    const auto second = symbol<GetDeviceTable>("zeGetDeviceProcAddrTable", PI_TEST_SECOND_DRIVER);
    CHECK(first != second);
    std::vector<ze_driver_handle_t> handles;
    for (const char *path : {PI_TEST_DRIVER, PI_TEST_SECOND_DRIVER}) {
        ze_global_dditable_t global{};
        ze_driver_dditable_t table{};
        REQUIRE(symbol<ze_result_t (*)(ze_api_version_t, ze_global_dditable_t *)>(
                    "zeGetGlobalProcAddrTable", path)(ZE_API_VERSION_1_4, &global) ==
                ZE_RESULT_SUCCESS);
        REQUIRE(symbol<ze_result_t (*)(ze_api_version_t, ze_driver_dditable_t *)>(
                    "zeGetDriverProcAddrTable", path)(ZE_API_VERSION_1_4, &table) ==
                ZE_RESULT_SUCCESS);
        REQUIRE(global.pfnInit(0) == ZE_RESULT_SUCCESS);
        std::uint32_t count = 1;
        REQUIRE(table.pfnGet(&count, &handles.emplace_back()) == ZE_RESULT_SUCCESS);
    }
    CHECK(handles[0] != handles[1]);
}
