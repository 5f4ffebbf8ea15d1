// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of native handles that all backends share: a type and one value. Images may have more
// values.
#pragma once

#include <pi/sdk/descriptor.hpp>

namespace pi::sdk {

inline pi_native_handle native_handle(pi_native_type type, uint64_t value) {
    pi_native_handle handle{};
    handle.type = type;
    handle.count = 1;
    handle.value[0] = value;
    return handle;
}

/// The value of a handle of this type; PI_ERROR_INVALID_NATIVE_HANDLE for another type or number of
/// values.
inline uint64_t native_value(const pi_native_handle &handle, pi_native_type type,
                             const char *type_name) {
    if (handle.type != type)
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "handle.type is ", handle.type, "; ", type_name, " (",
             type, ") is needed");
    if (handle.count != 1)
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "handle.count is ", handle.count,
             "; a handle of type ", type_name, " has 1 value");
    return handle.value[0];
}

/// As native_value, for a value that must not be NULL.
inline uint64_t native_pointer(const pi_native_handle &handle, pi_native_type type,
                               const char *type_name) {
    const uint64_t value = native_value(handle, type, type_name);
    if (!value)
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "handle.value[0] is NULL");
    return value;
}

/// For kinds whose handles have no device: PI_ERROR_INVALID_VALUE if the descriptor names one.
inline void check_no_device(const pi_native_desc &desc, const char *kind) {
    if (desc.device)
        fail(PI_ERROR_INVALID_VALUE, "device is ", desc.device,
             "; it is for contexts, programs and kernels, and must be NULL for the handle of a ",
             kind);
}

} // namespace pi::sdk
