// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "memory.hpp"

#include <pi/pi_native_kernel.h>

#include <string>

namespace pi::cuda::simulated {

/// How a parameter's bytes become the argument of a native kernel.
enum class Pass {
    value,   ///< a copy of the bytes
    pointer, ///< 8 bytes, a device address: where the driver reaches it
    /// 8 bytes, a device address of memory that has addresses in it: a copy, in which they are where the driver reaches
    /// them
    addresses,
    shared, ///< 8 bytes, an offset into the dynamic shared memory: its address
};

struct Parameter {
    Pass pass = Pass::value;
    size_t size = 0, offset = 0;
};

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

struct Module;

struct Function {
    CUfunction handle = nullptr;
    std::string name;
    pi_native_function native = nullptr;
    std::vector<Parameter> parameters;
    int max_dynamic_shared = 48 * 1024;
    std::weak_ptr<Module> module;
    std::shared_ptr<Context> context;
    std::shared_ptr<Library> library;
};

struct Module {
    CUmodule handle = nullptr;
    std::shared_ptr<Context> context;
    std::shared_ptr<Library> library;
    std::vector<std::shared_ptr<Function>> functions;
    std::map<std::string, std::shared_ptr<Allocation>> variables;
};

} // namespace pi::cuda::simulated
