// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables of native functions (pi_native_kernel.h), passed by address or in a shared object.
#pragma once

#include <pi/pi_native_kernel.h>
#include <pi/sdk/error.hpp>
#include <pi/sdk/file.hpp>

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace pi::sdk {

/// A kernel of a program.
struct NativeKernel {
    std::string name;
    pi_native_function function;
    uint32_t argument_count;
};

/// A variable of a native library.
struct Variable {
    std::byte *begin;
    uint64_t size;
    bool writable; ///< not constant data
};

/// The application's shared object with native kernels. Closed once the program and its kernels are
/// destroyed.
class KernelLibrary {
public:
    /// PI_ERROR_INVALID_BINARY, with the system's reason, if it cannot be opened or lacks
    /// piNativeProgram.
    explicit KernelLibrary(const std::string &path);
    const pi_native_program *program() const { return program_; }
    /// PI_ERROR_INVALID_NAME unless the library itself exports such a variable; a library that it
    /// depends on does not count.
    Variable variable(const char *name) const;

private:
    struct Close {
        void operator()(void *library) const;
    };
    std::unique_ptr<void, Close> library_;
    const pi_native_program *program_;
    const void *program_symbol_; ///< piNativeProgram; identifies the library's own symbols
};

namespace detail {

inline void check_kernel(const pi_native_kernel &kernel, uint32_t index,
                         const std::vector<NativeKernel> &before) {
    const auto refuse = [&](const char *why) {
        fail(PI_ERROR_INVALID_BINARY, "kernels[", index, "] ",
             kernel.name ? text('"', kernel.name, "\" ") : "", why);
    };
    if (!kernel.name || !*kernel.name)
        refuse("has no name");
    if (std::strchr(kernel.name, ';'))
        refuse("has a ';' in its name, which separates names in lists");
    if (!kernel.function)
        refuse("has no function");
    if (kernel.reserved ||
        std::any_of(std::begin(kernel.reserved_words), std::end(kernel.reserved_words),
                    [](uint64_t word) { return word != 0; }))
        refuse("has a reserved word that is not 0");
    for (const NativeKernel &other : before)
        if (other.name == kernel.name)
            refuse("has the name of a kernel before it");
}

inline std::vector<NativeKernel> read_table(const pi_native_program &table) {
    if (table.struct_size < sizeof table)
        fail(PI_ERROR_INVALID_BINARY, "the pi_native_program has struct_size ", table.struct_size,
             "; ", sizeof table, " is needed");
    if (table.struct_size > sizeof table) {
        const auto *bytes = reinterpret_cast<const std::byte *>(&table);
        if (std::any_of(bytes + sizeof table, bytes + table.struct_size,
                        [](std::byte byte) { return byte != std::byte{0}; }))
            fail(PI_ERROR_INVALID_BINARY, "the pi_native_program has struct_size ",
                 table.struct_size, " and says more than this plugin knows, ", sizeof table,
                 " bytes");
    }
    if (!table.kernel_count || !table.kernels)
        fail(PI_ERROR_INVALID_BINARY, "the pi_native_program has kernel_count ", table.kernel_count,
             table.kernels ? "" : " and kernels NULL", "; at least one kernel is needed");
    std::vector<NativeKernel> kernels;
    for (uint32_t i = 0; i < table.kernel_count; ++i) {
        const pi_native_kernel &kernel = table.kernels[i];
        check_kernel(kernel, i, kernels);
        kernels.push_back({kernel.name, kernel.function, kernel.argument_count});
    }
    return kernels;
}

/// Whether a loaded object's segments make this address writable.
inline bool is_writable(uintptr_t address) {
    struct Search {
        uintptr_t address;
        bool writable = false;
    } search{address};
    dl_iterate_phdr(
        [](dl_phdr_info *object, size_t, void *data) {
            auto &wanted = *static_cast<Search *>(data);
            bool in_data = false, in_relro = false;
            for (const ElfW(Phdr) *segment = object->dlpi_phdr,
                                  *end = object->dlpi_phdr + object->dlpi_phnum;
                 segment != end; ++segment) {
                const bool inside =
                    wanted.address - object->dlpi_addr - segment->p_vaddr < segment->p_memsz;
                in_data |= inside && segment->p_type == PT_LOAD && segment->p_flags & PF_W;
                in_relro |= inside && segment->p_type == PT_GNU_RELRO;
            }
            wanted.writable = in_data && !in_relro;
            return static_cast<int>(in_data);
        },
        &search);
    return search.writable;
}

} // namespace detail

inline void KernelLibrary::Close::operator()(void *library) const {
    dlclose(library);
}

inline KernelLibrary::KernelLibrary(const std::string &path)
    : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) {
        const std::string reason = dlerror();
        require_descriptors("cannot open the native library ", path);
        fail(PI_ERROR_INVALID_BINARY, "cannot open the native library ", path, ": ", reason);
    }
    const auto function =
        reinterpret_cast<decltype(&::piNativeProgram)>(dlsym(library_.get(), "piNativeProgram"));
    if (!function)
        fail(PI_ERROR_INVALID_BINARY, path, " exports no function piNativeProgram");
    program_symbol_ = reinterpret_cast<const void *>(function);
    program_ = function();
    if (!program_)
        fail(PI_ERROR_INVALID_BINARY, "piNativeProgram of ", path, " returned NULL");
}

