// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptors as pi.h defines them: smaller ones are extended by zeros, larger ones accepted if their
// unknown tail is zero.
#pragma once

#include "error.hpp"

#include <algorithm>
#include <cstring>

namespace pi::loader {

/// Copies an input descriptor into `out`. No chained descriptor is known here: one that may not be
/// ignored is refused.
template <typename Descriptor>
pi_result read_descriptor(const char *function, const char *argument, const Descriptor *desc,
                          pi_struct_type type, Descriptor &out) noexcept {
    if (desc == nullptr)
        return fail(PI_ERROR_INVALID_NULL_POINTER, "{}: {} is NULL", function, argument);
    if (desc->struct_size < sizeof(pi_struct_header))
        return fail(PI_ERROR_INVALID_DESCRIPTOR,
                    "{}: {}->struct_size is {}, should be sizeof the struct ({})", function,
                    argument, desc->struct_size, sizeof(Descriptor));
    if (desc->type != type)
        return fail(PI_ERROR_INVALID_DESCRIPTOR, "{}: {}->type is {}, should be {}", function,
                    argument, desc->type, type);
    const auto *bytes = reinterpret_cast<const unsigned char *>(desc);
    for (std::size_t i = sizeof(Descriptor); i < desc->struct_size; ++i) {
        if (bytes[i] != 0)
            return fail(
                PI_ERROR_UNSUPPORTED_FEATURE,
                "{}: {} has {} bytes, of which {} are known, and byte {} beyond is not zero",
                function, argument, desc->struct_size, sizeof(Descriptor), i);
    }
    for (auto *next = static_cast<const pi_struct_header *>(desc->next); next != nullptr;
         next = static_cast<const pi_struct_header *>(next->next)) {
        if ((next->type & PI_TYPE_MAY_IGNORE_BIT) == 0)
            return fail(PI_ERROR_UNSUPPORTED_FEATURE, "{}: {} chains the unknown type {}", function,
                        argument, next->type);
    }
    out = Descriptor{};
    std::memcpy(static_cast<void *>(&out), desc,
                std::min<std::size_t>(sizeof(Descriptor), desc->struct_size));
    out.struct_size = sizeof(Descriptor);
    if constexpr (requires { out.reserved; }) {
        if (out.reserved != 0)
            return fail(PI_ERROR_UNSUPPORTED_FEATURE, "{}: {}->reserved is {}, should be 0",
                        function, argument, out.reserved);
    }
    return PI_SUCCESS;
}

/// Refuses flags that are not in `known`.
inline pi_result check_flags(const char *function, uint64_t flags, uint64_t known) noexcept {
    if ((flags & ~known) != 0)
        return fail(PI_ERROR_UNSUPPORTED_FEATURE, "{}: flags has the unknown bits {:#x}", function,
                    flags & ~known);
    return PI_SUCCESS;
}

} // namespace pi::loader
