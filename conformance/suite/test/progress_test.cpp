// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lines of progress.

#include "run_suite.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <regex>
#include <stdexcept>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

namespace {

// A terminal of so many columns, and its output.
class Terminal {
public:
    explicit Terminal(unsigned short columns) : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
        if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0)
            throw std::runtime_error("there is no terminal to be had");
        name_ = ptsname(master_);
        // While this is open the terminal lives.
        slave_ = open(name_.c_str(), O_RDWR | O_NOCTTY);
        winsize size{};
        size.ws_col = columns;
        size.ws_row = 24;
        ioctl(master_, TIOCSWINSZ, &size);
        reader_ = std::thread([this] { read_all(); });
    }
    ~Terminal() { finish(); }
    Terminal(const Terminal &) = delete;
    Terminal &operator=(const Terminal &) = delete;
    const std::string &name() const { return name_; }
    const std::string &finish() {
        if (reader_.joinable()) {
            close(slave_);
            reader_.join();
            close(master_);
        }
        return text_;
    }

private:
    void read_all() {
        char buffer[4096];
        // An error is the end: the other side is closed.
        for (ssize_t size = 0; (size = read(master_, buffer, sizeof buffer)) > 0;)
            text_.append(buffer, static_cast<std::size_t>(size));
    }

    int master_;
    int slave_ = -1;
    std::string name_;
    std::string text_;
    std::thread reader_;
};

// Standard output to `out`, standard error to the terminal.
int run_on(const Terminal &terminal, const std::string &toy, const std::string &out) {
    const std::string command = PI_CONFORMANCE " --area context --jobs 1 --plugin " +
                                toy_file(toy) + " >" + out + " 2>" + terminal.name();
    return std::system(command.c_str());
}

} // namespace

TEST_CASE("without a terminal a line of progress is printed now and then") {
    const Run run = run_toy("hangs", {"--timeout=2", "--jobs=1"});
    INFO(run.output);
    CHECK(std::regex_search(
        run.output,
        std::regex("\\n\\[[0-9]+ of [0-9]+\\] 1 failed, [0-9]+ skipped, running: context: ")));
}

TEST_CASE("a terminal has one line of progress, and none at the end") {
    const TemporaryFile out(".txt");
    Terminal terminal(200);
    CHECK(run_on(terminal, "lies", out.path()) != 0);
    const std::string text = terminal.finish();
    INFO(text);
    const std::string tests = run_suite({"--list", "--area", "context"}).output;
    const std::string all = std::to_string(std::count(tests.begin(), tests.end(), '\n'));
    CHECK(text.find("[0 of " + all + "] 0 failed, 0 skipped, running: context: ") !=
          std::string::npos);
    CHECK(std::regex_search(text, std::regex("\\[[0-9]+ of " + all +
                                             "\\] 1 failed, [0-9]+ skipped, running: "
                                             "context: [^\r\n]* on template:0:0")));
    CHECK(text.find('\n') == std::string::npos);
    const std::string cleared = "\r\x1b[K";
    CHECK(text.rfind(cleared) == text.size() - cleared.size());
    // Standard output has no such line.
    CHECK(out.text().find('\x1b') == std::string::npos);
    CHECK(out.text().find("running: ") == std::string::npos);
    // A failure is printed with its reason at once, not at the end of a long run.
    CHECK(std::regex_search(out.text(),
                            std::regex("\\] failed: context: [^\n]* on template:0:0\n    "
                                       "piContextGetInfo, PI_CONTEXT_INFO_REFERENCE_COUNT: ")));
}

TEST_CASE("the line is no longer than the terminal is wide") {
    const TemporaryFile out(".txt");
    Terminal terminal(60);
    CHECK(run_on(terminal, "honest", out.path()) == 0);
    const std::string text = terminal.finish();
    INFO(text);
    CHECK(std::regex_search(text, std::regex("running: c")));
    CHECK_FALSE(std::regex_search(text, std::regex("[^\r\n\x1b]{63}")));
}

TEST_CASE("without a terminal no line is rewritten") {
    const Run run = run_toy("lies", {});
    CHECK(run.output.find('\r') == std::string::npos);
}
