// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "library.hpp"

#include "file_descriptor.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pi::loader {
namespace {

std::string error_text(int code) {
    return std::generic_category().message(code);
}

const char *file_kind(mode_t mode) {
    if (S_ISDIR(mode))
        return "a directory";
    if (S_ISFIFO(mode))
        return "a FIFO";
    if (S_ISSOCK(mode))
        return "a socket";
    return "a device";
}

/// "", or why the file is truncated, as one that is still being copied. dlopen maps as many bytes
/// as the headers state, and touching a missing page ends the process.
std::string check_segments(int file) {
    ElfW(Ehdr) header = {};
    struct stat status = {};
    if (::pread(file, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
        ::fstat(file, &status) != 0)
        return "truncated shared object: the file ends inside the ELF header";
    if (header.e_phentsize != sizeof(ElfW(Phdr)))
        return ""; // for another machine: dlopen reports it
    const auto size = static_cast<uint64_t>(status.st_size);
    for (unsigned index = 0; index < header.e_phnum; ++index) {
        ElfW(Phdr) segment = {};
        const uint64_t at = header.e_phoff + index * sizeof segment;
        if (at > size || ::pread(file, &segment, sizeof segment, static_cast<off_t>(at)) !=
                             static_cast<ssize_t>(sizeof segment))
            return "truncated shared object: the file ends inside the program headers";
        if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
            return fmt::format(
                "truncated shared object: the file has {} bytes, and a segment of {} begins at {}",
                size, segment.p_filesz, segment.p_offset);
    }
    return "";
}

std::string check_elf(const std::string &path) {
    // Non-blocking, in case a FIFO replaced the file after the check.
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0)
        return fmt::format("cannot be opened: {}", error_text(errno));
    char magic[4] = {};
    if (::read(file.get(), magic, sizeof magic) != static_cast<ssize_t>(sizeof magic) ||
        std::memcmp(magic, "\177ELF", sizeof magic) != 0)
        return "not a shared object: no ELF magic number at its begin";
    return check_segments(file.get());
}

} // namespace

std::string check_regular_file(const std::string &path) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0)
        return errno == ENOENT ? "no such file" : error_text(errno);
    if (!S_ISREG(status.st_mode))
        return fmt::format("is {}, should be a regular file{}", file_kind(status.st_mode),
                           S_ISDIR(status.st_mode) ? "; PI_PLUGIN_PATH lists directories" : "");
    return "";
}

Library Library::open(const std::string &path, std::string &reason) {
    reason = check_regular_file(path);
    if (reason.empty())
        reason = check_elf(path);
    if (!reason.empty())
        return {};
    // NODELETE: a plugin's threads and thread-local destructors may outlive its last instance.
    void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) {
        const char *error = ::dlerror();
        reason = error != nullptr ? error : "dlopen failed";
    }
    return Library(handle);
}

Library::~Library() {
    if (handle_ != nullptr)
        ::dlclose(handle_);
}

Library &Library::operator=(Library &&other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
}

void *Library::symbol(const char *name) const noexcept {
    return ::dlsym(handle_, name);
}

namespace {

const std::string *find_own_file() {
    Dl_info info = {};
    static const char anchor = 0; // any address in this file
    if (::dladdr(&anchor, &info) == 0 || info.dli_fname == nullptr)
        return new std::string;
    const std::unique_ptr<char, decltype(&std::free)> path(::realpath(info.dli_fname, nullptr),
                                                           &std::free);
    return new std::string(path != nullptr ? path.get() : "");
}

// Found at load time: the name under which the library was opened may be relative to the working
// directory of that moment. Never destroyed: exit handlers may create loaders.
const std::string *const own_file_when_loaded = find_own_file();

} // namespace

const std::string &own_file() {
    return *own_file_when_loaded;
}

} // namespace pi::loader
