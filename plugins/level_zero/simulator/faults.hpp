// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>

namespace pi::level_zero::simulated {

/// Counts the call of a function of this name; returns the code with which it must fail, or
/// SUCCESS.
ze_result_t configured_fault(const char *function);

/// A function's name as a template argument.
template <size_t N>
struct Name {
    char text[N];
    constexpr Name(const char (&name)[N]) {
        for (size_t i = 0; i < N; ++i)
            text[i] = name[i];
    }
};

/// The function that programs get: the real one, or a failure if one is configured.
template <Name name, auto function>
struct Entry;
template <Name name, class... Arguments, ze_result_t (*function)(Arguments...)>
struct Entry<name, function> {
    static ze_result_t ZE_APICALL call(Arguments... arguments) {
        const ze_result_t fault = configured_fault(name.text);
        return fault == ZE_RESULT_SUCCESS ? function(arguments...) : fault;
    }
};

} // namespace pi::level_zero::simulated
