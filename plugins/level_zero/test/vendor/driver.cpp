// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queries.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace level_zero_vendor_test {

namespace {

void check(ze_result_t result, const char *call) {
    if (result != ZE_RESULT_SUCCESS) {
        throw std::runtime_error(std::string(call) + ": " + name_of(result));
    }
}

} // namespace

Driver::Driver(ze_driver_handle_t handle) : driver(handle) {
    uint32_t count = 1;
    check(zeDeviceGet(driver, &count, &device), "zeDeviceGet");
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    check(zeDeviceGetProperties(device, &properties), "zeDeviceGetProperties");
    device_name = properties.name;
    const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    check(zeContextCreate(driver, &description, &context), "zeContextCreate");
}

Driver::~Driver() {
    zeContextDestroy(context);
}

std::string name_of(ze_result_t result) {
    static constexpr std::array names{
        std::pair{ZE_RESULT_SUCCESS, "success"},
        std::pair{ZE_RESULT_NOT_READY, "not ready"},
        std::pair{ZE_RESULT_ERROR_DEVICE_LOST, "device lost"},
        std::pair{ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "out of host memory"},
        std::pair{ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "out of device memory"},
        std::pair{ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "module build failure"},
        std::pair{ZE_RESULT_ERROR_MODULE_LINK_FAILURE, "module link failure"},
        std::pair{ZE_RESULT_ERROR_UNINITIALIZED, "uninitialized"},
        std::pair{ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "unsupported feature"},
        std::pair{ZE_RESULT_ERROR_INVALID_ARGUMENT, "invalid argument"},
        std::pair{ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "invalid null handle"},
        std::pair{ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "object in use"},
        std::pair{ZE_RESULT_ERROR_INVALID_NULL_POINTER, "invalid null pointer"},
        std::pair{ZE_RESULT_ERROR_INVALID_SIZE, "invalid size"},
        std::pair{ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "unsupported size"},
        std::pair{ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "unsupported alignment"},
        std::pair{ZE_RESULT_ERROR_INVALID_ENUMERATION, "invalid enumeration"},
        std::pair{ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "invalid native binary"},
        std::pair{ZE_RESULT_ERROR_INVALID_GLOBAL_NAME, "invalid global name"},
        std::pair{ZE_RESULT_ERROR_INVALID_KERNEL_NAME, "invalid kernel name"},
        std::pair{ZE_RESULT_ERROR_INVALID_FUNCTION_NAME, "invalid function name"},
        std::pair{ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, "invalid group size dimension"},
        std::pair{ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "invalid kernel argument index"},
        std::pair{ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "invalid kernel argument size"},
    };
    for (const auto &[value, name] : names) {
        if (value == result) {
            return name;
        }
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "0x%x", static_cast<unsigned>(result));
    return text.data();
}

std::string names_of(const std::vector<ze_result_t> &results) {
    std::string text;
    for (const ze_result_t result : results) {
        text += (text.empty() ? "" : ", ") + name_of(result);
    }
    return text;
}

} // namespace level_zero_vendor_test
