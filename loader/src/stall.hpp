// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Warns, with the plugin and the function, when a call into a plugin takes long.
#pragma once

#include "log.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace pi::loader {

/// Created for one call of the loader's interface and used only by its thread. All calls into
/// plugins during that time share one watching thread, which starts with the first and sleeps; a
/// call wakes no thread. If no thread can be created, nothing is watched.
class StallWatch {
public:
    StallWatch(Log &log, std::chrono::milliseconds delay) noexcept : log_(log), delay_(delay) {}
    ~StallWatch(); ///< nothing is logged afterwards
    StallWatch(const StallWatch &) = delete;
    StallWatch &operator=(const StallWatch &) = delete;

    /// While it lives, this thread is in that function of the plugin. The strings are not copied.
    /// Calls do not nest.
    class Call {
    public:
        Call(StallWatch &watch, const std::string &plugin, const std::string &path,
             const char *function);
        ~Call();
        Call(const Call &) = delete;
        Call &operator=(const Call &) = delete;

    private:
        friend class StallWatch;
        StallWatch &watch_;
        const std::string &plugin_;
        const std::string &path_;
        const char *const function_;
        const std::chrono::steady_clock::time_point begin_;
        // when the next warning is due; guarded by watch_.mutex_
        std::chrono::steady_clock::time_point due_;
    };

private:
    void start() noexcept;
    void run() noexcept;

    Log &log_;
    const std::chrono::milliseconds delay_;
    std::mutex mutex_;
    std::condition_variable stopped_;
    bool stop_ = false;    // guarded by mutex_
    Call *call_ = nullptr; // guarded by mutex_
    std::thread thread_;
};

} // namespace pi::loader