inline Variable KernelLibrary::variable(const char *name) const {
    const auto refuse = [&](const char *why) {
        fail(PI_ERROR_INVALID_NAME, "the program's library ", why, " \"", name, '"');
    };
    Dl_info symbol{}, library{};
    ElfW(Sym) *entry = nullptr;
    void *address = dlsym(library_.get(), name);
    if (!address || !dladdr1(address, &symbol, reinterpret_cast<void **>(&entry), RTLD_DL_SYMENT) ||
        !dladdr(program_symbol_, &library) || symbol.dli_fbase != library.dli_fbase ||
        symbol.dli_saddr != address || !entry)
        refuse("exports no variable");
    if (ELF64_ST_TYPE(entry->st_info) != STT_OBJECT || !entry->st_size)
        refuse("exports a symbol that is not a variable,");
    return {static_cast<std::byte *>(address), entry->st_size,
            detail::is_writable(reinterpret_cast<uintptr_t>(address))};
}

/// The functions of one program, and their library, if any.
class NativeCode {
public:
    /// Reads a program's descriptor: the address of a table, or the path of a shared object.
    /// PI_ERROR_INVALID_BINARY with the reason.
    explicit NativeCode(const pi_program_desc &desc);

    /// PI_ERROR_INVALID_NAME, listing the names that exist.
    const NativeKernel &kernel(const char *name) const;
    /// PI_ERROR_INVALID_NAME if there is none; PI_ERROR_UNSUPPORTED_FEATURE for a table, which has
    /// no variables.
    Variable variable(const char *name) const;
    /// Separated by ';'.
    std::string kernel_names() const;

private:
    std::unique_ptr<const KernelLibrary> library_;
    std::vector<NativeKernel> kernels_;
};

inline NativeCode::NativeCode(const pi_program_desc &desc) {
    const pi_native_program *table = nullptr;
    if (desc.format == PI_PROGRAM_FORMAT_NATIVE_LIBRARY) {
        const std::string path(static_cast<const char *>(desc.data), desc.size);
        if (path.find('\0') != std::string::npos)
            fail(PI_ERROR_INVALID_VALUE, "data is a path with a 0 inside: size counts it without");
        library_ = std::make_unique<KernelLibrary>(path);
        table = library_->program();
    } else {
        table = static_cast<const pi_native_program *>(desc.data);
        if (desc.size < sizeof table->struct_size || desc.size != table->struct_size)
            fail(PI_ERROR_INVALID_SIZE, "size is ", desc.size,
                 "; for a native table it is the pi_native_program's struct_size");
    }
    kernels_ = detail::read_table(*table);
}

inline const NativeKernel &NativeCode::kernel(const char *name) const {
    for (const NativeKernel &kernel : kernels_)
        if (kernel.name == name)
            return kernel;
    fail(PI_ERROR_INVALID_NAME, "the program has no kernel \"", name, "\"; it has ",
         kernel_names());
}

inline Variable NativeCode::variable(const char *name) const {
    if (!library_)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "\"", name,
             "\" cannot be looked up: the program is a table of functions, only a "
             "PI_PROGRAM_FORMAT_NATIVE_LIBRARY has variables");
    return library_->variable(name);
}

inline std::string NativeCode::kernel_names() const {
    std::string names;
    for (const NativeKernel &kernel : kernels_)
        names += (names.empty() ? "" : ";") + kernel.name;
    return names;
}

} // namespace pi::sdk
