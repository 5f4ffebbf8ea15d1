// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "children.hpp"

#include "text.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace pi::suite {
namespace {

bool has_any() {
    siginfo_t unused{};
    return waitid(P_ALL, 0, &unused, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

// The process of this number, if this one is its parent.
std::optional<ChildProcess> child_at(int number) {
    // "4711 (name) S 1 ...": the name may have anything in it.
    std::ifstream file(join("/proc/", number, "/stat"));
    std::string text;
    std::getline(file, text, '\0'); // empty if it ends meanwhile
    const std::size_t begin = text.find('(');
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos || begin >= end)
        return std::nullopt; // it has ended
    char state = 0;
    int parent = 0;
    std::istringstream(text.substr(end + 1)) >> state >> parent;
    if (parent != getpid())
        return std::nullopt;
    return ChildProcess{text.substr(begin + 1, end - begin - 1), state == 'Z'};
}

} // namespace

void adopt_orphans() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::map<int, ChildProcess> children_now() {
    std::map<int, ChildProcess> children;
    // As a rule there is none, and no list of all processes needs to be read.
    if (!has_any())
        return children;
    std::error_code error;
    for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
         entry.increment(error)) {
        const int number = std::atoi(entry->path().filename().c_str());
        if (number == 0)
            continue;
        if (std::optional<ChildProcess> child = child_at(number))
            children.emplace(number, std::move(*child));
    }
    return children;
}

} // namespace pi::suite
