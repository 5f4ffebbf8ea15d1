// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vendor's side: the driver's entry points and its error codes.
#pragma once

#include <pi/cuda/driver_api.h>
#include <pi/sdk/error.hpp>
#include <pi/sdk/library.hpp>

#include <string>

namespace pi::cuda {

/// The driver, opened and initialised. Entry points that it lacks are NULL; the required ones are
/// always present.
class Api : public pi_cuda_functions {
public:
    /// PI_ERROR_UNAVAILABLE with the reason: no library, no device, or a driver that is too old.
    explicit Api(const std::string &path);

    const std::string &path() const { return library_.path(); }
    /// 1000 * major + 10 * minor of the newest CUDA version that the driver supports.
    int version() const { return version_; }

private:
    void look_up();

    const sdk::Library library_;
    int version_ = 0;
};

/// "13.0"
std::string version_text(int version);

/// The code in pi.h's terms. Errors that destroy a context are PI_ERROR_DEVICE_LOST.
pi_result to_result(CUresult code);

/// "CUDA_ERROR_OUT_OF_MEMORY"
std::string error_name(const Api &api, CUresult code);

/// Throws unless the code is CUDA_SUCCESS: "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY: " and the
/// parts.
template <class... Parts>
void check(const Api &api, CUresult code, const char *call, const Parts &...parts) {
    if (code == CUDA_SUCCESS)
        return;
    sdk::fail(to_result(code), call, ": ", error_name(api, code), sizeof...(parts) ? ": " : "",
              parts...);
}

} // namespace pi::cuda
