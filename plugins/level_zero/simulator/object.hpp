// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <level_zero/ze_api.h>

#include <memory>

namespace pi::level_zero::simulated {

/// The code that a call returns.
struct Failure {
    ze_result_t code;
};

inline void need(bool condition, ze_result_t code) {
    if (!condition)
        throw Failure{code};
}

/// An object that commands refer to.
struct Object {
    unsigned in_flight = 0; ///< number of submitted commands that are not done

    /// The specification forbids destroying, or executing again, what the device still refers to.
    void need_idle() const { need(in_flight == 0, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE); }
};

struct Device;

/// Objects live in a context, which must be destroyed after them.
struct Context : Object {
    ze_context_handle_t handle = nullptr;
};

} // namespace pi::level_zero::simulated
