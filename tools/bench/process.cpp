// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace pi_bench {
namespace {

constexpr int patience_milliseconds = 180'000;

[[noreturn]] void fail(const std::string &what, int code) {
    throw std::system_error(code, std::generic_category(), what);
}

/// A pipe that no child inherits but through standard output.
class Pipe {
public:
    Pipe() {
        if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
            fail("pipe2", errno);
        }
    }
    ~Pipe() {
        close(ends_[0]);
        close_writing();
    }
    Pipe(const Pipe &) = delete;
    Pipe &operator=(const Pipe &) = delete;

    int reading() const { return ends_[0]; }
    int writing() const { return ends_[1]; }
    void close_writing() {
        if (ends_[1] >= 0) {
            close(ends_[1]);
        }
        ends_[1] = -1;
    }

private:
    std::array<int, 2> ends_{-1, -1};
};

class SpawnActions {
public:
    SpawnActions() { posix_spawn_file_actions_init(&actions_); }
    ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
    SpawnActions(const SpawnActions &) = delete;
    SpawnActions &operator=(const SpawnActions &) = delete;
    posix_spawn_file_actions_t *get() { return &actions_; }

private:
    posix_spawn_file_actions_t actions_{};
};

uint64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

pid_t spawn(const std::vector<std::string> &command, int standard_output) {
    SpawnActions actions;
    posix_spawn_file_actions_adddup2(actions.get(), standard_output, STDOUT_FILENO);
    std::vector<char *> arguments;
    for (const std::string &argument : command) {
        arguments.push_back(const_cast<char *>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int code =
        posix_spawn(&child, arguments[0], actions.get(), nullptr, arguments.data(), environ);
    if (code != 0) {
        fail("cannot start " + command[0], code);
    }
    return child;
}

/// The child's stamp, or 0 if it ended without one. A child that says nothing for too long is killed.
uint64_t read_stamp(pid_t child, int descriptor) {
    pollfd wanted{descriptor, POLLIN, 0};
    int ready = 0;
    do {
        ready = poll(&wanted, 1, patience_milliseconds);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
        kill(child, SIGKILL);
        return 0;
    }
    uint64_t stamp = 0;
    return read(descriptor, &stamp, sizeof stamp) == sizeof stamp ? stamp : 0;
}

} // namespace

double time_start(const std::vector<std::string> &command) {
    Pipe pipe;
    const uint64_t begin = now();
    const pid_t child = spawn(command, pipe.writing());
    pipe.close_writing();
    const uint64_t stamp = read_stamp(child, pipe.reading());
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (stamp == 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        throw std::runtime_error(command[0] + " failed (wait status " + std::to_string(status) +
                                 "); its message is above");
    }
    return static_cast<double>(stamp - begin);
}

} // namespace pi_bench
