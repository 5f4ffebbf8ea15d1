// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shared object that is open.
#pragma once

#include <string>

namespace pi::loader {

class Library {
public:
    /// Opens a plugin file. What is no regular file, or no ELF file, is not opened at all. On failure
    /// the library is empty and `reason` says why.
    static Library open(const std::string &path, std::string &reason);

    Library() = default;
    ~Library();
    Library(Library &&other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
    Library &operator=(Library &&other) noexcept;

    explicit operator bool() const noexcept { return handle_ != nullptr; }
    /// nullptr if there is no such symbol.
    void *symbol(const char *name) const noexcept;

private:
    explicit Library(void *handle) noexcept : handle_(handle) {}
    void *handle_ = nullptr;
};

/// "" if the path names a regular file that can be read, else why not. Never blocks.
std::string check_regular_file(const std::string &path);

/// The absolute path without links of the file that this loader's code was loaded from, as it was then; "" if the system
/// does not say.
const std::string &own_file();

} // namespace pi::loader
