// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "image.hpp"
#include "memory.hpp"
#include "simulator/library.hpp"

#include <pi/pi_native_kernel.h>

#include <string>

namespace pi::cuda::simulated {

using drivers::Library;
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
    std::shared_ptr<Libraries> libraries; ///< all of the module's; their functions call each other
};

struct Module {
    CUmodule handle = nullptr;
    std::shared_ptr<Context> context;
    std::shared_ptr<Libraries> libraries;
    std::vector<std::shared_ptr<Function>> functions;
    std::map<std::string, std::shared_ptr<Allocation>> variables;
};

} // namespace pi::cuda::simulated
