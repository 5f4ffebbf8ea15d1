// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The user who runs a set-uid program must not influence which plugins it loads.

#include "fixture.hpp"
#include "skip.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>

#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace loader_test;
using Catch::Matchers::Contains;

namespace {

constexpr uid_t owner = 1;      // of the program
constexpr uid_t caller = 65534; // the user who runs it

// The output of the program when the caller runs it with that environment; "" if it fails.
std::string run_as_caller(const std::string &program, const std::string &plugin,
                          const std::vector<std::string> &environment) {
    std::vector<char *> variables;
    for (const std::string &variable : environment)
        variables.push_back(const_cast<char *>(variable.c_str()));
    variables.push_back(nullptr);
    char *arguments[] = {const_cast<char *>(program.c_str()), const_cast<char *>(plugin.c_str()),
                         nullptr};
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::alarm(30); // survives exec: a program that hangs is ended
        ::dup2(ends[1], STDOUT_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        if (::setgroups(0, nullptr) == 0 && ::setresgid(caller, caller, caller) == 0 &&
            ::setresuid(caller, caller, caller) == 0)
            ::execve(arguments[0], arguments, variables.data());
        ::_exit(127);
    }
    ::close(ends[1]);
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(::fdopen(ends[0], "r"), &std::fclose);
    std::string output;
    char buffer[4096];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;)
        output.append(buffer, n);
    int status = 0;
    CHECK(::waitpid(child, &status, 0) == child);
    CAPTURE(output, status);
    CHECK(status == 0);
    return output;
}

} // namespace

TEST_CASE("a set-uid program reads no variable, and the same program without the bit reads them") {
    if (::geteuid() != 0)
        return pi_test::skip("needs root, to make a program set-uid");
    const TemporaryFolder folder;
    const std::string program = folder.str("program");
    std::filesystem::copy_file(PI_LOADER_ENVIRONMENT_PROGRAM, program);
    // elsewhere, because plugins next to the program are found in any case
    const TemporaryFolder elsewhere;
    const std::string plugin = elsewhere.copy_plugin("small_good");
    const TemporaryFolder own;
    const std::string chosen = own.copy_plugin("small_newer");
    REQUIRE(::chmod(own.str().c_str(), 0755) == 0);
    REQUIRE(::chmod(folder.str().c_str(), 0755) == 0);
    REQUIRE(::chmod(elsewhere.str().c_str(), 0755) == 0);
    REQUIRE(::chmod(program.c_str(), 0755) == 0);
    const std::vector<std::string> environment = {
        "PI_PLUGINS=" + plugin,         "PI_PLUGIN_PATH=" + elsewhere.str(),
        "PI_DEVICE_SELECTOR=injected",  "PI_OPENCL_LIBRARY=/injected.so",
        "PI_SMALL_NEWER_MODE=injected", "PI_LOG=off"};

    const std::string plain = run_as_caller(program, chosen, environment);
    CHECK_THAT(plain, Contains("secure 0\n") && Contains("plugins 2\n") &&
                          Contains("PI_SMALL_NEWER_MODE injected\n") &&
                          Contains("PI_PLUGINS " + plugin + "\n") &&
                          Contains("PI_DEVICE_SELECTOR injected\n") &&
                          Contains("PI_OPENCL_LIBRARY /injected.so\n"));

    if (::chown(program.c_str(), owner, owner) != 0 || ::chmod(program.c_str(), 04755) != 0)
        return pi_test::skip("needs a file system that keeps owners and the set-uid bit");
    const std::string secure = run_as_caller(program, chosen, environment);
    if (secure.find("secure 0\n") != std::string::npos)
        return pi_test::skip("needs a system that honours the set-uid bit (nosuid, no_new_privs)");
    CAPTURE(secure);
    CHECK_THAT(secure, Contains("secure 1\n") && Contains("plugins 1\n") &&
                           Contains("PI_SMALL_NEWER_MODE not set\n"));
    std::size_t unset = 0;
    for (std::size_t at = 0; (at = secure.find(" not set\n", at)) != std::string::npos; ++at)
        ++unset;
    CHECK(unset >= 8);
    // Two lines are not variables.
    CHECK(unset + 2 == static_cast<std::size_t>(std::count(secure.begin(), secure.end(), '\n')));
}
