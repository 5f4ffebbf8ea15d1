/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pi_bench_stub.h"

#include <pi/pi_plugin.h>

static const pi_dispatch *dispatch_of(pi_device device) {
    return *(const pi_dispatch *const *)(const void *)device;
}

pi_result PI_CALL pi_bench_stub_device_retain(pi_device device) {
    if (__builtin_expect(!device, 0))
        return PI_ERROR_INVALID_DEVICE;
    return dispatch_of(device)->piDeviceRetain(device);
}

pi_result PI_CALL pi_bench_stub_device_select_binary(pi_device device, uint32_t count,
                                                     const pi_program_binary *binaries,
                                                     uint32_t *out_index) {
    if (__builtin_expect(!device, 0))
        return PI_ERROR_INVALID_DEVICE;
    return dispatch_of(device)->piDeviceSelectBinary(device, count, binaries, out_index);
}
