// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context_handle.hpp"

#include <algorithm>
#include <utility>

namespace pi::level_zero {

ContextHandle::~ContextHandle() {
    if (std::any_of(owners_.begin(), owners_.end(),
                    [](const std::shared_ptr<const bool> &own) { return !own || *own; }))
        api_.zeContextDestroy(id_);
}

std::shared_ptr<ContextHandle> ContextHandles::share(ze_context_handle_t id,
                                                     std::shared_ptr<const bool> own) {
    std::lock_guard lock(mutex_);
    std::erase_if(handles_, [](const auto &entry) { return entry.second.expired(); });
    std::weak_ptr<ContextHandle> &known = handles_[id];
    std::shared_ptr<ContextHandle> handle = known.lock();
    if (!handle) {
        handle = std::make_shared<ContextHandle>(api_, id);
        known = handle;
    }
    handle->owners_.push_back(std::move(own));
    return handle;
}

} // namespace pi::level_zero
