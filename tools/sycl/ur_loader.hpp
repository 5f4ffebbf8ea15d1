// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unified Runtime's loader, opened at run time: it is part of DPC++, not of PI.
#pragma once

#include <memory>
#include <string>
#include <unified-runtime/ur_api.h>

namespace pi_sycl {

#define PI_SYCL_UR_FUNCTIONS(row)                                                                  \
    row(LoaderInit) row(LoaderTearDown) row(AdapterGet) row(AdapterRelease) row(PlatformGet)       \
        row(PlatformGetInfo) row(DeviceGet) row(DeviceGetInfo) row(DeviceRelease)

class UrLoader {
public:
    /// `path` empty: the loader of the activated Python environment, else of the system's search.
    /// std::runtime_error if there is none, or if it is not of version 0.12.
    explicit UrLoader(const std::string &path);

    /// Its file, without symbolic links.
    std::string path() const;

#define PI_SYCL_ROW(name) decltype(&::ur##name) name = nullptr;
    PI_SYCL_UR_FUNCTIONS(PI_SYCL_ROW)
#undef PI_SYCL_ROW

private:
    struct Close {
        void operator()(void *library) const;
    };
    std::unique_ptr<void, Close> library_;
};

} // namespace pi_sycl
