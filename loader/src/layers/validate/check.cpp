// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "check.hpp"

namespace pi::loader::validate {

std::string text_of(const Name &name) {
    std::string text = name.argument;
    if (name.index >= 0)
        text += fmt::format("[{}]", name.index);
    if (name.member[0] != '\0')
        text += fmt::format("{}{}", name.index >= 0 ? "." : "", name.member);
    if (name.member_index >= 0)
        text += fmt::format("[{}]", name.member_index);
    return text;
}

} // namespace pi::loader::validate
