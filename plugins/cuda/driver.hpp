// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vendor's side: the driver's entry points and its error codes.
#pragma once

#include <pi/cuda/driver_api.h>
#include <pi/sdk/error.hpp>
#include <pi/sdk/library.hpp>

#include <string>

namespace pi::cuda {

/// The driver, opened and initialised. An entry point that it does not have is a null pointer; those that the plugin
/// cannot do without are there.
class Api : public pi_cuda_functions {
public:
    /// PI_ERROR_UNAVAILABLE with the reason: no library, no device, a driver that is too old.
    explicit Api(const std::string &path);

    const std::string &path() const { return library_.path(); }
    /// 1000 * major + 10 * minor of the newest CUDA that the driver serves.
    int version() const { return version_; }

private:
    void look_up();

    const sdk::Library library_;
    int version_ = 0;
};

/// "13.0"
std::string version_text(int version);

/// What a code is in pi.h's terms. Those that spoil a context for good are PI_ERROR_DEVICE_LOST.
pi_result to_result(CUresult code);

/// "CUDA_ERROR_OUT_OF_MEMORY"
std::string error_name(const Api &api, CUresult code);

/// Throws unless the code is CUDA_SUCCESS: "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY: " and the parts.
template <class... Parts>
void check(const Api &api, CUresult code, const char *call, const Parts &...parts) {
    if (code == CUDA_SUCCESS)
        return;
    sdk::fail(to_result(code), call, ": ", error_name(api, code), sizeof...(parts) ? ": " : "",
              parts...);
}

} // namespace pi::cuda
