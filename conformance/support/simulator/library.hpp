// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pi::drivers {

/// A native library, opened from a copy of its file: each module has its own variables.
class Library {
public:
    /// Throws std::runtime_error with the reason.
    explicit Library(const std::string &path);
    Library(const Library &) = delete;
    ~Library();
    void *symbol(const char *name) const;
    /// The size of a variable in bytes; 0 if there is none.
    std::size_t size_of(const char *name) const;
    /// Writes the first bytes of the value, at most 8, into a variable.
    void set(const char *name, std::uint64_t value) const;

private:
    int file_ = -1;
    void *handle_ = nullptr;
};

} // namespace pi::drivers
