// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "markup.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <map>
#include <string_view>

namespace pi::suite {
namespace {

using nlohmann::json;

// UTF-8 of whatever a test printed: the JSON library replaces invalid bytes.
std::string valid_utf8(const std::string &text) {
    const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
    return json::parse(quoted).get<std::string>();
}

// Characters that XML does not have: most control characters, and two that are not characters.
bool is_forbidden(std::string_view rest) {
    const auto code = static_cast<unsigned char>(rest[0]);
    return code < 0x20 || code == 0x7F || rest.substr(0, 3) == "\xEF\xBF\xBE" ||
           rest.substr(0, 3) == "\xEF\xBF\xBF";
}

} // namespace

std::string markup(const std::string &text, MarkupIn where) {
    const std::map<char, const char *> entities{{'&', "&amp;"},
                                                {'<', "&lt;"},
                                                {'>', "&gt;"},
                                                {'"', "&quot;"},
                                                {'\r', "&#13;"},
                                                {'\n', where == MarkupIn::text ? "\n" : "&#10;"},
                                                {'\t', where == MarkupIn::text ? "\t" : "&#9;"}};
    const std::string valid = valid_utf8(text);
    std::string out;
    for (std::size_t i = 0; i < valid.size(); ++i) {
        const std::string_view rest = std::string_view(valid).substr(i);
        if (const auto entity = entities.find(valid[i]); entity != entities.end()) {
            out += entity->second;
        } else if (is_forbidden(rest)) {
            out += '?';
            i += rest[0] == '\xEF' ? 2 : 0;
        } else {
            out += valid[i];
        }
    }
    return out;
}

} // namespace pi::suite
