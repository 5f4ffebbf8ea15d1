// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "adapter.hpp"

#include <string>

using namespace ur_test;

TEST_CASE("devices are listed by each type, also one that no device has", "[unified_runtime]") {
    const auto count_of = [](ur_device_type_t type) {
        uint32_t count = 0;
        OK(ur().Device.pfnGet(first_platform(), type, 0, nullptr, &count));
        return count;
    };
    uint32_t found = 0;
    for (const ur_device_type_t type :
         {UR_DEVICE_TYPE_CPU, UR_DEVICE_TYPE_GPU, UR_DEVICE_TYPE_FPGA, UR_DEVICE_TYPE_CUSTOM}) {
        found += count_of(type);
    }
    CHECK(found == all_devices().size());
    uint32_t count = 0;
    FAILS(INVALID_ENUMERATION,
          ur().Device.pfnGet(first_platform(),
                             static_cast<ur_device_type_t>(UR_DEVICE_TYPE_CUSTOM + 1), 0, nullptr,
                             &count));
}

TEST_CASE("a platform refuses what is no option of a front end", "[unified_runtime]") {
    const char *text = nullptr;
    for (const char *option : {"", "-O0", "-O3", "-ftarget-compile-fast"}) {
        INFO(option);
        OK(ur().Platform.pfnGetBackendOption(first_platform(), option, &text));
        CHECK(text != nullptr);
    }
    FAILS(INVALID_VALUE,
          ur().Platform.pfnGetBackendOption(first_platform(), "-no-such-option", &text));
    CHECK_THAT(last_error(), Catch::Contains("-no-such-option"));
}
