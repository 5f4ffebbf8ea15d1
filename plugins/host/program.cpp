// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"

#include "entries.hpp"

#include <pi/sdk/binary.hpp>
#include <pi/sdk/descriptor.hpp>

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>

namespace pi::host {

using sdk::fail;
using sdk::InfoWriter;

// ----- reading the table --------------------------------------------------------------------------

namespace {

void check_kernel(const pi_native_kernel &kernel, uint32_t index,
                  const std::vector<NativeKernel> &before) {
    const auto refuse = [&](const char *why) {
        fail(PI_ERROR_INVALID_BINARY, "kernels[", index, "] ",
             kernel.name ? sdk::text('"', kernel.name, "\" ") : "", why);
    };
    if (!kernel.name || !*kernel.name)
        refuse("has no name");
    if (std::strchr(kernel.name, ';'))
        refuse("has a ';' in its name, which separates names in lists");
    if (!kernel.function)
        refuse("has no function");
    if (kernel.reserved)
        refuse("has a reserved word that is not 0");
    for (const NativeKernel &other : before)
        if (other.name == kernel.name)
            refuse("has the name of a kernel before it");
}

std::vector<NativeKernel> read_table(const pi_native_program &table) {
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

/// Whether a loaded object's segments let this address be written.
bool is_writable(uintptr_t address) {
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

} // namespace

void KernelLibrary::Close::operator()(void *library) const {
    dlclose(library);
}

KernelLibrary::KernelLibrary(const std::string &path)
    : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_)
        fail(PI_ERROR_INVALID_BINARY, "cannot open the native library ", path, ": ", dlerror());
    const auto function =
        reinterpret_cast<decltype(&::piNativeProgram)>(dlsym(library_.get(), "piNativeProgram"));
    if (!function)
        fail(PI_ERROR_INVALID_BINARY, path, " exports no function piNativeProgram");
    program_symbol_ = reinterpret_cast<const void *>(function);
    program_ = function();
    if (!program_)
        fail(PI_ERROR_INVALID_BINARY, "piNativeProgram of ", path, " returned NULL");
}

Variable KernelLibrary::variable(const char *name) const {
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
        refuse("exports what is no variable,");
    return {static_cast<std::byte *>(address), entry->st_size,
            is_writable(reinterpret_cast<uintptr_t>(address))};
}

// ----- Program ------------------------------------------------------------------------------------

void Program::build(const std::vector<Device *> &devices) {
    std::lock_guard lock(mutex_);
    for (const Device *device : devices)
        if (std::find(built_.begin(), built_.end(), device) == built_.end())
            built_.push_back(device);
}

bool Program::is_built(const Device &device) const {
    std::lock_guard lock(mutex_);
    return std::find(built_.begin(), built_.end(), &device) != built_.end();
}

std::vector<pi_device> Program::built_devices() const {
    std::vector<pi_device> handles;
    for (Device *device : context_->devices())
        if (is_built(*device))
            handles.push_back(device->handle());
    return handles;
}

void Program::require_built() const {
    std::lock_guard lock(mutex_);
    if (built_.empty())
        fail(PI_ERROR_INVALID_OPERATION, "the program is not built; call piProgramBuild before");
}

const NativeKernel &Program::kernel(const char *name) const {
    for (const NativeKernel &kernel : kernels_)
        if (kernel.name == name)
            return kernel;
    fail(PI_ERROR_INVALID_NAME, "the program has no kernel \"", name, "\"; it has ",
         kernel_names());
}

Variable Program::variable(const char *name) const {
    if (!library_)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "\"", name,
             "\" cannot be looked up: the program is a table of functions, only a "
             "PI_PROGRAM_FORMAT_NATIVE_LIBRARY has variables");
    return library_->variable(name);
}

std::string Program::kernel_names() const {
    std::string names;
    for (const NativeKernel &kernel : kernels_)
        names += (names.empty() ? "" : ";") + kernel.name;
    return names;
}

// ----- entries ------------------------------------------------------------------------------------

namespace {

void no_binaries(Program &, const InfoWriter &) {
    fail(PI_ERROR_UNSUPPORTED_FEATURE, "a native program has no binaries: it is functions of this "
                                       "process");
}

sdk::Ref<Program> create_program(Context &context, const pi_program_desc &desc) {
    std::unique_ptr<KernelLibrary> library;
    const pi_native_program *table = nullptr;
    if (desc.format == PI_PROGRAM_FORMAT_NATIVE_LIBRARY) {
        const std::string path(static_cast<const char *>(desc.data), desc.size);
        if (path.find('\0') != std::string::npos)
            fail(PI_ERROR_INVALID_VALUE, "data is a path with a 0 inside: size counts it without");
        library = std::make_unique<KernelLibrary>(path);
        table = library->program();
    } else {
        table = static_cast<const pi_native_program *>(desc.data);
        if (desc.size < sizeof table->struct_size || desc.size != table->struct_size)
            fail(PI_ERROR_INVALID_SIZE, "size is ", desc.size,
                 "; for a native table it is the pi_native_program's struct_size");
    }
    return sdk::make<Program>(context, desc.format, std::move(library), read_table(*table));
}

} // namespace

