// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entries of programs and kernels that plugins with a compiling driver share. (Native
// functions: native_program.hpp.)
//
// A Program has `context()`, `format()`, `devices()` (those it is built for), `kernel_names()`,
// `options()`, a reference count, and
//   void build(const pi_program_build_desc &)      may take long
//   void compile(const pi_program_build_desc &)    likewise; only if the table has piProgramCompile
//   status(const Device &), log(const Device &)    of the newest build
//   void require_built()                           throws unless it is built
//   std::vector<uint64_t> binary_sizes()           one of each of devices(); throws unless built
//   void copy_binaries(uint8_t **targets)          one for each of devices(); NULL: not wanted
// A Kernel is made of (Program &, name) and has `name()`, `argument_count()`, `program()`,
// `context()` and a reference count.
#pragma once

#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/object.hpp>
#include <pi/sdk/trampoline.hpp>

#include <vector>

namespace pi::sdk {

/// The checks of every piProgramCreate that do not depend on the format.
inline pi_program_desc read_program_desc(const pi_program_desc *desc,
                                         const pi_program *out_program) {
    const auto known = read_desc(desc, PI_TYPE_PROGRAM_DESC);
    require(out_program, "out_program");
    enforce<checks::check_program>(known);
    return known;
}

template <class Program>
struct program_entries {
    static pi_result PI_CALL build(pi_program program, const pi_program_build_desc *desc) {
        return call<Program>(program, [&](Program &self) {
            if (CallbackScope::active(self.host()))
                fail(PI_ERROR_WOULD_BLOCK, "building a program inside a callback");
            self.build(read_optional_desc(desc, PI_TYPE_PROGRAM_BUILD_DESC));
        });
    }

    /// For the slot of piProgramCompile. fill() does not set it: only plugins that can link do
    /// (program_link.hpp).
    static pi_result PI_CALL compile(pi_program program, const pi_program_build_desc *desc) {
        return call<Program>(program, [&](Program &self) {
            if (CallbackScope::active(self.host()))
                fail(PI_ERROR_WOULD_BLOCK, "compiling a program inside a callback");
            self.compile(read_optional_desc(desc, PI_TYPE_PROGRAM_BUILD_DESC));
        });
    }

    /// For the slot of piProgramLink, likewise. link_programs(Context &, const pi_program_link_desc
    /// &) makes the program.
    template <class Context, auto link_programs>
    static pi_result PI_CALL link(pi_context context, const pi_program_link_desc *desc,
                                  pi_program *out_program) {
        return call<Context>(context, [&](Context &self) {
            if (CallbackScope::active(self.host()))
                fail(PI_ERROR_WOULD_BLOCK, "linking programs inside a callback");
            const auto known = read_desc(desc, PI_TYPE_PROGRAM_LINK_DESC);
            require(out_program, "out_program");
            *out_program = link_programs(self, known).give();
        });
    }

    static constexpr InfoRow<Program> rows[] = {
        {PI_PROGRAM_INFO_CONTEXT,
         [](Program &p, const InfoWriter &write) { write(p.context().handle()); }},
        {PI_PROGRAM_INFO_DEVICES,
         [](Program &p, const InfoWriter &write) {
             std::vector<pi_device> devices;
             for (auto *device : p.devices())
                 devices.push_back(device->handle());
             write(devices);
         }},
        {PI_PROGRAM_INFO_FORMAT, [](Program &p, const InfoWriter &write) { write(p.format()); }},
        {PI_PROGRAM_INFO_KERNEL_NAMES,
         [](Program &p, const InfoWriter &write) { write(p.kernel_names()); }},
        {PI_PROGRAM_INFO_BINARY_SIZES,
         [](Program &p, const InfoWriter &write) { write(p.binary_sizes()); }},
        {PI_PROGRAM_INFO_REFERENCE_COUNT,
         [](Program &p, const InfoWriter &write) { write(p.reference_count()); }},
    };
    static pi_result PI_CALL get_info(pi_program program, pi_program_info name, uint64_t size,
                                      void *value, uint64_t *out_size) {
        return call<Program>(program, [&](Program &self) {
            if (name == PI_PROGRAM_INFO_BINARIES)
                return write_binaries(self, size, value, out_size);
            answer_info(self, rows, name, size, value, out_size);
        });
    }

