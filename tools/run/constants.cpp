// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "constants.hpp"

#include <pi/pi.h>

#include <string>

namespace pi_run {
namespace {

struct Constant {
    std::string_view name;
    int64_t value;
};

constexpr Constant constants[] = {
#define PI_CONSTANT(name) {#name, int64_t{name}},
#include "constants.inc" // made from pi.h
};

const Constant *find(const std::string &name) {
    for (const Constant &constant : constants) {
        if (constant.name == name)
            return &constant;
    }
    return nullptr;
}

} // namespace

std::optional<int64_t> find_constant(std::string_view name) {
    for (const char *const prefix : {"", "PI_"}) {
        if (const Constant *const found = find(prefix + std::string(name)))
            return found->value;
    }
    return std::nullopt;
}

std::optional<int32_t> find_result(std::string_view name) {
    for (const char *const prefix : {"PI_ERROR_", "PI_", ""}) {
        const Constant *const found = find(prefix + std::string(name));
        if (found != nullptr &&
            (found->name == "PI_SUCCESS" || found->name.starts_with("PI_ERROR_")))
            return static_cast<int32_t>(found->value);
    }
    return std::nullopt;
}

} // namespace pi_run