namespace entries {

pi_result PI_CALL program_create(pi_context context, const pi_program_desc *desc,
                                 pi_program *out_program) {
    return sdk::call<Context>(context, [&](Context &self) {
        const pi_program_desc known = sdk::read_desc(desc, PI_TYPE_PROGRAM_DESC);
        sdk::require(out_program, "out_program");
        sdk::check_flags(known.flags, 0, "flags");
        if (known.format < PI_PROGRAM_FORMAT_OPENCL_C ||
            known.format > PI_PROGRAM_FORMAT_NATIVE_LIBRARY)
            fail(PI_ERROR_INVALID_ENUMERATION, "format is ", known.format,
                 ", which is no PI_PROGRAM_FORMAT_");
        if (known.format < PI_PROGRAM_FORMAT_NATIVE_TABLE)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "format is ", known.format,
                 "; the host plugin runs PI_PROGRAM_FORMAT_NATIVE_TABLE (",
                 PI_PROGRAM_FORMAT_NATIVE_TABLE, ") and _NATIVE_LIBRARY (",
                 PI_PROGRAM_FORMAT_NATIVE_LIBRARY, ")");
        sdk::require(known.data, "data");
        if (!known.size)
            fail(PI_ERROR_INVALID_SIZE, "size is 0 bytes; at least 1 is needed");
        *out_program = create_program(self, known).give();
    });
}

pi_result PI_CALL program_build(pi_program program, const pi_program_build_desc *desc) {
    return sdk::call<Program>(program, [&](Program &self) {
        const auto known = sdk::read_optional_desc(desc, PI_TYPE_PROGRAM_BUILD_DESC);
        sdk::check_flags(known.flags, 0, "flags");
        if (known.options && *known.options)
            fail(PI_ERROR_INVALID_VALUE, "options is \"", known.options,
                 "\"; native functions are compiled already, so none can be honoured");
        const std::vector<Device *> devices =
            sdk::read_handles<Device>(self.host(), known.device_count, known.devices, "devices",
                                      [&](Device &device, const sdk::ArgumentName &name) {
                                          self.context().device(device.handle(), name);
                                      });
        self.build(devices.empty() ? self.context().devices() : devices);
    });
}

pi_result PI_CALL program_get_info(pi_program program, pi_program_info name, uint64_t size,
                                   void *value, uint64_t *out_size) {
    static constexpr sdk::InfoRow<Program> rows[] = {
        {PI_PROGRAM_INFO_CONTEXT,
         [](Program &p, const InfoWriter &write) { write(p.context().handle()); }},
        {PI_PROGRAM_INFO_DEVICES,
         [](Program &p, const InfoWriter &write) { write(p.built_devices()); }},
        {PI_PROGRAM_INFO_FORMAT, [](Program &p, const InfoWriter &write) { write(p.format()); }},
        {PI_PROGRAM_INFO_KERNEL_NAMES,
         [](Program &p, const InfoWriter &write) {
             p.require_built();
             write(p.kernel_names());
         }},
        {PI_PROGRAM_INFO_BINARY_SIZES, no_binaries},
        {PI_PROGRAM_INFO_BINARIES, no_binaries},
        {PI_PROGRAM_INFO_REFERENCE_COUNT,
         [](Program &p, const InfoWriter &write) { write(p.reference_count()); }},
    };
    return sdk::call<Program>(
        program, [&](Program &self) { sdk::answer_info(self, rows, name, size, value, out_size); });
}

pi_result PI_CALL program_get_build_info(pi_program program, pi_device device,
                                         pi_program_build_info name, uint64_t size, void *value,
                                         uint64_t *out_size) {
    return sdk::call<Program>(program, [&](Program &self) {
        const Device &on = self.context().device(device);
        const InfoWriter write(size, value, out_size);
        switch (name) {
        case PI_PROGRAM_BUILD_INFO_STATUS:
            return write(uint32_t{self.is_built(on) ? PI_PROGRAM_BUILT : PI_PROGRAM_NOT_BUILT});
        case PI_PROGRAM_BUILD_INFO_LOG:
        case PI_PROGRAM_BUILD_INFO_OPTIONS:
            return write("");
        default:
            fail(PI_ERROR_INVALID_ENUMERATION, "name ", name, " is no build information");
        }
    });
}

pi_result PI_CALL device_select_binary(pi_device device, uint32_t count,
                                       const pi_program_binary *binaries, uint32_t *out_index) {
    static constexpr sdk::BinaryTarget accepted[] = {
        {"native", PI_PROGRAM_FORMAT_NATIVE_TABLE},
        {"native", PI_PROGRAM_FORMAT_NATIVE_LIBRARY},
    };
    return sdk::call<Device>(device, [&](Device &) {
        sdk::require(out_index, "out_index");
        *out_index = sdk::select_binary(accepted, count, binaries);
    });
}

} // namespace entries

} // namespace pi::host
