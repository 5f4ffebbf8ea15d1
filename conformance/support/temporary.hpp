// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folders and files that are removed with the object that made them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace pi_test {

/// An empty folder. Its name has no symbolic links.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "pi_test_XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("mkdtemp failed for " + name);
        path_ = std::filesystem::canonical(name);
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;
    const std::filesystem::path &path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// The path of a file in a folder of its own, which does not exist until it is written.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string &suffix = {})
        : path_((folder_.path() / ("file" + suffix)).string()) {}
    const std::string &path() const { return path_; }
    /// Empty if the file does not exist.
    std::string text() const {
        std::ostringstream text;
        text << std::ifstream(path_, std::ios::binary).rdbuf();
        return text.str();
    }
    void write(const std::string &text) const {
        if (!(std::ofstream(path_, std::ios::binary) << text << std::flush))
            throw std::runtime_error("cannot write " + path_);
    }

private:
    TemporaryFolder folder_;
    std::string path_;
};

/// A file with this text.
struct TextFile : TemporaryFile {
    explicit TextFile(const std::string &text = {}) { write(text); }
};

} // namespace pi_test
