// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include <cstring>

namespace pi::cuda {

// Entry points that the driver does not define are null.
extern "C" {
#define PI_CUDA_FUNCTION(name, symbol, since, need, parameters)                                    \
    __attribute__((weak)) CUresult symbol parameters;
#include <pi/cuda/driver_functions.def>
}

namespace {

struct EntryPoint {
    const char *name;
    int since;
    void *address;
};

const EntryPoint entry_points[] = {
#define PI_CUDA_FUNCTION(name, symbol, since, need, parameters)                                    \
    {#name, since, reinterpret_cast<void *>(&symbol)},
#include <pi/cuda/driver_functions.def>
};

} // namespace

CUresult cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t,
                             CUdriverProcAddressQueryResult *status) {
    if (!name || !out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = nullptr;
    auto found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    int newest = 0;
    for (const EntryPoint &entry : entry_points) {
        if (std::strcmp(entry.name, name) != 0 || !entry.address)
            continue;
        if (entry.since <= version && entry.since > newest) {
            newest = entry.since;
            *out = entry.address;
            found = CU_GET_PROC_ADDRESS_SUCCESS;
        } else if (!*out) {
            found = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        }
    }
    if (status)
        *status = found;
    return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

} // namespace pi::cuda
