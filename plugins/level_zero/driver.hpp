// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vendor's side: the loader's entry points and the error codes.
#pragma once

#include <level_zero/ze_api.h>
#include <pi/sdk/error.hpp>
#include <pi/sdk/library.hpp>

#include <string>

namespace pi::level_zero {

/// The vendor's loader, opened and initialised. Entry points that it lacks are NULL; those of API
/// 1.0 are always present.
class Api {
public:
#define ZE_NEEDED(name) decltype(&::name) name = nullptr;
#define ZE_FOUND(name) ZE_NEEDED(name)
#define ZE_NEWER(name, ...) ze_result_t(ZE_APICALL *name)(__VA_ARGS__) = nullptr;
#include "functions.def"

    /// PI_ERROR_UNAVAILABLE with the reason: no library, no driver, or not a Level Zero loader.
    explicit Api(const std::string &path);

    const std::string &path() const {
        return library_.path();
    }

private:
    const sdk::Library library_;
};

/// "1.4"
std::string version_text(ze_api_version_t version);

/// The code in pi.h's terms.
pi_result to_result(ze_result_t code);

/// "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"
std::string error_name(ze_result_t code);

/// Throws unless the code is ZE_RESULT_SUCCESS: "zeMemAllocDevice:
/// ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY: " and the parts.
template <class... Parts>
void check(ze_result_t code, const char *call, const Parts &...parts) {
    if (code == ZE_RESULT_SUCCESS)
        return;
    sdk::fail(to_result(code), call, ": ", error_name(code), sizeof...(parts) ? ": " : "",
              parts...);
}

/// A descriptor or property structure of the vendor's: its type set, all else zero.
template <class Struct>
Struct typed(ze_structure_type_t type) {
    Struct made{};
    made.stype = type;
    return made;
}

} // namespace pi::level_zero
