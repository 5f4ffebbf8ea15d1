// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What piMemImport and piMemExport have in common in plugins that take and give file descriptors.
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

/// PI_ERROR_INVALID_ENUMERATION for what is none.
inline void check_external_type(pi_external_type type, const char *name) {
    if (type < PI_EXTERNAL_HOST_POINTER || type > PI_EXTERNAL_ZE_IPC)
        fail(PI_ERROR_INVALID_ENUMERATION, name, " is ", type, ", which is no PI_EXTERNAL_ type");
}

/// Of a buffer that is to be exported: what does not depend on the types. Memory of scope 0 is.
inline void check_export_demand(const pi_mem_buffer_desc &desc) {
    if (!desc.export_types)
        return;
    if (desc.flags & PI_MEM_USE_HOST_PTR)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "export_types with PI_MEM_USE_HOST_PTR: only memory of the plugin can be exported");
    if (desc.scope)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "export_types with scope ", desc.scope,
             ": memory of scope 0 is exported");
}

/// Of an import: PI_ERROR_UNSUPPORTED_FEATURE for a type that is not among those of the device of this name.
inline void check_import_type(pi_external_type type, uint32_t types, const std::string &device) {
    if (!(types & external_bit(type)))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "handle.type is ", type, "; ", device,
             " imports the types 0x", std::hex, types, " (1 << PI_EXTERNAL_)");
}

/// Of an import where PI_EXTERNAL_NATIVE is taken: nothing else is given away.
inline void check_import_own(const pi_mem_import_desc &desc) {
    if (desc.own > (desc.handle.type == PI_EXTERNAL_NATIVE ? 1u : 0u))
        fail(PI_ERROR_INVALID_VALUE, "own is ", desc.own,
             "; 0 is needed, or 1 for PI_EXTERNAL_NATIVE");
}

/// The caller's description of an import, whose offset counts from the begin of what the handle names.
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

/// Of an import: what does not depend on the type.
inline void check_import_range(const pi_mem_import_desc &desc) {
    check_flags(desc.flags, mem_access_flags, "flags");
    check_mem_access(desc.flags);
    if (!desc.size)
        fail(PI_ERROR_INVALID_SIZE, "size is 0 bytes; at least 1 is needed");
}

/// The same of a host pointer or a descriptor.
inline void check_import(const pi_mem_import_desc &desc) {
    check_import_range(desc);
    if (desc.own)
        fail(PI_ERROR_INVALID_VALUE, "own is ", desc.own,
             "; a host pointer or file stays the application's, so it must be 0");
}

/// Where an import of a host pointer begins.
inline std::byte *import_pointer(const pi_mem_import_desc &desc) {
    require(desc.handle.pointer, "handle.pointer");
    check_pointer_range(desc.handle.pointer, desc.offset, desc.size);
    return static_cast<std::byte *>(desc.handle.pointer) + desc.offset;
}

/// Gives a copy of the descriptor that memory was made with for this type, -1 if for none: then
/// PI_ERROR_INVALID_OPERATION.
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
            static_cast<uint64_t>(status.st_size); // of a dma-buf it is 0: not known
    return handle;
}

} // namespace pi::sdk
