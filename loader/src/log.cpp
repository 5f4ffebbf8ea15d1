// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "log.hpp"

#include <pi/describe/printable.hpp>

#include <spdlog/details/null_mutex.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

#include <cstdio>
#include <mutex>
#include <string>

namespace pi::loader {
namespace {

// Both enumerations have the same order and differ by a constant.
static_assert(PI_LOG_TRACE - SPDLOG_LEVEL_TRACE == PI_LOG_ERROR - SPDLOG_LEVEL_ERROR);
constexpr int first_level = PI_LOG_TRACE - SPDLOG_LEVEL_TRACE;

spdlog::level::level_enum to_spdlog(pi_log_level level) {
    return static_cast<spdlog::level::level_enum>(static_cast<int>(level) - first_level);
}

pi_log_level level_of(spdlog::level::level_enum level) {
    return static_cast<pi_log_level>(level + first_level);
}

// The application's callback may be called from any thread, so no lock is taken.
class CallbackSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
    CallbackSink(pi_log_callback callback, void *user_data)
        : callback_(callback), user_data_(user_data) {}

protected:
    void sink_it_(const spdlog::details::log_msg &message) override {
        const std::string text(message.payload.data(), message.payload.size());
        callback_(level_of(message.level), text.c_str(), user_data_);
    }
    void flush_() override {}

private:
    pi_log_callback callback_;
    void *user_data_;
};

// Standard error, with one lock per log. spdlog's own sink has one lock per process, which another
// thread may hold at a fork.
class ErrorSink final : public spdlog::sinks::base_sink<std::mutex> {
protected:
    void sink_it_(const spdlog::details::log_msg &message) override {
        spdlog::memory_buf_t text;
        formatter_->format(message, text);
        std::fwrite(text.data(), 1, text.size(), stderr);
    }
    void flush_() override { std::fflush(stderr); }
};

std::shared_ptr<spdlog::sinks::sink> make_sink(pi_log_callback callback, void *user_data) {
    if (callback != nullptr)
        return std::make_shared<CallbackSink>(callback, user_data);
    auto sink = std::make_shared<ErrorSink>();
    sink->set_pattern("pi: %l: %v");
    return sink;
}

} // namespace

// A logger that is in no registry.
struct Log::Sink {
    spdlog::logger logger;
};

Log::Log(pi_log_level level, pi_log_callback callback, void *user_data)
    : level_(level), sink_(new Sink{spdlog::logger("pi", make_sink(callback, user_data))}) {
    sink_->logger.set_level(spdlog::level::trace);
    sink_->logger.flush_on(spdlog::level::trace);
}

Log::~Log() = default;

void Log::write(pi_log_level level, std::string_view message) noexcept {
    if (!enabled(level))
        return;
    try {
        const std::string text = printable(message);
        const std::shared_lock lock(mutex_);
        if (sink_ != nullptr)
            sink_->logger.log(to_spdlog(level), spdlog::string_view_t(text.data(), text.size()));
    } catch (...) { // NOLINT(bugprone-empty-catch): a message that cannot be written is dropped
    }
}

void Log::close() noexcept {
    try {
        const std::unique_lock lock(mutex_);
        sink_.reset();
    } catch (...) { // NOLINT(bugprone-empty-catch): unreachable with a valid mutex
    }
}

} // namespace pi::loader
