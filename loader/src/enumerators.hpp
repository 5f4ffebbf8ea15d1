// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumerators of pi.h by name, for messages.
#pragma once

#include <pi/pi.h>

#include <fmt/format.h>

namespace pi::loader {

/// Formats as "PI_USM_SHARED (3)", a value without a name as "7". Formatting allocates nothing.
struct Enumerator {
    const char *name; ///< nullptr: pi.h has no such value
    uint32_t value;
};

#define PI_LOADER_ENUMERATOR(name)                                                                 \
    pi::loader::Enumerator {                                                                       \
#name, name                                                                                \
    }

Enumerator name_struct_type(pi_struct_type type) noexcept;
Enumerator name_memory_kind(pi_memory_kind kind) noexcept;
Enumerator name_usm_kind(pi_usm_kind kind) noexcept;
Enumerator name_argument_kind(pi_argument_kind kind) noexcept;
Enumerator name_addressing(pi_addressing_mode mode) noexcept;
Enumerator name_channel_order(pi_channel_order order) noexcept;
Enumerator name_channel_type(pi_channel_type type) noexcept;

} // namespace pi::loader

template <>
struct fmt::formatter<pi::loader::Enumerator> {
    constexpr auto parse(format_parse_context &context) { return context.begin(); }

    template <typename Context>
    auto format(const pi::loader::Enumerator &enumerator, Context &context) const {
        if (enumerator.name == nullptr)
            return fmt::format_to(context.out(), "{}", enumerator.value);
        return fmt::format_to(context.out(), "{} ({})", enumerator.name, enumerator.value);
    }
};
