// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "layers/output_file.hpp"

#include "log.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pi::loader {
namespace {

std::string with_process_number(const std::string &path) {
    std::string out;
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] == '%' && i + 1 < path.size() && path[i + 1] == 'p') {
            out += std::to_string(::getpid());
            ++i;
        } else {
            out += path[i];
        }
    }
    return out;
}

// Empty without a problem text: another process has the file open, to write or to read.
FileDescriptor open_own(const std::string &path, std::string &problem) {
    constexpr const char *not_regular = "not a regular file";
    // Opening a pipe without a reader would block; with O_NONBLOCK it is ENXIO.
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
        problem = errno == ENXIO ? not_regular : std::strerror(errno);
    } else if (!S_ISREG(status.st_mode)) {
        problem = not_regular;
    } else if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
        if (::fcntl(file.get(), F_SETFL, 0) == 0 && ::ftruncate(file.get(), 0) == 0)
            return file;
        problem = std::strerror(errno);
    } else if (errno != EWOULDBLOCK) {
        problem = std::strerror(errno);
    }
    return FileDescriptor(-1);
}

} // namespace

FileDescriptor open_output(const std::string &path, const char *layer, const char *variable,
                           const char *consequence, Log &log) {
    const std::string wanted = with_process_number(path);
    std::string problem;
    FileDescriptor file = open_own(wanted, problem);
    std::string name = wanted;
    for (int i = 1; file.get() < 0 && problem.empty() && i <= 1000; ++i) {
        name = fmt::format("{}.{}", wanted, ::getpid()) + (i > 1 ? fmt::format(".{}", i) : "");
        file = open_own(name, problem);
    }
    if (file.get() < 0)
        log.warn("{}: cannot write \"{}\" ({}): {}; {}", layer, name, variable,
                 problem.empty() ? "the file is in use" : problem, consequence);
    else if (name != wanted)
        log.write(PI_LOG_INFO, "{}: \"{}\" is in use, so this loader writes \"{}\"", layer, wanted,
                  name);
    return file;
}

} // namespace pi::loader
