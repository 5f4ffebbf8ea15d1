// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of piMemImport and piMemExport that plugins with file descriptors share.
#pragma once

#include <pi/sdk/address.hpp>
#include <pi/sdk/memory.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ios>
#include <string>

namespace pi::sdk {

inline constexpr uint32_t external_bit(pi_external_type type) {
    return 1u << type;
}

/// PI_ERROR_INVALID_ENUMERATION unless it is a PI_EXTERNAL_ type.
inline void check_external_type(pi_external_type type, const ArgumentName &name) {
    enforce<checks::check_external_type>(type, name);
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

/// Reads and checks an import's descriptor; the result's offset counts from the start of the memory
/// that the handle names.
inline pi_mem_import_desc read_import(const pi_mem_import_desc *desc) {
    auto known = read_desc(desc, PI_TYPE_MEM_IMPORT_DESC);
    enforce<checks::check_import>(known);
    known.offset += known.handle.offset;
    return known;
}

/// The first byte of an import of a host pointer.
inline std::byte *import_pointer(const pi_mem_import_desc &desc) {
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
