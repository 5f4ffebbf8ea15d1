// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"
#include "temporary.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>
#include <sys/wait.h>

namespace pi_test {
namespace {

std::string quoted(const std::string &argument) {
    std::string out = "'";
    for (const char c : argument) {
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out + "'";
}

} // namespace

Ran run(const std::vector<std::string> &command, const std::vector<std::string> &environment,
        Streams streams, unsigned seconds) {
    const TemporaryFile errors;
    // A PATH in the environment is the program's, not that of these two.
    std::string line = "timeout " + std::to_string(seconds) + " env";
    for (const auto *words : {&environment, &command})
        for (const std::string &word : *words)
            line += " " + quoted(word);
    line += streams == Streams::apart ? " 2>" + quoted(errors.path()) : " 2>&1";
    FILE *pipe = popen((line + " </dev/null").c_str(), "r");
    if (pipe == nullptr) {
        throw std::runtime_error("popen failed for " + line);
    }
    Ran ran;
    std::array<char, 4096> part{};
    for (size_t got = 0; (got = fread(part.data(), 1, part.size(), pipe)) > 0;) {
        ran.output.append(part.data(), got);
    }
    const int status = pclose(pipe);
    ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ran.errors = errors.text();
    return ran;
}

} // namespace pi_test
