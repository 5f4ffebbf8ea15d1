// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "constants.hpp"

#include "nearest.hpp"

#include <pi/pi.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

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
    for (const char *const prefix : {"", "PI_", "PI_ERROR_"}) {
        if (const Constant *const found = find(prefix + std::string(name)))
            return found->value;
    }
    return std::nullopt;
}

std::string similar_constants(std::string_view name) {
    const std::string end = '_' + std::string(name);
    std::vector<std::string> names;
    std::vector<std::string_view> longer;
    for (const Constant &constant : constants) {
        names.emplace_back(constant.name.substr(3));
        if (constant.name.starts_with("PI_ERROR_"))
            names.emplace_back(constant.name.substr(9));
        if (constant.name.ends_with(end))
            longer.push_back(constant.name.substr(3));
    }
    return longer.empty()
               ? pi::loader::nearest(name.starts_with("PI_") ? name.substr(3) : name, names)
               : fmt::format("{}", fmt::join(longer, ", "));
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
