// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loader's side of the sdk's tests: counts objects and keeps the last error.
#pragma once

#include <pi/sdk/enqueue.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

namespace pi_test {

class FakeHost {
public:
    FakeHost() {
        message_.reserve(1024); // tests fail allocations
        host_.struct_size = sizeof host_;
        host_.dispatch = &dispatch_;
        host_.context = this;
        host_.set_error = [](const pi_host *host, pi_result code, const char *message) {
            auto *self = static_cast<FakeHost *>(host->context);
            std::lock_guard lock(self->mutex_);
            self->code_ = code;
            self->message_ = message;
        };
        host_.log = [](const pi_host *, pi_log_level, const char *) {};
        host_.object_count = [](const pi_host *host, int64_t change) {
            static_cast<FakeHost *>(host->context)->objects_ += change;
        };
        host_.get_option = [](const pi_host *, const char *) -> const char * { return nullptr; };
        host_.callback_depth = [](const pi_host *, int32_t change) {
            static thread_local int32_t depth = 0;
            return depth += change;
        };
    }
    const pi_host *get() const { return &host_; }
    /// From now on acts as a loader that does not count callbacks.
    void count_no_callbacks() {
        host_.struct_size = offsetof(pi_host, callback_depth);
        host_.callback_depth = nullptr;
    }
    int64_t objects() const { return objects_; }
    std::string message() const {
        std::lock_guard lock(mutex_);
        return message_;
    }

private:
    pi_dispatch dispatch_{};
    pi_host host_{};
    std::atomic<int64_t> objects_{0};
    mutable std::mutex mutex_;
    pi_result code_ = PI_SUCCESS;
    std::string message_;
};

} // namespace pi_test
