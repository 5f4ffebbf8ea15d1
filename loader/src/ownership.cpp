// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ownership.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace pi::loader {
namespace {

namespace fs = std::filesystem;

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

std::string check_way(const fs::path &path) {
    fs::path directory = path.root_path();
    for (const fs::path &name : path.relative_path()) {
        const fs::path entry = directory / name;
        if (std::string reason = check_entry(directory, entry); !reason.empty())
            return reason;
        directory = entry;
    }
    return "";
}

} // namespace

std::string check_ownership(const std::string &path) {
    std::error_code error;
    const fs::path named = fs::absolute(path, error).lexically_normal();
    std::string reason = error ? "" : check_way(named);
    const fs::path target = fs::canonical(path, error);
    if (!reason.empty() || error)
        return reason;
    if (target != named)
        reason = check_way(target);
    struct stat status = {};
    if (reason.empty() && ::stat(target.c_str(), &status) == 0 && (status.st_mode & S_IWOTH) != 0)
        reason = fmt::format("everyone may write to it: chmod o-w \"{}\"", target.string());
    return reason;
}

} // namespace pi::loader
