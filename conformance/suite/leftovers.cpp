// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "leftovers.hpp"

#include "children.hpp"
#include "text.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <vector>

namespace pi::suite {
namespace {

using Clock = std::chrono::steady_clock;

// A joined thread may still be visible, and a thread does not end at once on request.
constexpr std::chrono::milliseconds time_to_end{1000};
constexpr std::chrono::milliseconds look_again{5};

// The names in a folder of /proc that are numbers.
std::vector<int> numbers_in(const char *folder) {
    std::vector<int> numbers;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        numbers.push_back(std::atoi(entry->path().filename().c_str()));
    return numbers;
}

// The names that occur more often in `after` than in `before`, and the differences.
std::map<std::string, std::size_t> more(const std::map<int, std::string> &before,
                                        const std::map<int, std::string> &after) {
    std::map<std::string, std::size_t> names;
    if (after.size() <= before.size())
        return names;
    for (const auto &[number, name] : after) {
        const auto known = before.find(number);
        if (known == before.end() || known->second != name)
            ++names[name];
    }
    return names;
}

// "3 threads (acme-io, 2 acme-worker)"
std::string text_of(const std::map<std::string, std::size_t> &names, const char *one,
                    const char *several) {
    std::size_t count = 0;
    std::string list;
    for (const auto &[name, times] : names) {
        list += join(list.empty() ? "" : ", ", times > 1 ? join(times, " ") : "", name);
        count += times;
    }
    return join(count, " ", count == 1 ? one : several, " (", list, ")");
}

// The growth since `before` that lasts after ending threads and processes have ended.
std::string lasting_growth(const Resources &before, Resources &now,
                           std::chrono::milliseconds patience) {
    const Clock::time_point end = Clock::now() + std::min(time_to_end, patience);
    for (;;) {
        now = resources_now();
        const std::string text = growth(before, now);
        if (text.empty() || Clock::now() >= end)
            return text;
        std::this_thread::sleep_for(look_again);
    }
}

} // namespace

Resources resources_now() {
    Resources now;
    for (const int number : numbers_in("/proc/self/task")) {
        std::ifstream file(join("/proc/self/task/", number, "/comm"));
        std::string name;
        // One that has ended since has none.
        if (std::getline(file, name))
            now.threads.emplace(number, name);
    }
    for (const int number : numbers_in("/proc/self/fd")) {
        std::error_code error;
        const auto target = std::filesystem::read_symlink(join("/proc/self/fd/", number), error);
        // The descriptor of the folder itself is closed by now.
        if (!error)
            now.files.emplace(number, target.string());
    }
    for (const auto &[number, child] : children_now()) {
        // A process that has ended holds no resources.
        if (!child.has_ended)
            now.processes.emplace(number, child.name);
    }
    return now;
}

std::string growth(const Resources &before, const Resources &after) {
    std::string text;
    const auto add = [&](const std::map<std::string, std::size_t> &names, const char *one,
                         const char *several) {
        if (!names.empty())
            text += (text.empty() ? "" : " and ") + text_of(names, one, several);
    };
    add(more(before.threads, after.threads), "thread", "threads");
    add(more(before.files, after.files), "file descriptor", "file descriptors");
    add(more(before.processes, after.processes), "process", "processes");
    return text;
}

std::string left_by_each_use(const Resources &before, const std::function<void()> &use_again,
                             std::chrono::milliseconds patience) {
    const Resources first = resources_now();
    if (growth(before, first).empty())
        return "";
    use_again();
    Resources second;
    if (lasting_growth(first, second, patience).empty())
        return "";
    use_again();
    Resources third;
    return lasting_growth(second, third, patience);
}

} // namespace pi::suite
