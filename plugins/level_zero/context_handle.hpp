// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver's context of one handle, which contexts of PI may have together.
#pragma once

#include "driver.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::level_zero {

/// Destroyed with the last that has it: an application that is done with a context around another one's handle may release
/// that one, too, while a thread of the plugin still has events and lists of the first, and a driver's context must not go
/// before what is of it.
class ContextHandle {
public:
    ContextHandle(const Api &api, ze_context_handle_t id) : api_(api), id_(id) {}
    ContextHandle(const ContextHandle &) = delete;
    ~ContextHandle();

private:
    friend class ContextHandles;
    const Api &api_;
    const ze_context_handle_t id_;
    std::vector<std::shared_ptr<const bool>> owners_;
};

/// Those of one driver. Thread-safe.
class ContextHandles {
public:
    explicit ContextHandles(const Api &api) : api_(api) {}
    /// The one of this handle. If in the end `own` is NULL or *own is true, of anyone who asked, the driver's context is
    /// destroyed; else it is the application's.
    std::shared_ptr<ContextHandle> share(ze_context_handle_t id, std::shared_ptr<const bool> own);

private:
    const Api &api_;
    std::mutex mutex_; ///< guards what follows, and the owners
    std::map<ze_context_handle_t, std::weak_ptr<ContextHandle>> handles_;
};

} // namespace pi::level_zero
