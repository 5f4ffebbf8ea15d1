// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"

#include <array>
#include <cstdio>
#include <memory>
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

Ran run(const std::vector<std::string> &command) {
    std::string line = "timeout 100";
    for (const std::string &argument : command) {
        line += " " + quoted(argument);
    }
    FILE *pipe = popen((line + " 2>&1 </dev/null").c_str(), "r");
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
    return ran;
}

} // namespace pi_test
