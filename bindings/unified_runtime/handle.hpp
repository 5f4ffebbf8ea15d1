// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all handles of the adapter share. UR's loader dispatches by a handle's first word, the
// address of the adapter's table of functions.
#pragma once

#include "error.hpp"

#include <unified-runtime/ur_ddi.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace pi::unified_runtime {

const ur_dditable_t &function_table() noexcept;

struct Handle {
    const ur_dditable_t *table = &function_table();
    std::atomic<uint32_t> references{1};

    Handle() = default;
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
};

template <class T>
void retain(T *handle) noexcept {
    handle->references.fetch_add(1, std::memory_order_relaxed);
}
template <class T>
void release(T *handle) noexcept {
    if (handle->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        delete handle;
    }
}

/// Retains, unless the last reference is gone and the object is about to be deleted.
template <class T>
bool retain_alive(T *handle) noexcept {
    uint32_t count = handle->references.load(std::memory_order_relaxed);
    while (count != 0 &&
           !handle->references.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) {
    }
    return count != 0;
}

/// Owns one reference.
template <class T>
class Ref {
public:
    Ref() noexcept = default;
    /// Retains.
    explicit Ref(T *handle) noexcept : handle_(handle) {
        if (handle_ != nullptr) {
            retain(handle_);
        }
    }
    Ref(const Ref &other) noexcept : Ref(other.handle_) {}
    Ref(Ref &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Ref &operator=(Ref other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Ref() {
        if (handle_ != nullptr) {
            release(handle_);
        }
    }
    T *get() const noexcept { return handle_; }
    T *operator->() const noexcept { return handle_; }
    T &operator*() const noexcept { return *handle_; }
    explicit operator bool() const noexcept { return handle_ != nullptr; }

private:
    T *handle_ = nullptr;
};

/// The argument, or UR_RESULT_ERROR_INVALID_NULL_HANDLE.
template <class T>
T &deref(T *handle) {
    if (handle == nullptr) {
        throw Refusal(UR_RESULT_ERROR_INVALID_NULL_HANDLE, "a handle is NULL");
    }
    return *handle;
}
/// The argument, or UR_RESULT_ERROR_INVALID_NULL_POINTER.
template <class T>
T *needed(T *pointer) {
    if (pointer == nullptr) {
        throw Refusal(UR_RESULT_ERROR_INVALID_NULL_POINTER, "a pointer is NULL");
    }
    return pointer;
}

/// urXRetain and urXRelease.
template <class T>
ur_result_t UR_APICALL retain_handle(T *handle) noexcept {
    return boundary([&] { retain(&deref(handle)); });
}
template <class T>
ur_result_t UR_APICALL release_handle(T *handle) noexcept {
    return boundary([&] { release(&deref(handle)); });
}

} // namespace pi::unified_runtime
