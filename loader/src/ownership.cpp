// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ownership.hpp"

#include "file_descriptor.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <climits>
#include <deque>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pi::loader {
namespace {

namespace fs = std::filesystem;

constexpr int max_links = 40; // per path, as in Linux

FileDescriptor step(int directory, const char *name) {
    return FileDescriptor(::openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

FileDescriptor open_root() {
    return step(AT_FDCWD, "/");
}

std::string check_entry(const struct stat &around, const struct stat &found,
                        const fs::path &directory, const fs::path &entry) {
    if ((around.st_mode & S_IWOTH) == 0)
        return "";
    if ((around.st_mode & S_ISVTX) == 0)
        return fmt::format("its directory is writable for everyone: chmod o-w \"{}\"",
                           directory.string());
    if (found.st_uid == 0 || found.st_uid == ::geteuid() || found.st_uid == around.st_uid)
        return "";
    return fmt::format("\"{}\", in a directory that is writable for everyone, belongs to user {}, "
                       "should belong to {} "
                       "or root",
                       entry.string(), found.st_uid, ::geteuid());
}

/// Walks one path from the root.
class Walk {
public:
    Resolved run(const fs::path &named) {
        const fs::path start = named.relative_path();
        names_.assign(start.begin(), start.end());
        reached_ = named.root_path();
        while (!names_.empty()) {
            const fs::path name = std::move(names_.front());
            names_.pop_front();
            if (name.empty() || name == ".")
                continue;
            if (!advance(name))
                return std::move(resolved_);
        }
        resolved_.path = reached_.string();
        if ((here_.st_mode & S_IWOTH) != 0)
            refuse(fmt::format("it is writable for everyone: chmod o-w \"{}\"", resolved_.path));
        return std::move(resolved_);
    }

private:
    // Keeps the first reason, which concerns the earliest step.
    void refuse(std::string reason) {
        if (resolved_.reason.empty())
            resolved_.reason = std::move(reason);
    }

    bool fail(const fs::path &at, int code) {
        fs::path path = at;
        for (const fs::path &name : names_)
            path /= name;
        resolved_.path = path.lexically_normal().string();
        resolved_.missing = code == ENOENT;
        refuse(code == ENOENT ? "no such file" : std::generic_category().message(code));
        return false;
    }

    bool advance(const fs::path &name) {
        const bool up = name == "..";
        const fs::path entry = up ? reached_.parent_path() : reached_ / name;
        FileDescriptor next = step(directory_.get(), name.c_str());
        struct stat around = {}, found = {};
        if (next.get() < 0 || ::fstat(directory_.get(), &around) != 0 ||
            ::fstat(next.get(), &found) != 0)
            return fail(entry, errno);
        if (!up) {
            if (std::string reason = check_entry(around, found, reached_, entry); !reason.empty())
                refuse(std::move(reason));
        }
        if (S_ISLNK(found.st_mode))
            return follow(next, entry);
        directory_ = std::move(next);
        reached_ = entry;
        here_ = found;
        return true;
    }

    bool follow(const FileDescriptor &link, const fs::path &entry) {
        char text[PATH_MAX];
        const ssize_t size = ::readlinkat(link.get(), "", text, sizeof text);
        if (size < 0)
            return fail(entry, errno);
        if (++links_ > max_links)
            return fail(entry, ELOOP);
        const fs::path target(std::string(text, static_cast<size_t>(size)));
        if (target.is_absolute()) {
            directory_ = open_root();
            reached_ = target.root_path();
        }
        const fs::path further = target.relative_path();
        names_.insert(names_.begin(), further.begin(), further.end());
        return true;
    }

    FileDescriptor directory_ = open_root(); ///< of reached_
    fs::path reached_;
    std::deque<fs::path> names_; ///< still to walk
    struct stat here_ = {};
    int links_ = 0;
    Resolved resolved_;
};

} // namespace

Resolved resolve(const std::string &path) {
    std::error_code error;
    const fs::path named = fs::absolute(path, error);
    if (error)
        return {path, error.message()};
    return Walk().run(named);
}

} // namespace pi::loader
