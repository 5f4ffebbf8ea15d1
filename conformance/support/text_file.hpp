// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace pi_test {

/// A file with this text, under a name that nobody else has; gone with the object.
class TextFile {
public:
    explicit TextFile(const std::string &text = {})
        : path_((std::filesystem::temp_directory_path() / "pi_test_XXXXXX").string()) {
        const int file = mkstemp(path_.data());
        const bool written = file >= 0 && ::write(file, text.data(), text.size()) ==
                                              static_cast<ssize_t>(text.size());
        if (file >= 0) {
            close(file);
        }
        if (!written) {
            unlink(path_.c_str());
            throw std::runtime_error("cannot write a temporary file, " + path_);
        }
    }
    ~TextFile() { unlink(path_.c_str()); }
    TextFile(const TextFile &) = delete;
    TextFile &operator=(const TextFile &) = delete;
    const std::string &path() const noexcept { return path_; }

private:
    std::string path_;
};

} // namespace pi_test
