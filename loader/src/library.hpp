// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An open shared object.
#pragma once

#include <string>

namespace pi::loader {

class Library {
public:
    /// Opens a plugin file, if it is a regular ELF file. On failure the library is empty and
    /// `reason` says why.
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

/// "" if the path names a readable regular file, else why not. Never blocks.
std::string check_regular_file(const std::string &path);

/// The absolute path, without links, of the file that this loader was loaded from; "" if the system
/// does not say.
const std::string &own_file();

} // namespace pi::loader
