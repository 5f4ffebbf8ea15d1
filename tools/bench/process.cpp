// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process.hpp"

#include <algorithm>
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

/// A pipe that children inherit only as standard output.
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

/// For C; points into the strings.
std::vector<char *> pointers(const std::vector<std::string> &strings) {
    std::vector<char *> result;
    for (const std::string &string : strings) {
        result.push_back(const_cast<char *>(string.c_str()));
    }
    result.push_back(nullptr);
    return result;
}

/// This process's environment, with `variables` replacing those of the same names.
std::vector<std::string> environment_with(const std::vector<std::string> &variables) {
    std::vector<std::string> result = variables;
    for (char **entry = environ; *entry != nullptr; ++entry) {
        const std::string inherited = *entry;
        const std::string name = inherited.substr(0, inherited.find('=') + 1);
        if (std::none_of(variables.begin(), variables.end(), [&](const std::string &variable) {
                return variable.compare(0, name.size(), name) == 0;
            })) {
            result.push_back(inherited);
        }
    }
    return result;
}

pid_t spawn(const std::vector<std::string> &command, int standard_output,
            const std::vector<std::string> &variables = {}) {
    SpawnActions actions;
    posix_spawn_file_actions_adddup2(actions.get(), standard_output, STDOUT_FILENO);
    const std::vector<std::string> environment = environment_with(variables);
    pid_t child = 0;
    const int code = posix_spawn(&child, command[0].c_str(), actions.get(), nullptr,
                                 pointers(command).data(), pointers(environment).data());
    if (code != 0) {
        fail("cannot start " + command[0], code);
    }
    return child;
}

/// Reads at most `size` bytes of the child's output; 0 at its end. Kills a child that prints
/// nothing for too long.
size_t read_some(pid_t child, int descriptor, void *bytes, size_t size) {
    pollfd wanted{descriptor, POLLIN, 0};
    int ready = 0;
    do {
        ready = poll(&wanted, 1, patience_milliseconds);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
        kill(child, SIGKILL);
        return 0;
    }
    return static_cast<size_t>(std::max<ssize_t>(0, read(descriptor, bytes, size)));
}

/// Whether it exited successfully.
bool wait_for(pid_t child, int &status) {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

[[noreturn]] void fail_of(const std::string &program, int status) {
    throw std::runtime_error(program + " failed (wait status " + std::to_string(status) +
                             "); its message is above");
}

} // namespace

std::string output_of(const std::vector<std::string> &command,
                      const std::vector<std::string> &variables) {
    Pipe pipe;
    const pid_t child = spawn(command, pipe.writing(), variables);
    pipe.close_writing();
    std::string output;
    std::array<char, 4096> some{};
    while (const size_t size = read_some(child, pipe.reading(), some.data(), some.size())) {
        output.append(some.data(), size);
    }
    int status = 0;
    if (!wait_for(child, status)) {
        fail_of(command[0], status);
    }
    return output;
}

double time_start(const std::vector<std::string> &command) {
    Pipe pipe;
    const uint64_t begin = now();
    const pid_t child = spawn(command, pipe.writing());
    pipe.close_writing();
    uint64_t stamp = 0;
    const size_t size = read_some(child, pipe.reading(), &stamp, sizeof stamp);
    int status = 0;
    if (!wait_for(child, status) || size != sizeof stamp) {
        fail_of(command[0], status);
    }
    return static_cast<double>(stamp - begin);
}

} // namespace pi_bench
