// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "library.hpp"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pi::drivers {

Library::Library(const std::string &path) {
    // Copy the file: dlopen of the same file would share its variables.
    const int original = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (original < 0 || fstat(original, &status) != 0) {
        if (original >= 0)
            close(original);
        throw std::runtime_error(path + ": cannot be read");
    }
    file_ = memfd_create("pi_simulated_module", MFD_CLOEXEC);
    off_t done = 0;
    while (file_ >= 0 && done < status.st_size &&
           sendfile(file_, original, &done, static_cast<std::size_t>(status.st_size - done)) > 0) {
    }
    close(original);
    const std::string copy = "/proc/self/fd/" + std::to_string(file_);
    handle_ = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) {
        const std::string why = dlerror();
        close(file_);
        throw std::runtime_error(path + ": " + why);
    }
}

Library::~Library() {
    dlclose(handle_);
    close(file_);
}

void *Library::symbol(const char *name) const {
    return dlsym(handle_, name);
}

std::size_t Library::size_of(const char *name) const {
    void *const address = symbol(name);
    Dl_info info;
    ElfW(Sym) *entry = nullptr;
    if (!address || !dladdr1(address, &info, reinterpret_cast<void **>(&entry), RTLD_DL_SYMENT))
        return 0;
    return entry ? entry->st_size : 0;
}

void Library::set(const char *name, std::uint64_t value) const {
    if (const std::size_t size = size_of(name))
        std::memcpy(symbol(name), &value, std::min(size, sizeof value));
}

} // namespace pi::drivers
