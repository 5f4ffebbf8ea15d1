// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The destination of messages of a loader and its plugins.
#pragma once

#include <pi/pi_loader.h>
#include <pi/pi_plugin.h>

#include <fmt/format.h>

#include <memory>
#include <shared_mutex>
#include <string_view>
#include <utility>

namespace pi::loader {

/// One loader's log: its callback, or standard error. Thread-safe; never throws.
class Log {
public:
    /// Messages below `level` are dropped. callback nullptr: standard error.
    Log(pi_log_level level, pi_log_callback callback, void *user_data);
    ~Log();
    Log(const Log &) = delete;
    Log &operator=(const Log &) = delete;

    bool enabled(pi_log_level level) const noexcept {
        return level >= level_ && level < PI_LOG_OFF;
    }
    /// Control characters other than line breaks and tabs are written as "\x1b": a message may
    /// contain text from a plugin, a file or the environment.
    void write(pi_log_level level, std::string_view message) noexcept;

    template <typename... Arguments>
    void write(pi_log_level level, fmt::format_string<Arguments...> format,
               Arguments &&...arguments) noexcept {
        if (!enabled(level))
            return;
        try {
            write(level,
                  std::string_view(fmt::format(format, std::forward<Arguments>(arguments)...)));
        } catch (...) {
            write(level, std::string_view("out of memory for a message"));
        }
    }

    template <typename... Arguments>
    void warn(fmt::format_string<Arguments...> format, Arguments &&...arguments) noexcept {
        write(PI_LOG_WARNING, format, std::forward<Arguments>(arguments)...);
    }

    /// Nothing is written from now on. On return the callback is not running and will not run
    /// again: parked plugins may still log after the application has freed the callback's data.
    void close() noexcept;

private:
    struct Sink;
    pi_log_level level_;
    std::shared_mutex mutex_;
    std::unique_ptr<Sink> sink_; // guarded by mutex_; empty once closed
};

} // namespace pi::loader
