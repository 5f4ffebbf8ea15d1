// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
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

Ran run(const std::vector<std::string> &command, const std::vector<std::string> &environment) {
    const TemporaryFile errors;
    std::string line = "env";
    for (const std::string &variable : environment) {
        line += " " + quoted(variable);
    }
    line += " timeout 200";
    for (const std::string &argument : command) {
        line += " " + quoted(argument);
    }
    line += " 2>" + quoted(errors.path()) + " </dev/null";
    FILE *pipe = popen(line.c_str(), "r");
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
    ran.errors = errors.content();
    return ran;
}

nlohmann::json run_json(const std::vector<std::string> &command,
                        const std::vector<std::string> &environment, int exit_code) {
    const Ran ran = run(command, environment);
    INFO(ran.output);
    INFO(ran.errors);
    REQUIRE(ran.exit_code == exit_code);
    return nlohmann::json::parse(ran.output);
}

TemporaryFile::TemporaryFile() {
    std::string name = (std::filesystem::temp_directory_path() / "pi_tools_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        throw std::runtime_error("mkdtemp failed for " + name);
    }
    folder_ = name;
}

TemporaryFile::~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

std::string TemporaryFile::content() const {
    std::ostringstream text;
    text << std::ifstream(path()).rdbuf();
    return text.str();
}

} // namespace pi_test
