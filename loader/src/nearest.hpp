// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a misspelt word may mean.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pi::loader {

/// The most similar of some words; "" if none is similar. `text_of`: the text of an element.
template <typename Words, typename Text = std::identity>
std::string nearest(std::string_view word, const Words &words, Text text_of = {}) {
    std::string_view best;
    std::size_t least = 1 + word.size() / 3; // more letters are another word
    for (const auto &each : words) {
        const std::string_view candidate = std::invoke(text_of, each);
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
    return std::string(best);
}

} // namespace pi::loader
