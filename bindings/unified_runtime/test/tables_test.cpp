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
