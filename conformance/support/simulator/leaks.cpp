// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaks.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace pi::drivers {
namespace {

const pid_t loaded_by = getpid();

} // namespace

bool is_forked() {
    return getpid() != loaded_by;
}

void report_leaks(const char *driver, const std::vector<std::string> &leaks, bool strict) {
    for (const std::string &leak : leaks)
        std::fprintf(stderr, "simulated %s: leaked: %s\n", driver, leak.c_str());
    if (!leaks.empty() && strict)
        _exit(70);
}

void add_leaks(std::vector<std::string> &lines, std::size_t count, const char *one,
               const std::string &of) {
    if (count > 0)
        lines.push_back(std::to_string(count) + " " + one + (count > 1 ? "s" : "") +
                        (of.empty() ? "" : " of " + of));
}

int copy_leaks(const std::vector<std::string> &leaks, char *text, std::size_t size) {
    std::string joined;
    for (const std::string &leak : leaks)
        joined += leak + "\n";
    if (text && size > 0) {
        const std::size_t length = std::min(size - 1, joined.size());
        std::memcpy(text, joined.data(), length);
        text[length] = 0;
    }
    return static_cast<int>(leaks.size());
}

} // namespace pi::drivers
