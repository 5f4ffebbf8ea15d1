// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptors of create calls without a header of their own.
#pragma once

#include <pi/describe/checks/check.hpp>

namespace pi::checks {

/// Each handle of a list once; `error` is the one of its kind.
template <typename Handle>
void check_listed(Check &check, uint32_t count, const Handle *handles, const char *argument,
                  pi_result error) noexcept {
    if (!check.array(count, handles, {argument}))
        return;
    for (uint32_t i = 1; i < count; ++i) {
        for (uint32_t j = 0; j < i; ++j) {
            if (handles[i] == handles[j])
                check.refuse(error, {argument, i}, "is {}, as is {}[{}]; each may be listed once",
                             static_cast<const void *>(handles[i]), argument, j);
        }
    }
}

inline void check_context(Check &check, const pi_context_desc &desc) noexcept {
    if (desc.device_count == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->device_count"}, "is 0; at least 1 is needed");
    check_listed(check, desc.device_count, desc.devices, "desc->devices", PI_ERROR_INVALID_DEVICE);
}

inline void check_device_partition(Check &check, const pi_device_partition_desc &desc) noexcept {
    check.enumeration(desc.kind, PI_ENUMERATOR(PI_PARTITION_EQUALLY),
                      PI_ENUMERATOR(PI_PARTITION_BY_HARDWARE), {"desc->kind"});
    if (desc.kind == PI_PARTITION_BY_COUNTS &&
        check.array(desc.count, desc.counts, {"desc->counts"})) {
        for (uint32_t i = 0; i < desc.count && !check.failed(); ++i) {
            if (desc.counts[i] == 0)
                check.refuse(PI_ERROR_INVALID_SIZE, {"desc->counts", i},
                             "is 0; a sub-device needs at least 1 compute unit");
        }
    }
    if ((desc.kind == PI_PARTITION_EQUALLY || desc.kind == PI_PARTITION_BY_COUNTS) &&
        desc.count == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->count"}, "is 0; at least 1 is needed");
}

/// Only host memory has no device.
inline void check_usm_kind(Check &check, const void *device, pi_usm_kind kind) noexcept {
    check.enumeration(kind, PI_ENUMERATOR(PI_USM_HOST), PI_ENUMERATOR(PI_USM_SHARED),
                      {"desc->kind"});
    if (device == nullptr && kind != PI_USM_HOST)
        check.refuse(PI_ERROR_INVALID_DEVICE, {"device"},
                     "is NULL, but desc->kind is {}; only PI_USM_HOST (1) needs no device",
                     name_usm_kind(kind));
}

/// The size and alignment of an allocation.
inline void check_allocation(Check &check, uint64_t size, uint64_t alignment) noexcept {
    check.some_bytes(size, {"desc->size"});
    check.alignment(alignment, {"desc->alignment"});
}

inline void check_advice(Check &check, pi_usm_advice advice) noexcept {
    check.enumeration(advice, PI_ENUMERATOR(PI_USM_ADVICE_READ_MOSTLY),
                      PI_ENUMERATOR(PI_USM_ADVICE_RESET), {"desc->advice"});
}

/// The address of a fill with a checked pattern.
inline void check_usm_pattern(Check &check, const pi_usm_fill_desc &desc) noexcept {
    if (!check.failed() && reinterpret_cast<uintptr_t>(desc.pointer) % desc.pattern_size != 0)
        check.refuse(PI_ERROR_MISALIGNED_POINTER, {"desc->pointer"},
                     "is {}; a multiple of pattern_size, {}, is needed", desc.pointer,
                     desc.pattern_size);
}

inline void check_program(Check &check, const pi_program_desc &desc) noexcept {
    check.enumeration(desc.format, PI_ENUMERATOR(PI_PROGRAM_FORMAT_OPENCL_C),
                      PI_ENUMERATOR(PI_PROGRAM_FORMAT_NATIVE_LIBRARY), {"desc->format"});
    check.not_null(desc.data, {"desc->data"});
    check.some_bytes(desc.size, {"desc->size"});
}

inline void check_link(Check &check, const pi_program_link_desc &desc) noexcept {
    if (desc.program_count == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->program_count"}, "is 0; at least 1 is needed");
    check_listed(check, desc.program_count, desc.programs, "desc->programs",
                 PI_ERROR_INVALID_PROGRAM);
}

inline void check_binary(Check &check, const Name &element,
                         const pi_program_binary &binary) noexcept {
    check.reserved(binary.reserved, element.at("reserved"));
    for (const uint64_t word : binary.reserved_words)
        check.reserved(word, element.at("reserved_words"));
    check.not_null(binary.target, element.at("target"));
    if (binary.size != 0)
        check.not_null(binary.data, element.at("data"));
}

inline void check_constant(Check &check, const Name &element,
                           const pi_specialization_constant &constant) noexcept {
    check.reserved(constant.reserved, element.at("reserved"));
    check.some_bytes(constant.size, element.at("size"));
    check.not_null(constant.value, element.at("value"));
}

inline void check_connection_query(Check &check, const pi_memory_connection_query &query) noexcept {
    check.enumeration(query.kind, PI_ENUMERATOR(PI_MEMORY_KIND_BUFFER),
                      PI_ENUMERATOR(PI_MEMORY_KIND_IMPORTED), {"query->kind"});
}

/// The arguments of piUsmHostRegister.
inline void check_registration(Check &check, const void *pointer, uint64_t size,
                               uint64_t flags) noexcept {
    check.not_null(pointer, {"pointer"});
    check.some_bytes(size, {"size"});
    check.address_range(pointer, size, {"size"}, "pointer");
    check.flags(flags, 0, {"flags"});
}

inline void check_wait_list(Check &check, uint32_t count, const pi_event *events) noexcept {
    if (count != 0 && events == nullptr)
        check.refuse(PI_ERROR_INVALID_WAIT_LIST, {"wait_list"},
                     "is NULL, but wait_count is {}; that many events, or a count of 0, is needed",
                     count);
}

/// The result of a host event.
inline void check_signal(Check &check, pi_result result) noexcept {
    if (result > 0)
        check.refuse(PI_ERROR_INVALID_VALUE, {"result"},
                     "is {}; PI_SUCCESS (0) or an error is needed", result);
    if (result == PI_ERROR_TIMEOUT || result == PI_ERROR_WOULD_BLOCK)
        check.refuse(PI_ERROR_INVALID_VALUE, {"result"},
                     "is {} ({}), the result of a wait; PI_SUCCESS (0) or another error is needed",
                     result == PI_ERROR_TIMEOUT ? "PI_ERROR_TIMEOUT" : "PI_ERROR_WOULD_BLOCK",
                     result);
}

} // namespace pi::checks
