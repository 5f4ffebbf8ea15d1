// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of piMemImport and piMemExport that plugins with file descriptors share.
#pragma once

#include <pi/sdk/address.hpp>
#include <pi/sdk/memory.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ios>
#include <iterator>
#include <string>

namespace pi::sdk {

inline constexpr uint32_t external_bit(pi_external_type type) {
    return 1u << type;
}

/// PI_ERROR_INVALID_ENUMERATION unless it is a PI_EXTERNAL_ type.
inline void check_external_type(pi_external_type type, const char *name) {
    if (type < PI_EXTERNAL_HOST_POINTER || type > PI_EXTERNAL_ZE_IPC)
        fail(PI_ERROR_INVALID_ENUMERATION, name, " is ", type,
             ", which is not a PI_EXTERNAL_ type");
}

/// Checks what every buffer with export_types requires, whatever the types. Only memory of scope 0
/// is exported.
inline void check_export_requirements(const pi_mem_buffer_desc &desc) {
    if (!desc.export_types)
        return;
    if (desc.flags & PI_MEM_USE_HOST_PTR)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "export_types with PI_MEM_USE_HOST_PTR: only memory of the plugin can be exported");
    if (desc.scope)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "export_types with scope ", desc.scope,
             ": memory of scope 0 is exported");
}

/// PI_ERROR_UNSUPPORTED_FEATURE for an import whose type is not in `types`, those of the device of
/// this name.
inline void check_import_type(pi_external_type type, uint32_t types, const std::string &device) {
    if (!(types & external_bit(type)))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "handle.type is ", type, "; ", device,
             " imports the types 0x", std::hex, types, " (1 << PI_EXTERNAL_)");
}

/// Checks `own` of an import where PI_EXTERNAL_NATIVE is accepted: only such a handle may change
/// its owner.
inline void check_import_own(const pi_mem_import_desc &desc) {
    if (desc.own > (desc.handle.type == PI_EXTERNAL_NATIVE ? 1u : 0u))
        fail(PI_ERROR_INVALID_VALUE, "own is ", desc.own,
             "; 0 is needed, or 1 for PI_EXTERNAL_NATIVE");
}

/// Reads an import's descriptor; the result's offset counts from the start of the memory that the
/// handle names.
inline pi_mem_import_desc read_import(const pi_mem_import_desc *desc) {
    auto known = read_desc(desc, PI_TYPE_MEM_IMPORT_DESC);
    const pi_external_handle &handle = known.handle;
    if (handle.flags || std::any_of(std::begin(handle.reserved), std::end(handle.reserved),
                                    [](uint64_t word) { return word != 0; }))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "handle's flags or reserved words are not 0");
    if (known.offset > UINT64_MAX - handle.offset)
        fail(PI_ERROR_INVALID_SIZE, "offset is ", known.offset, " and handle.offset ",
             handle.offset, ": no memory is so long");
    known.offset += handle.offset;
    return known;
}

/// Checks the parts of an import that do not depend on its type.
inline void check_import_range(const pi_mem_import_desc &desc) {
    check_flags(desc.flags, mem_access_flags, "flags");
    check_mem_access(desc.flags);
    if (!desc.size)
        fail(PI_ERROR_INVALID_SIZE, "size is 0 bytes; at least 1 is needed");
}

/// As check_import_range, for an import of a host pointer or of a file descriptor.
inline void check_import(const pi_mem_import_desc &desc) {
    check_import_range(desc);
    if (desc.own)
        fail(PI_ERROR_INVALID_VALUE, "own is ", desc.own,
             "; a host pointer or file stays the application's, so it must be 0");
}

/// The first byte of an import of a host pointer.
inline std::byte *import_pointer(const pi_mem_import_desc &desc) {
    require(desc.handle.pointer, "handle.pointer");
    check_pointer_range(desc.handle.pointer, desc.offset, desc.size);
    return static_cast<std::byte *>(desc.handle.pointer) + desc.offset;
}

/// Exports a copy of `file`, the descriptor that the memory was created with for this type. For -1,
/// memory without one, throws PI_ERROR_INVALID_OPERATION.
template <class Mem>
pi_external_handle export_file(const Mem &mem, pi_external_type type, int file) {
    if (file < 0)
        fail(PI_ERROR_INVALID_OPERATION,
             "mem was created without this type in its export_types: a buffer that is to be "
             "exported must say so then");
    const int copy = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        fail(PI_ERROR_OUT_OF_RESOURCES, "duplicating a file descriptor: ", std::strerror(errno));
    pi_external_handle handle{};
    handle.type = type;
    handle.fd = copy;
    handle.offset = mem.offset();
    handle.size = mem.size();
    struct stat status {};
    if (fstat(copy, &status) == 0)
        handle.allocation_size =
            static_cast<uint64_t>(status.st_size); // 0 for a dma-buf: not known
    return handle;
}

} // namespace pi::sdk
