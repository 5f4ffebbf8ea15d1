// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processes that fork() makes of this one: they have copies of all objects, whose locks other threads may have held,
// and which wait for threads that stayed in the parent.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace pi::runtime {

/// How many forks lie between this process and the one that loaded the library.
extern std::atomic<uint32_t> forks;
inline uint32_t fork_count() noexcept {
    return forks.load(std::memory_order_relaxed);
}

/// The process in which an object was made; a member of what has locks.
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

/// As std::make_shared; a process that was forked meanwhile leaves the object as it is.
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
