// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/sdk/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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

/// PI_ERROR_OUT_OF_RESOURCES, with the parts, if `error` is the errno of a call for which there was
/// no file descriptor, of the process or of the system.
template <class... Parts>
void refuse_without_descriptor(int error, const Parts &...parts) {
    if (error == EMFILE || error == ENFILE)
        fail(PI_ERROR_OUT_OF_RESOURCES, parts..., ": ", std::strerror(error));
}

/// For a call that needs a file descriptor and has failed: PI_ERROR_OUT_OF_RESOURCES, with the
/// parts, if this process can open no further one. For libraries that have no code for that.
template <class... Parts>
void require_descriptors(const Parts &...parts) {
    const File probe(open("/", O_PATH | O_CLOEXEC));
    if (!probe)
        refuse_without_descriptor(errno, parts...);
}

} // namespace pi::sdk
