// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace simulated {

namespace {

/// A temporary folder.
class Folder {
public:
    Folder() : path_((std::filesystem::temp_directory_path() / "pi_il_XXXXXX").string()) {
        if (!mkdtemp(path_.data()))
            path_.clear();
    }
    Folder(const Folder &) = delete;
    ~Folder() {
        std::error_code ignored;
        if (!path_.empty())
            std::filesystem::remove_all(path_, ignored);
    }
    std::string file(const std::string &name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

template <class T>
void write_file(const std::string &path, const std::vector<T> &items) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(items.data()),
               static_cast<std::streamsize>(items.size() * sizeof(T)));
}

Bytes read_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs the command; returns whether it exited with 0. Its output goes to the file `log`.
bool run(std::vector<std::string> command, const std::string &log) {
    std::vector<char *> arguments;
    for (std::string &word : command)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions))
        return false;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t process = 0;
    const int code =
        posix_spawn(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code) {
        std::ofstream(log) << arguments[0] << ": " << std::strerror(code);
        return false;
    }
    int status = 0;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

template <class T>
Made<T> failed(const Folder &folder) {
    const Bytes log = read_file(folder.file("log"));
    return {false, {}, std::string(log.begin(), log.end())};
}

} // namespace

Made<Bytes> translate(const std::vector<uint32_t> &words) {
    const Folder folder;
    write_file(folder.file("in.spv"), words);
    if (!run({PI_LLVM_SPIRV, "-r", folder.file("in.spv"), "-o", folder.file("out.bc")},
             folder.file("log")))
        return failed<Bytes>(folder);
    return {true, read_file(folder.file("out.bc")), ""};
}

Made<std::vector<uint32_t>> link(std::vector<std::vector<uint32_t>> modules) {
    const Folder folder;
    std::vector<std::string> command{PI_SPIRV_LINK, "-o", folder.file("out.spv")};
    // spirv-link accepts modules of one version only; a module is also valid in each later version.
    uint32_t version = 0;
    for (const std::vector<uint32_t> &words : modules)
        version = std::max(version, words[1]);
    for (std::vector<uint32_t> &words : modules) {
        words[1] = version;
        command.push_back(folder.file("in" + std::to_string(command.size()) + ".spv"));
        write_file(command.back(), words);
    }
    if (!run(command, folder.file("log")))
        return failed<std::vector<uint32_t>>(folder);
    const Bytes bytes = read_file(folder.file("out.spv"));
    std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
    return {true, words, ""};
}

} // namespace simulated
