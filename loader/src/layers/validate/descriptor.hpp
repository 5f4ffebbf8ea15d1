// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of every descriptor: its header, its chain, its flags and reserved words; then its
// members (check_members).
#pragma once

#include "layers/layers.hpp"
#include "layers/validate/check.hpp"

#include <pi/describe/checks/flags.hpp>

namespace pi::loader::validate {

/// The type of pi.h that a descriptor may chain.
template <typename Desc>
inline constexpr pi_struct_type chained_type = PI_TYPE_NONE;
template <>
inline constexpr pi_struct_type chained_type<pi_mem_buffer_desc> = PI_TYPE_MEM_LAYOUT_DESC;

/// The argument's name.
template <typename Desc>
inline constexpr const char *argument_name = "desc";
template <>
inline constexpr const char *argument_name<pi_memory_connection_query> = "query";
template <>
inline constexpr const char *argument_name<pi_memory_connection_info> = "out_info";

/// The first two words, of a struct that is not NULL.
void check_header(Check &check, const char *argument, const pi_struct_header &header,
                  pi_struct_type type, std::size_t size) noexcept;
/// The bytes after the known members, and the chain. A type that pi.h does not have may be a
/// vendor's: the plugin checks it.
void check_unknown(Check &check, const char *argument, const pi_struct_header &header,
                   std::size_t size, pi_struct_type chained) noexcept;

template <typename Desc>
void check_descriptor(Check &check, const Place &place, const Desc *desc) noexcept {
    constexpr const char *argument = argument_name<Desc>;
    const auto &header = *reinterpret_cast<const pi_struct_header *>(desc);
    Desc own;
    if (header.struct_size != sizeof(Desc) || header.type != type_of<Desc> ||
        header.next != nullptr) {
        check_header(check, argument, header, type_of<Desc>, sizeof(Desc));
        if (check.failed())
            return;
        check_unknown(check, argument, header, sizeof(Desc), chained_type<Desc>);
        if (header.struct_size < sizeof(Desc)) {
            copy_descriptor(desc, type_of<Desc>, own);
            desc = &own;
        }
    }
    check_words(check, *desc, argument);
    if (!check.failed())
        check_members(check, place, *desc);
}

} // namespace pi::loader::validate
