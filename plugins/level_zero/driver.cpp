// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

namespace pi::level_zero {

using namespace sdk;

Api::Api(const std::string &path) : library_(path) {
#define ZE_NEEDED(name) name = library_.get<decltype(name)>(#name);
#define ZE_FOUND(name) name = library_.find<decltype(name)>(#name);
#define ZE_NEWER(name, ...) ZE_FOUND(name)
#include "functions.def"
    if (const ze_result_t code = zeInit(0); code != ZE_RESULT_SUCCESS)
        fail(PI_ERROR_UNAVAILABLE, path, ": zeInit: ", error_name(code),
             code == ZE_RESULT_ERROR_UNINITIALIZED ? ": no Level Zero driver" : "");
}

std::string version_text(ze_api_version_t version) {
    return text(ZE_MAJOR_VERSION(version), '.', ZE_MINOR_VERSION(version));
}

pi_result to_result(ze_result_t code) {
    switch (code) {
    case ZE_RESULT_SUCCESS:
        return PI_SUCCESS;
    case ZE_RESULT_ERROR_DEVICE_LOST:
        return PI_ERROR_DEVICE_LOST;
    case ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY:
        return PI_ERROR_OUT_OF_HOST_MEMORY;
    case ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY:
        return PI_ERROR_OUT_OF_DEVICE_MEMORY;
    case ZE_RESULT_ERROR_UNINITIALIZED:
    case ZE_RESULT_ERROR_NOT_AVAILABLE:
    case ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS:
    case ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE:
        return PI_ERROR_UNAVAILABLE;
    case ZE_RESULT_ERROR_UNSUPPORTED_VERSION:
    case ZE_RESULT_ERROR_UNSUPPORTED_FEATURE:
    case ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT:
        return PI_ERROR_UNSUPPORTED_FEATURE;
    case ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT:
        return PI_ERROR_INVALID_ALIGNMENT;
    case ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION:
    case ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION:
        return PI_ERROR_INVALID_WORK_SIZE;
    case ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX:
    case ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE:
        return PI_ERROR_INVALID_ARGUMENTS;
    default:
        return PI_ERROR_BACKEND;
    }
}

std::string error_name(ze_result_t code) {
    switch (code) {
#define NAME(name)                                                                                 \
    case name:                                                                                     \
        return #name;
        NAME(ZE_RESULT_SUCCESS)
        NAME(ZE_RESULT_NOT_READY)
        NAME(ZE_RESULT_ERROR_DEVICE_LOST)
        NAME(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        NAME(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
        NAME(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE)
        NAME(ZE_RESULT_ERROR_MODULE_LINK_FAILURE)
        NAME(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS)
        NAME(ZE_RESULT_ERROR_NOT_AVAILABLE)
        NAME(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE)
        NAME(ZE_RESULT_ERROR_UNINITIALIZED)
        NAME(ZE_RESULT_ERROR_UNSUPPORTED_VERSION)
        NAME(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
        NAME(ZE_RESULT_ERROR_INVALID_ARGUMENT)
        NAME(ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
        NAME(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE)
        NAME(ZE_RESULT_ERROR_INVALID_NULL_POINTER)
        NAME(ZE_RESULT_ERROR_INVALID_SIZE)
        NAME(ZE_RESULT_ERROR_UNSUPPORTED_SIZE)
        NAME(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT)
        NAME(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT)
        NAME(ZE_RESULT_ERROR_INVALID_ENUMERATION)
        NAME(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION)
        NAME(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT)
        NAME(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY)
        NAME(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME)
        NAME(ZE_RESULT_ERROR_INVALID_KERNEL_NAME)
        NAME(ZE_RESULT_ERROR_INVALID_FUNCTION_NAME)
        NAME(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION)
        NAME(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION)
        NAME(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX)
        NAME(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE)
        NAME(ZE_RESULT_ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE)
        NAME(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED)
        NAME(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE)
        NAME(ZE_RESULT_ERROR_OVERLAPPING_REGIONS)
        NAME(ZE_RESULT_ERROR_UNKNOWN)
#undef NAME
    default:
        return text("ze_result_t 0x", std::hex, static_cast<unsigned>(code));
    }
}

} // namespace pi::level_zero
