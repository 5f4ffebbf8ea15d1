// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <utility>

namespace pi::sdk {

/// Owns a file descriptor, or none.
class File {
public:
    File() = default;
    explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
    File(File &&other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    File &operator=(File other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~File() {
        if (descriptor_ >= 0)
            close(descriptor_);
    }
    int get() const { return descriptor_; }
    explicit operator bool() const { return descriptor_ >= 0; }

private:
    int descriptor_ = -1;
};

} // namespace pi::sdk
