// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ownership.hpp"

#include <fmt/format.h>

#include <deque>
#include <filesystem>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace pi::loader {
namespace {

namespace fs = std::filesystem;

constexpr int max_links = 40; // of one path, as many as Linux follows

std::string check_entry(const fs::path &directory, const fs::path &entry) {
    struct stat around = {}, found = {};
    if (::stat(directory.c_str(), &around) != 0 || ::lstat(entry.c_str(), &found) != 0 ||
        (around.st_mode & S_IWOTH) == 0)
        return "";
    if ((around.st_mode & S_ISVTX) == 0)
        return fmt::format("everyone may write to its directory: chmod o-w \"{}\"",
                           directory.string());
    if (found.st_uid == 0 || found.st_uid == ::geteuid() || found.st_uid == around.st_uid)
        return "";
    return fmt::format("\"{}\", in a directory that everyone may write to, belongs to user {}, "
                       "should belong to {} "
                       "or root",
                       entry.string(), found.st_uid, ::geteuid());
}

} // namespace

Resolved resolve(const std::string &path) {
    std::error_code error;
    const fs::path named = fs::absolute(path, error);
    if (error)
        return {path, ""};
    Resolved resolved;
    fs::path reached = named.root_path();
    const fs::path start = named.relative_path();
    std::deque<fs::path> names(start.begin(), start.end());
    for (int links = 0; !names.empty();) {
        const fs::path name = std::move(names.front());
        names.pop_front();
        if (name.empty() || name == ".")
            continue;
        if (name == "..") {
            reached = reached.parent_path();
            continue;
        }
        const fs::path entry = reached / name;
        if (resolved.reason.empty())
            resolved.reason = check_entry(reached, entry);
        if (!fs::is_symlink(fs::symlink_status(entry, error))) {
            reached = entry;
            continue;
        }
        const fs::path target = fs::read_symlink(entry, error);
        if (error || ++links > max_links)
            return {named.lexically_normal().string(), std::move(resolved.reason)};
        if (target.is_absolute())
            reached = target.root_path();
        const fs::path further = target.relative_path();
        names.insert(names.begin(), further.begin(), further.end());
    }
    resolved.path = reached.string();
    struct stat status = {};
    if (resolved.reason.empty() && ::stat(reached.c_str(), &status) == 0 &&
        (status.st_mode & S_IWOTH) != 0)
        resolved.reason = fmt::format("everyone may write to it: chmod o-w \"{}\"", resolved.path);
    return resolved;
}

} // namespace pi::loader
