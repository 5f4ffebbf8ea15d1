// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "memory.hpp"
#include "simulator/image.hpp"
#include "simulator/library.hpp"

#include <pi/pi_native_kernel.h>

#include <array>
#include <optional>
#include <string>

namespace pi::level_zero::simulated {

using drivers::Library, drivers::Parameter, drivers::Pass;
using Libraries = std::vector<std::shared_ptr<Library>>;

struct BuildLog : Object {
    ze_module_build_log_handle_t handle = nullptr;
    std::string text;
};

/// A kernel of a module, as the image lists it.
struct Function {
    std::string name;
    pi_native_function native = nullptr;
    std::vector<Parameter> parameters;
    drivers::Requirements requirements;
};

struct Module : Object {
    ze_module_handle_t handle = nullptr;
    std::shared_ptr<Context> context;
    Device *device = nullptr;
    std::string text; ///< native image
    drivers::Image image;
    Libraries libraries;
    std::vector<Function> functions;
    std::map<std::string, std::shared_ptr<Allocation>> variables;
    std::map<std::string, std::string> unresolved; ///< imports, and the pointers that receive them
};

struct Kernel : Object {
    ze_kernel_handle_t handle = nullptr;
    std::shared_ptr<Context> context;
    std::shared_ptr<Module> module;
    const Function *function = nullptr;
    std::array<unsigned, 3> group_size{1, 1, 1}, offset{};
    ze_kernel_indirect_access_flags_t indirect = 0;
    /// Bytes of each argument; only the size for local memory.
    std::vector<std::optional<std::vector<char>>> values;
};

/// The largest group, and the largest local memory.
constexpr unsigned most_items = 1024;
constexpr size_t most_local = 64 * 1024;
/// The largest number of groups of a cooperative launch.
unsigned most_groups_at_once(const Device &device);

/// The lines of a native image for a SPIR-V module whose kernels and functions are in the library
/// or built in. Throws std::runtime_error.
std::string translate(const void *module, size_t size, const std::string &library);

} // namespace pi::level_zero::simulated
