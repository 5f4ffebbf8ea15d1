// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Driver contexts, one per handle, which several PI contexts may share.
#pragma once

#include "driver.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::level_zero {

/// Destroyed with its last owner. Several owners are needed: an application that releases a PI
/// context around another one's handle may release that one as well, while a thread of the plugin
/// still has events and lists of the first. A driver context must outlive its objects.
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

/// The context handles of one driver. Thread-safe.
class ContextHandles {
public:
    explicit ContextHandles(const Api &api) : api_(api) {}
    /// Returns the object of this handle. At the end the driver's context is destroyed if any owner
    /// passed `own` as NULL, or if *own is true for any; otherwise it stays the application's.
    std::shared_ptr<ContextHandle> share(ze_context_handle_t id, std::shared_ptr<const bool> own);

private:
    const Api &api_;
    std::mutex mutex_; ///< guards what follows, and the owners
    std::map<ze_context_handle_t, std::weak_ptr<ContextHandle>> handles_;
};

} // namespace pi::level_zero
