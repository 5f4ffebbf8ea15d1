// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include <cstring>

namespace pi::cuda {

using namespace sdk;

Api::Api(const std::string &path) : pi_cuda_functions{}, library_(path) {
    look_up();
    if (const CUresult code = cuInit(0); code != CUDA_SUCCESS)
        fail(PI_ERROR_UNAVAILABLE, path, ": cuInit: ", error_name(*this, code),
             code == CUDA_ERROR_NO_DEVICE      ? ": no CUDA device"
             : code == CUDA_ERROR_STUB_LIBRARY ? ": this is the toolkit's stub, not a driver"
                                               : "");
}

void Api::look_up() {
    std::string missing;
    for (const pi_cuda_entry &row : pi_cuda_entries) {
        void *address = library_.find<void *>(row.symbol);
        if (!address && cuGetProcAddress_v2)
            cuGetProcAddress_v2(row.name, &address, row.since, 0, nullptr);
        std::memcpy(reinterpret_cast<char *>(static_cast<pi_cuda_functions *>(this)) + row.offset,
                    &address, sizeof address);
        if (!address && row.needed && missing.empty())
            missing = text(row.symbol, ", which came with CUDA ", version_text(row.since));
    }
    if (cuDriverGetVersion)
        cuDriverGetVersion(&version_);
    if (!missing.empty())
        fail(PI_ERROR_UNAVAILABLE, library_.path(),
             version_ ? text(" is a driver of CUDA ", version_text(version_)) : std::string(),
             " and too old for this plugin: it has no ", missing);
}

std::string version_text(int version) {
    return text(version / 1000, '.', version % 1000 / 10);
}

pi_result to_result(CUresult code) {
    switch (code) {
    case CUDA_SUCCESS:
        return PI_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return PI_ERROR_OUT_OF_DEVICE_MEMORY;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE: // another process uses it exclusively
        return PI_ERROR_UNAVAILABLE;
    case CUDA_ERROR_NOT_SUPPORTED:
        return PI_ERROR_UNSUPPORTED_FEATURE;
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_TOO_MANY_PEERS:
        return PI_ERROR_OUT_OF_RESOURCES;
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
        return PI_ERROR_INVALID_WORK_SIZE;
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
        return PI_ERROR_DEVICE_LOST;
    default:
        return PI_ERROR_BACKEND;
    }
}

std::string error_name(const Api &api, CUresult code) {
    const char *name = nullptr;
    if (api.cuGetErrorName && api.cuGetErrorName(code, &name) == CUDA_SUCCESS && name)
        return name;
    return text("CUDA's error ", static_cast<int>(code));
}

} // namespace pi::cuda
