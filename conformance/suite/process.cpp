// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "process.hpp"

#include "children.hpp"
#include "crash.hpp"
#include "text.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <set>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

extern char **environ;

namespace pi::suite {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int result_descriptor = 3;
// The begin and the end of the output are stored, enough for any message and for the report of a
// crash; what a runaway test prints in between is dropped.
constexpr std::size_t max_kept = 128 * 1024;
// Between hang_signal() and the kill.
constexpr std::chrono::milliseconds last_words{500};
constexpr std::chrono::milliseconds look_again{50};

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor &operator=(Descriptor &&other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() { close(); }
    int get() const { return fd_; }
    bool is_open() const { return fd_ >= 0; }
    void close() {
        if (fd_ >= 0)
            ::close(std::exchange(fd_, -1));
    }

private:
    int fd_ = -1;
};

struct Pipe {
    Descriptor read_end;
    Descriptor write_end;
};

bool make_pipe(Pipe &out) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    out.read_end = Descriptor(ends[0]);
    out.write_end = Descriptor(ends[1]);
    return true;
}

// The process, and the read ends of its output and result.
struct Child {
    pid_t pid = -1;
    Descriptor output;
    Descriptor result;
};

// The running programs. Any other child of this process was left by one that has ended, or is older
// than all of them.
class Programs {
public:
    static Programs &instance() {
        static Programs programs;
        return programs;
    }
    void end_what_they_leave() {
        const std::scoped_lock lock(mutex_);
        // As of a shell that exec-ed this program.
        for (const auto &[pid, child] : children_now())
            known_.insert(pid);
        adopt_orphans();
        adopts_ = true;
    }
    // No other thread may see a child before it is registered.
    template <typename Spawn>
    int begin(Spawn &&spawn, pid_t &pid) {
        const std::scoped_lock lock(mutex_);
        const int error = spawn(pid);
        if (error == 0)
            known_.insert(pid);
        return error;
    }
    // Whether it has ended, and how. After that its number may be reused.
    bool has_ended(pid_t pid, int &status) {
        const std::scoped_lock lock(mutex_);
        return waitpid(pid, &status, WNOHANG) == pid && known_.erase(pid) == 1;
    }
    // The processes that ended ones left.
    void end_orphans() {
        const std::scoped_lock lock(mutex_);
        // Their children become ours next. A process that cannot end, as in a driver, is not waited
        // for.
        const Clock::time_point patience = Clock::now() + last_words;
        while (adopts_ && kill_orphans() && Clock::now() < patience)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

private:
    // False when there is none.
    bool kill_orphans() const {
        bool any = false;
        for (const auto &[pid, child] : children_now()) {
            if (known_.contains(pid))
                continue;
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, WNOHANG);
            any = true;
        }
        return any;
    }

    std::mutex mutex_; // of all that follow
    std::set<pid_t> known_;
    bool adopts_ = false;
};

