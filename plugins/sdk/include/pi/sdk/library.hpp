// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A vendor's library, opened at run time; its symbols are looked up by name.
#pragma once

#include <pi/sdk/error.hpp>
#include <pi/sdk/fork.hpp>

#include <dlfcn.h>

#include <string>

namespace pi::sdk {

/// An open shared object. Only the end of the process closes it: vendors' libraries have threads
/// and exit handlers that do not survive dlclose. They do not survive a fork either.
class Library {
public:
    /// PI_ERROR_UNAVAILABLE, with the system's reason, if it cannot be opened, or in a process
    /// forked from one that had opened a library of this plugin.
    explicit Library(const std::string &path)
        : path_(path), handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (!handle_)
            fail(PI_ERROR_UNAVAILABLE, "cannot open ", path, ": ", dlerror());
        if (!DriverUse::begin())
            fail(
                PI_ERROR_UNAVAILABLE, path,
                ": this process was forked from one that had opened it, where its threads stayed: "
                "fork before that, or have the child run a program of its own (exec; in Python the "
                "start method \"spawn\")");
    }
    const std::string &path() const { return path_; }

    /// The symbol, or NULL.
    template <class Function>
    Function find(const char *symbol) const {
        return reinterpret_cast<Function>(dlsym(handle_, symbol));
    }
    /// The symbol, or PI_ERROR_UNAVAILABLE naming it.
    template <class Function>
    Function get(const char *symbol) const {
        if (auto function = find<Function>(symbol))
            return function;
        fail(PI_ERROR_UNAVAILABLE, path_, " has no function ", symbol);
    }

private:
    std::string path_;
    void *handle_;
};

} // namespace pi::sdk
