// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "glob.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace pi::suite {
namespace {

// For each position in the pattern, its end included: whether the text so far can match up to it.
std::vector<bool> places_after(std::string_view pattern, std::string_view text) {
    std::vector<bool> places(pattern.size() + 1);
    places[0] = true;
    const auto step_over_stars = [&](std::vector<bool> &all) {
        for (std::size_t i = 0; i < pattern.size(); ++i) {
            if (all[i] && pattern[i] == '*')
                all[i + 1] = true;
        }
    };
    step_over_stars(places);
    for (const char c : text) {
        std::vector<bool> next(pattern.size() + 1);
        for (std::size_t i = 0; i < pattern.size(); ++i) {
            if (!places[i])
                continue;
            if (pattern[i] == '*')
                next[i] = true;
            else if (pattern[i] == '?' || pattern[i] == c)
                next[i + 1] = true;
        }
        step_over_stars(next);
        places = std::move(next);
    }
    return places;
}

} // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
    return places_after(pattern, text).back();
}

bool glob_matches_beginning(std::string_view pattern, std::string_view text) {
    const std::vector<bool> places = places_after(pattern, text);
    return std::find(places.begin(), places.end(), true) != places.end();
}

} // namespace pi::suite
