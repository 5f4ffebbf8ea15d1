// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Child processes made by fork(): they have copies of all objects, whose locks other threads may
// have held, and which wait for threads that stayed in the parent.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace pi::runtime {

/// The number of forks between the process that loaded the library and this one.
extern std::atomic<uint32_t> forks;
inline uint32_t fork_count() noexcept {
    return forks.load(std::memory_order_relaxed);
}

/// The process in which an object was made; a member of objects with locks.
class Origin {
public:
    bool is_here() const noexcept { return forks_ == fork_count(); }
    /// PI_ERROR_INVALID_OPERATION in another process. `function` is the caller's.
    void require_here(const char *function) const {
        if (!is_here()) {
            refuse(function);
        }
    }

private:
    [[noreturn]] static void refuse(const char *function);

    const uint32_t forks_ = fork_count();
};

/// As std::make_shared, but a process that was forked meanwhile does not destroy the object.
template <class T, class... Arguments>
std::shared_ptr<T> make_shared_here(Arguments &&...arguments) {
    return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...),
                              [origin = Origin()](T *object) {
                                  if (origin.is_here()) {
                                      delete object;
                                  }
                              });
}

} // namespace pi::runtime
