// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/facade.hpp>

#include <memory>
#include <new>

namespace pi::runtime::facade {

/// Destroys the object when the event is complete.
inline void keep_until(const Event &event, const std::shared_ptr<const void> &object) {
    auto *const kept = new (std::nothrow) std::shared_ptr<const void>(object);
    const auto drop = [](pi_event, pi_result, void *data) {
        delete static_cast<std::shared_ptr<const void> *>(data);
    };
    if (kept == nullptr || piEventSetCallback(event.get(), drop, kept) != PI_SUCCESS) {
        piEventWait(event.get(), PI_TIMEOUT_NEVER);
        delete kept;
    }
}

} // namespace pi::runtime::facade
