// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumerators of pi.h by name, for messages.
#pragma once

#include <pi/describe/checks/enumerators.hpp>

#include <fmt/format.h>

namespace pi::loader {

using checks::name_argument_kind;
using checks::name_memory_kind;
using checks::name_struct_type;
using checks::name_usm_kind;

} // namespace pi::loader

/// "PI_USM_SHARED (3)", a value without a name "7". Formatting allocates nothing.
template <>
struct fmt::formatter<pi::checks::Enumerator> {
    constexpr auto parse(format_parse_context &context) { return context.begin(); }

    template <typename Context>
    auto format(const pi::checks::Enumerator &enumerator, Context &context) const {
        if (enumerator.name == nullptr)
            return fmt::format_to(context.out(), "{}", enumerator.value);
        return fmt::format_to(context.out(), "{} ({})", enumerator.name, enumerator.value);
    }
};
