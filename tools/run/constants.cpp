// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "constants.hpp"

#include <pi/pi.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

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

std::string nearest(std::string_view word, const std::vector<std::string> &words) {
    std::string best;
    std::size_t least = 1 + word.size() / 3; // more letters are another word
    for (const std::string &candidate : words) {
        // Levenshtein's distance.
        std::vector<std::size_t> row(candidate.size() + 1);
        std::iota(row.begin(), row.end(), std::size_t{0});
        for (std::size_t i = 0; i < word.size(); ++i) {
            std::size_t corner = std::exchange(row[0], i + 1);
            for (std::size_t k = 0; k < candidate.size(); ++k) {
                const std::size_t change = corner + (word[i] != candidate[k] ? 1 : 0);
                corner = std::exchange(row[k + 1], std::min({change, row[k] + 1, row[k + 1] + 1}));
            }
        }
        if (row.back() < least || (row.back() == least && best.empty())) {
            least = row.back();
            best = candidate;
        }
    }
    return best;
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
    return longer.empty() ? nearest(name.starts_with("PI_") ? name.substr(3) : name, names)
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
