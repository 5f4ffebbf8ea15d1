// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names a driver that keeps the process from exiting. The loader cannot interrupt a driver's exit
// handlers; but handlers run in the reverse order of their registration, so those of a plugin and
// its driver run between two of the loader's: one from before the plugin was opened, and one from
// when it had objects.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace pi::loader {

/// One per plugin file; lives as long as the process. Thread-safe.
class ExitWatch {
public:
    /// Call it before the file is opened.
    static ExitWatch &of(const std::string &path);

    /// `count` objects of the plugin are alive: its driver may have registered more handlers.
    void see_objects(int64_t count, std::string_view plugin, std::string_view path) noexcept {
        if (count >= next_count_.load(std::memory_order_relaxed)) [[unlikely]]
            begin_later(count, plugin, path);
    }

    /// A fork waits for the owner of the list of watches.
    static void before_fork() noexcept;
    static void after_fork() noexcept;

private:
    void begin_later(int64_t count, std::string_view plugin, std::string_view path) noexcept;
    static void begin(int code, void *watch) noexcept;
    static void end(int code, void *watch) noexcept;
    static void *run(void *watch) noexcept;

    std::atomic<int64_t> next_count_{1};
    std::atomic<uint32_t> forks_{0};             ///< in the process that uses the plugin
    enum class State { before, between, after }; ///< relative to the two handlers
    std::atomic<State> state_{State::before};
    std::string line_; ///< composed before the first handler is registered
};

} // namespace pi::loader