int spawn(const std::string &program, const std::string &name,
          const std::vector<std::string> &arguments, const Pipe &output, const Pipe &result,
          pid_t &pid) {
    std::vector<char *> argv{const_cast<char *>(name.c_str())};
    for (const std::string &argument : arguments)
        argv.push_back(const_cast<char *>(argument.c_str()));
    argv.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, result.write_end.get(), result_descriptor);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none; // is blocked, whatever this process blocks
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    const int error =
        posix_spawnp(&pid, program.c_str(), &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

// Stores the begin and the end of what is added.
class Excerpt {
public:
    void add(std::string_view text) {
        const std::size_t of_head = std::min(text.size(), max_kept - head_.size());
        head_ += text.substr(0, of_head);
        tail_ += text.substr(of_head);
        // Not each time, as it moves the rest.
        if (tail_.size() > 2 * max_kept)
            shorten();
    }
    // Inserted where output is omitted.
    std::string text() {
        if (tail_.size() > max_kept)
            shorten();
        return left_out_ == 0 ? head_ + tail_
                              : join(head_, "\n... ", left_out_, " bytes left out ...\n", tail_);
    }

private:
    void shorten() {
        const std::size_t more = tail_.size() - max_kept;
        tail_.erase(0, more);
        left_out_ += more;
    }

    std::string head_;
    std::string tail_;
    std::size_t left_out_ = 0;
};

// Reads what is available; closes at the end of the stream.
void drain(Descriptor &from, Excerpt &into) {
    char buffer[4096];
    const ssize_t size = ::read(from.get(), buffer, sizeof buffer);
    if (size > 0)
        into.add({buffer, static_cast<std::size_t>(size)});
    else if (size == 0 || errno != EINTR)
        from.close();
}

class Watch {
public:
    Watch(Child &child, Ended &ended, std::chrono::seconds limit, const std::stop_token &stop)
        : child_(child), ended_(ended), stop_(stop), deadline_(Clock::now() + limit) {}

    void run() {
        while (!reaped()) {
            take_output(wait_time());
            if (stop_.stop_requested()) {
                ended_.stopped = true;
                kill(-child_.pid, SIGKILL);
            } else if (Clock::now() >= deadline_) {
                lose_patience();
            }
        }
        // Processes of a test must not outlive it, or keep its output open.
        kill(-child_.pid, SIGKILL);
        Programs::instance().end_orphans();
        while (child_.output.is_open() && take_output(std::chrono::milliseconds(0))) {
        }
        while (child_.result.is_open() && take_output(std::chrono::milliseconds(0))) {
        }
        ended_.output = output_.text();
        ended_.result = result_.text();
    }

private:
    bool reaped() {
        int status = 0;
        // The process has the result descriptor until it exits, so once that is closed it exits at
        // once.
        if (!Programs::instance().has_ended(child_.pid, status))
            return false;
        if (WIFSIGNALED(status))
            ended_.signal = WTERMSIG(status);
        else
            ended_.exit_code = WEXITSTATUS(status);
        return true;
    }

    std::chrono::milliseconds wait_time() const {
        if (!child_.result.is_open())
            return std::chrono::milliseconds(1);
        return look_again;
    }

    // False when nothing came in this time.
    bool take_output(std::chrono::milliseconds time) {
        pollfd polled[2] = {{child_.output.get(), POLLIN, 0}, {child_.result.get(), POLLIN, 0}};
        if (poll(polled, 2, static_cast<int>(time.count())) <= 0)
            return false;
        if (polled[0].revents != 0)
            drain(child_.output, output_);
        if (polled[1].revents != 0)
            drain(child_.result, result_);
        return true;
    }

    void lose_patience() {
        if (!ended_.timed_out) {
            ended_.timed_out = true;
            kill(child_.pid, hang_signal());
            deadline_ = Clock::now() + last_words;
            return;
        }
        kill(-child_.pid, SIGKILL);
    }

    Child &child_;
    Ended &ended_;
    Excerpt output_;
    Excerpt result_;
    const std::stop_token &stop_;
    Clock::time_point deadline_;
};

// `name` is argv[0].
Ended run(const std::string &program, const std::string &name,
          const std::vector<std::string> &arguments, std::chrono::seconds limit,
          const std::stop_token &stop) {
    Ended ended;
    const Clock::time_point begin = Clock::now();
    Pipe output;
    Pipe result;
    if (!make_pipe(output) || !make_pipe(result)) {
        ended.output = join("cannot make a pipe: ", std::strerror(errno));
        return ended;
    }
    Child child;
    const auto begin_it = [&](pid_t &pid) {
        return spawn(program, name, arguments, output, result, pid);
    };
    if (const int error = Programs::instance().begin(begin_it, child.pid); error != 0) {
        ended.output = join("cannot start a process: ", std::strerror(error));
        return ended;
    }
    ended.started = true;
    output.write_end.close();
    result.write_end.close();
    child.output = std::move(output.read_end);
    child.result = std::move(result.read_end);
    Watch(child, ended, limit, stop).run();
    ended.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return ended;
}

} // namespace

Ended run_program(const std::string &program, const std::vector<std::string> &arguments,
                  std::chrono::seconds limit) {
    return run(program, program, arguments, limit, {});
}

Ended run_self(std::vector<std::string> arguments, std::chrono::seconds limit,
               const std::stop_token &stop) {
    arguments.push_back(join("--result-fd=", result_descriptor));
    return run("/proc/self/exe", "pi-conformance", arguments, limit, stop);
}

void end_what_programs_leave() {
    Programs::instance().end_what_they_leave();
}

std::string signal_text(int signal) {
    const char *text = strsignal(signal);
    return join("signal ", signal, " (", text != nullptr ? text : "?", ")");
}

} // namespace pi::suite
