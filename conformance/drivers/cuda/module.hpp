// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "image.hpp"
#include "memory.hpp"

#include <pi/pi_native_kernel.h>

#include <string>

namespace pi::cuda::simulated {

/// A native library, opened as a copy of its own: each module has its own variables.
class Library {
public:
    /// Throws std::runtime_error with what is wrong.
    explicit Library(const std::string &path);
    Library(const Library &) = delete;
    ~Library();
    void *symbol(const char *name) const;

private:
    int file_ = -1;
    void *handle_ = nullptr;
};

using Libraries = std::vector<std::shared_ptr<Library>>;

struct Module;

struct Function {
    CUfunction handle = nullptr;
    std::string name;
    pi_native_function native = nullptr;
    std::vector<Parameter> parameters;
    int max_dynamic_shared = 48 * 1024;
    std::weak_ptr<Module> module;
    std::shared_ptr<Context> context;
    std::shared_ptr<Libraries> libraries; ///< all of the module, whose functions call each other
};

struct Module {
    CUmodule handle = nullptr;
    std::shared_ptr<Context> context;
    std::shared_ptr<Libraries> libraries;
    std::vector<std::shared_ptr<Function>> functions;
    std::map<std::string, std::shared_ptr<Allocation>> variables;
};

} // namespace pi::cuda::simulated
