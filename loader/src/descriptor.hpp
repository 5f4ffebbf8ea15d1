// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptors as pi.h defines them: smaller ones are extended by zeros, larger ones accepted if
// their unknown tail is zero.
#pragma once

#include "enumerators.hpp"
#include "error.hpp"

#include <algorithm>
#include <cstring>

namespace pi::loader {

/// Copies an input descriptor into `out`. Chained descriptors are refused unless they may be
/// ignored.
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
                    argument, name_struct_type(desc->type), name_struct_type(type));
    const auto *bytes = reinterpret_cast<const unsigned char *>(desc);
    for (std::size_t i = sizeof(Descriptor); i < desc->struct_size; ++i) {
        if (bytes[i] != 0)
            return fail(
                PI_ERROR_UNSUPPORTED_FEATURE,
                "{}: {}->struct_size is {}, of which this loader knows {} bytes; byte {} is {}, "
                "should be 0",
                function, argument, desc->struct_size, sizeof(Descriptor), i, bytes[i]);
    }
    for (auto *next = static_cast<const pi_struct_header *>(desc->next); next != nullptr;
         next = static_cast<const pi_struct_header *>(next->next)) {
        if ((next->type & PI_TYPE_MAY_IGNORE_BIT) == 0)
            return fail(PI_ERROR_UNSUPPORTED_FEATURE, "{}: {}->next: {} is not accepted here",
                        function, argument, name_struct_type(next->type));
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
        return fail(PI_ERROR_UNSUPPORTED_FEATURE,
                    "{}: flags is {:#x}, with the unknown bits {:#x}; known are {:#x}", function,
                    flags, flags & ~known, known);
    return PI_SUCCESS;
}

} // namespace pi::loader
