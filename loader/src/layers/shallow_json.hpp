// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON of somebody else's: what is nested deep would be printed and freed by recursion.
#pragma once

#include <string>

namespace pi::loader {

/// What the text says; discarded() if it is no JSON, or `deep`: nested deeper than max_depth.
template <typename Json>
Json parse_shallow(const std::string &text, int max_depth, bool &deep) {
    deep = false;
    Json content = Json::parse(
        text,
        [&](int depth, typename Json::parse_event_t, Json &) {
            deep = deep || depth > max_depth;
            return !deep;
        },
        false);
    return deep ? Json(Json::value_t::discarded) : content;
}

} // namespace pi::loader
