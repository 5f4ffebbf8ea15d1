// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

namespace pi::drivers {

/// A native library, opened as a copy of its own: each module has its own variables.
class Library {
public:
    /// Throws std::runtime_error with what is wrong.
    explicit Library(const std::string &path);
    Library(const Library &) = delete;
    ~Library();
    void *symbol(const char *name) const;
    /// The bytes of a variable; 0 if there is none.
    std::size_t size_of(const char *name) const;

private:
    int file_ = -1;
    void *handle_ = nullptr;
};

} // namespace pi::drivers
