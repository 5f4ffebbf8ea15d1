// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "exit_watch.hpp"

#include "fork.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>

#include <pthread.h>
#include <unistd.h>

namespace pi::loader {
namespace {

constexpr std::time_t exit_patience = 2; // seconds

std::mutex exit_watch_mutex;

} // namespace

void ExitWatch::before_fork() noexcept {
    exit_watch_mutex.lock();
}

void ExitWatch::after_fork() noexcept {
    exit_watch_mutex.unlock();
}

ExitWatch &ExitWatch::of(const std::string &path) {
    // never destroyed: exit handlers use it
    static auto &watches = *new std::map<std::string, ExitWatch>;
    const std::scoped_lock lock(exit_watch_mutex);
    const auto [place, added] = watches.try_emplace(path);
    if (added)
        ::on_exit(&ExitWatch::end, &place->second);
    return place->second;
}

void ExitWatch::begin_later(int64_t count, std::string_view plugin,
                            std::string_view path) noexcept {
    try {
        const std::scoped_lock lock(exit_watch_mutex);
        if (count < next_count_)
            return;
        if (line_.empty())
            line_ =
                fmt::format("pi: plugin {} ({}): the process is not exiting: exit handlers that "
                            "were registered while the plugin opened its driver have been "
                            "running for {} s\n",
                            plugin, path, exit_patience);
        forks_ = fork_count();
        if (::on_exit(&ExitWatch::begin, this) == 0)
            next_count_ = 2 * count;   // so that there are few, however long the process lives
    } catch (const std::bad_alloc &) { // NOLINT(bugprone-empty-catch): with the next object
    }
}

void ExitWatch::begin(int, void *watch) noexcept {
    auto &self = *static_cast<ExitWatch *>(watch);
    // The child of a fork inherits the handlers, but not the plugin's threads.
    if (self.forks_ != fork_count())
        return;
    State before_all = State::before;
    if (!self.state_.compare_exchange_strong(before_all, State::between))
        return;
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_t thread;
    if (::pthread_create(&thread, nullptr, &ExitWatch::run, watch) == 0)
        ::pthread_detach(thread);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ExitWatch::end(int, void *watch) noexcept {
    static_cast<ExitWatch *>(watch)->state_ = State::after;
}

void *ExitWatch::run(void *watch) noexcept {
    const auto &self = *static_cast<const ExitWatch *>(watch);
    const timespec patience{exit_patience, 0};
    ::nanosleep(&patience, nullptr);
    if (self.state_ == State::between)
        static_cast<void>(!::write(STDERR_FILENO, self.line_.data(), self.line_.size()));
    return nullptr;
}

} // namespace pi::loader