    static pi_result PI_CALL get_build_info(pi_program program, pi_device device,
                                            pi_program_build_info name, uint64_t size, void *value,
                                            uint64_t *out_size) {
        return call<Program>(program, [&](Program &self) {
            const auto &on = self.context().checked_device(device);
            const InfoWriter write(size, value, out_size);
            switch (name) {
            case PI_PROGRAM_BUILD_INFO_STATUS:
                return write(self.status(on));
            case PI_PROGRAM_BUILD_INFO_LOG:
                return write(self.log(on));
            case PI_PROGRAM_BUILD_INFO_OPTIONS:
                return write(self.options());
            default:
                fail(PI_ERROR_INVALID_ENUMERATION, "name ", name,
                     " is not a PI_PROGRAM_BUILD_INFO_ query");
            }
        });
    }

    /// Fills the slots of a plugin's table except piProgramCreate.
    static constexpr void fill(pi_dispatch &table) {
        table.piProgramBuild = build;
        table.piProgramRetain = retain_entry<Program>;
        table.piProgramRelease = release_entry<Program>;
        table.piProgramGetInfo = get_info;
        table.piProgramGetBuildInfo = get_build_info;
    }

private:
    /// The value is an array of pointers to the buffers for the bytes.
    static void write_binaries(Program &program, uint64_t size, void *value, uint64_t *out_size) {
        program.require_built();
        const uint64_t needed = program.devices().size() * sizeof(uint8_t *);
        if (value && size < needed)
            fail(PI_ERROR_INVALID_SIZE, "size is ", size, ", this query needs ", needed, " bytes");
        if (!value && !out_size)
            fail(PI_ERROR_INVALID_NULL_POINTER,
                 "value and out_size are both NULL: nothing to answer into");
        if (value)
            program.copy_binaries(static_cast<uint8_t **>(value));
        if (out_size)
            *out_size = needed;
    }
};

template <class Kernel, class Program>
struct kernel_entries {
    static pi_result PI_CALL create(pi_program program, const char *name,
                                    const pi_kernel_desc *desc, pi_kernel *out_kernel) {
        return call<Program>(program, [&](Program &self) {
            require(name, "name");
            check_plain_desc(desc, PI_TYPE_KERNEL_DESC);
            require(out_kernel, "out_kernel");
            *out_kernel = make<Kernel>(self, name).give();
        });
    }

    static constexpr InfoRow<Kernel> rows[] = {
        {PI_KERNEL_INFO_NAME, [](Kernel &k, const InfoWriter &write) { write(k.name()); }},
        {PI_KERNEL_INFO_ARGUMENT_COUNT,
         [](Kernel &k, const InfoWriter &write) { write(uint32_t{k.argument_count()}); }},
        {PI_KERNEL_INFO_PROGRAM,
         [](Kernel &k, const InfoWriter &write) { write(k.program().handle()); }},
        {PI_KERNEL_INFO_CONTEXT,
         [](Kernel &k, const InfoWriter &write) { write(k.context().handle()); }},
        {PI_KERNEL_INFO_REFERENCE_COUNT,
         [](Kernel &k, const InfoWriter &write) { write(k.reference_count()); }},
    };
    static pi_result PI_CALL get_info(pi_kernel kernel, pi_kernel_info name, uint64_t size,
                                      void *value, uint64_t *out_size) {
        return call<Kernel>(
            kernel, [&](Kernel &self) { answer_info(self, rows, name, size, value, out_size); });
    }

    /// Fills the slots of a plugin's table except those of groups and launches.
    static constexpr void fill(pi_dispatch &table) {
        table.piKernelCreate = create;
        table.piKernelRetain = retain_entry<Kernel>;
        table.piKernelRelease = release_entry<Kernel>;
        table.piKernelGetInfo = get_info;
    }
};

} // namespace pi::sdk
