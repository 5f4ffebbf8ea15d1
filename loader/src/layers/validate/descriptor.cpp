// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "descriptor.hpp"

#include "enumerators.hpp"

namespace pi::loader::validate {
namespace {

constexpr pi_struct_type newest_type = PI_TYPE_HOST_EVENT_DESC;

} // namespace

void check_header(Check &check, const char *argument, const pi_struct_header &header,
                  pi_struct_type type, std::size_t size) noexcept {
    if (header.struct_size < sizeof(pi_struct_header))
        check.refuse(PI_ERROR_INVALID_DESCRIPTOR, {argument, -1, "->struct_size"},
                     "is {}; sizeof the struct, {}, is needed", header.struct_size, size);
    else if (header.type != type)
        check.refuse(PI_ERROR_INVALID_DESCRIPTOR, {argument, -1, "->type"}, "is {}; {} is needed",
                     checks::name_struct_type(header.type), checks::name_struct_type(type));
}

void check_unknown(Check &check, const char *argument, const pi_struct_header &header,
                   std::size_t size, pi_struct_type chained) noexcept {
    const auto *bytes = reinterpret_cast<const unsigned char *>(&header);
    for (std::size_t i = size; i < header.struct_size; ++i) {
        if (bytes[i] != 0) {
            check.refuse(PI_ERROR_UNSUPPORTED_FEATURE, {argument, -1, "->struct_size"},
                         "is {}, of which pi.h knows {} bytes; byte {} is {} and must be 0",
                         header.struct_size, size, i, bytes[i]);
            return;
        }
    }
    for (auto *link = static_cast<const pi_struct_header *>(header.next); link != nullptr;
         link = static_cast<const pi_struct_header *>(link->next)) {
        if (link->type <= newest_type && link->type != chained) {
            check.refuse(PI_ERROR_UNSUPPORTED_FEATURE, {argument, -1, "->next"},
                         "leads to {}, which is not accepted here; {}",
                         checks::name_struct_type(link->type),
                         chained != PI_TYPE_NONE
                             ? fmt::format("{} is possible", checks::name_struct_type(chained))
                             : std::string("no type of pi.h is"));
            return;
        }
    }
}

} // namespace pi::loader::validate
