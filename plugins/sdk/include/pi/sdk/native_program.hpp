// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs and kernels of plugins that run native functions: the objects and their entries, which
// all of them share.
//
// `Native` is the plugin's side, a class of static members:
//   using Context, Device, Queue                  its objects
//   constexpr const char *plugin                  its name, for messages
//   constexpr uint64_t max_work_group_size        work-items
// and the members that native_launch.hpp requires.
#pragma once

#include <pi/sdk/binary.hpp>
#include <pi/sdk/enqueue.hpp>
#include <pi/sdk/native_code.hpp>

#include <array>
#include <mutex>

namespace pi::sdk {

/// A program: its functions, and the devices that it is built for.
template <class Native>
class NativeProgram : public Object<NativeProgram<Native>, pi_program> {
public:
    using Context = typename Native::Context;
    using Device = typename Native::Device;

    NativeProgram(Context &context, const pi_program_desc &desc)
        : Object<NativeProgram, pi_program>(context.host()), context_(context),
          format_(desc.format), code_(desc) {}

    Context &context() const { return *context_; }
    pi_program_format format() const { return format_; }
    const NativeCode &code() const { return code_; }

    /// Native functions need no compiler: a build only records the devices.
    void build(const std::vector<Device *> &devices) {
        std::vector<const Device *> built(devices.begin(), devices.end());
        std::lock_guard lock(mutex_);
        built_.swap(built);
    }
    /// Those of the newest build.
    std::vector<const Device *> built() const {
        std::lock_guard lock(mutex_);
        return built_;
    }
    bool is_built(const Device &device) const {
        std::lock_guard lock(mutex_);
        return std::find(built_.begin(), built_.end(), &device) != built_.end();
    }
    /// In the context's order.
    std::vector<pi_device> built_devices() const {
        std::vector<pi_device> handles;
        for (Device *device : context_->devices())
            if (is_built(*device))
                handles.push_back(device->handle());
        return handles;
    }
    /// PI_ERROR_INVALID_OPERATION unless it is built for a device.
    void require_built() const {
        std::lock_guard lock(mutex_);
        if (built_.empty())
            fail(PI_ERROR_INVALID_OPERATION,
                 "the program is not built; call piProgramBuild before");
    }
    /// The checks of every query for an address within a program.
    void check_place(pi_device device, const char *name) const {
        const Device &on = context_->device(device);
        require(name, "name");
        require_built();
        if (!is_built(on))
            fail(PI_ERROR_INVALID_OPERATION, "the program is not built for ", on.description());
    }

private:
    const Ref<Context> context_;
    const pi_program_format format_;
    const NativeCode code_;
    mutable std::mutex mutex_;
    std::vector<const Device *> built_; ///< guarded by mutex_
};

/// A function of a program. Has no state: many threads may launch it at once.
template <class Native>
class NativeKernelObject : public Object<NativeKernelObject<Native>, pi_kernel> {
public:
    using Program = NativeProgram<Native>;
    using Device = typename Native::Device;

    NativeKernelObject(Program &program, const NativeKernel &native)
        : Object<NativeKernelObject, pi_kernel>(program.host()), program_(program),
          built_(program.built()), native_(native) {}

    Program &program() const { return *program_; }
    const NativeKernel &native() const { return native_; }
    /// By the build that it was created from.
    bool is_built(const Device &device) const {
        return std::find(built_.begin(), built_.end(), &device) != built_.end();
    }

private:
    const Ref<Program> program_;
    const std::vector<const Device *> built_;
    const NativeKernel &native_; ///< of the program
};

/// The entries of programs and kernels.
template <class Native>
struct native_entries {
    using Context = typename Native::Context;
    using Device = typename Native::Device;
    using Program = NativeProgram<Native>;
    using Kernel = NativeKernelObject<Native>;

    static pi_result PI_CALL program_create(pi_context context, const pi_program_desc *desc,
                                            pi_program *out_program) {
        return call<Context>(context, [&](Context &self) {
            const pi_program_desc known = read_desc(desc, PI_TYPE_PROGRAM_DESC);
            require(out_program, "out_program");
            enforce<checks::check_program>(known);
            if (known.format < PI_PROGRAM_FORMAT_NATIVE_TABLE)
                fail(PI_ERROR_UNSUPPORTED_FEATURE, "format is ", known.format, "; the ",
                     Native::plugin, " plugin runs PI_PROGRAM_FORMAT_NATIVE_TABLE (",
                     PI_PROGRAM_FORMAT_NATIVE_TABLE, ") and _NATIVE_LIBRARY (",
                     PI_PROGRAM_FORMAT_NATIVE_LIBRARY, ")");
            *out_program = make<Program>(self, known).give();
        });
    }

    static pi_result PI_CALL program_build(pi_program program, const pi_program_build_desc *desc) {
        return call<Program>(program, [&](Program &self) {
            const auto known = read_optional_desc(desc, PI_TYPE_PROGRAM_BUILD_DESC);
            if (known.options && *known.options)
                fail(PI_ERROR_INVALID_VALUE, "options is \"", known.options,
                     "\"; native functions are compiled already, so none can be honoured");
            const std::vector<Device *> devices =
                read_handles<Device>(self.host(), known.device_count, known.devices, "devices",
                                     [&](Device &device, const ArgumentName &name) {
                                         self.context().device(device.handle(), name);
                                     });
            self.build(devices.empty() ? self.context().devices() : devices);
        });
    }

    static void no_binaries(Program &, const InfoWriter &) {
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "a native program has no binaries: it is functions of this process");
    }
    static constexpr InfoRow<Program> program_rows[] = {
        {PI_PROGRAM_INFO_CONTEXT,
         [](Program &p, const InfoWriter &write) { write(p.context().handle()); }},
        {PI_PROGRAM_INFO_DEVICES,
         [](Program &p, const InfoWriter &write) { write(p.built_devices()); }},
        {PI_PROGRAM_INFO_FORMAT, [](Program &p, const InfoWriter &write) { write(p.format()); }},
        {PI_PROGRAM_INFO_KERNEL_NAMES,
         [](Program &p, const InfoWriter &write) {
             p.require_built();
             write(p.code().kernel_names());
         }},
        {PI_PROGRAM_INFO_BINARY_SIZES, no_binaries},
        {PI_PROGRAM_INFO_BINARIES, no_binaries},
        {PI_PROGRAM_INFO_REFERENCE_COUNT,
         [](Program &p, const InfoWriter &write) { write(p.reference_count()); }},
    };
    static pi_result PI_CALL program_get_info(pi_program program, pi_program_info name,
                                              uint64_t size, void *value, uint64_t *out_size) {
        return call<Program>(program, [&](Program &self) {
            answer_info(self, program_rows, name, size, value, out_size);
        });
    }

    static pi_result PI_CALL program_get_build_info(pi_program program, pi_device device,
                                                    pi_program_build_info name, uint64_t size,
                                                    void *value, uint64_t *out_size) {
        return call<Program>(program, [&](Program &self) {
            const Device &on = self.context().device(device);
            const InfoWriter write(size, value, out_size);
            switch (name) {
            case PI_PROGRAM_BUILD_INFO_STATUS:
                return write(uint32_t{self.is_built(on) ? PI_PROGRAM_BUILT : PI_PROGRAM_NOT_BUILT});
            case PI_PROGRAM_BUILD_INFO_LOG:
            case PI_PROGRAM_BUILD_INFO_OPTIONS:
                return write("");
            default:
                fail(PI_ERROR_INVALID_ENUMERATION, "name ", name,
                     " is not a PI_PROGRAM_BUILD_INFO_ query");
            }
        });
    }

    static pi_result PI_CALL program_get_function_pointer(pi_program program, pi_device device,
                                                          const char *name, uint64_t *out_address) {
        return call<Program>(program, [&](Program &self) {
            self.check_place(device, name);
            *require(out_address, "out_address") =
                reinterpret_cast<uintptr_t>(self.code().kernel(name).function);
        });
    }

    static pi_result PI_CALL device_select_binary(pi_device device, uint32_t count,
                                                  const pi_program_binary *binaries,
                                                  uint32_t *out_index) {
        static constexpr BinaryTarget accepted[] = {
            {"native", PI_PROGRAM_FORMAT_NATIVE_TABLE},
            {"native", PI_PROGRAM_FORMAT_NATIVE_LIBRARY},
        };
        return call<Device>(device, [&](Device &) {
            require(out_index, "out_index");
            *out_index = select_binary(accepted, count, binaries);
        });
    }

    static pi_result PI_CALL kernel_create(pi_program program, const char *name,
                                           const pi_kernel_desc *desc, pi_kernel *out_kernel) {
        return call<Program>(program, [&](Program &self) {
            require(name, "name");
            check_plain_desc(desc, PI_TYPE_KERNEL_DESC);
            require(out_kernel, "out_kernel");
            self.require_built();
            *out_kernel = make<Kernel>(self, self.code().kernel(name)).give();
        });
    }

    static constexpr InfoRow<Kernel> kernel_rows[] = {
        {PI_KERNEL_INFO_NAME, [](Kernel &k, const InfoWriter &write) { write(k.native().name); }},
        {PI_KERNEL_INFO_ARGUMENT_COUNT,
         [](Kernel &k, const InfoWriter &write) { write(k.native().argument_count); }},
        {PI_KERNEL_INFO_PROGRAM,
         [](Kernel &k, const InfoWriter &write) { write(k.program().handle()); }},
        {PI_KERNEL_INFO_CONTEXT,
         [](Kernel &k, const InfoWriter &write) { write(k.program().context().handle()); }},
        {PI_KERNEL_INFO_REFERENCE_COUNT,
         [](Kernel &k, const InfoWriter &write) { write(k.reference_count()); }},
    };
    static pi_result PI_CALL kernel_get_info(pi_kernel kernel, pi_kernel_info name, uint64_t size,
                                             void *value, uint64_t *out_size) {
        return call<Kernel>(kernel, [&](Kernel &self) {
            answer_info(self, kernel_rows, name, size, value, out_size);
        });
    }

    // A native function does not describe itself: local memory comes with its arguments, and
    // private memory is on the thread's stack.
    static constexpr InfoRow<Kernel> group_rows[] = {
        {PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE,
         [](Kernel &, const InfoWriter &write) { write(uint64_t{Native::max_work_group_size}); }},
        {PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE,
         [](Kernel &, const InfoWriter &write) { write(std::array<uint64_t, 3>{}); }},
        {PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE,
         [](Kernel &, const InfoWriter &write) { write(uint64_t{0}); }},
        {PI_KERNEL_GROUP_INFO_PRIVATE_MEMORY_SIZE,
         [](Kernel &, const InfoWriter &write) { write(uint64_t{0}); }},
        {PI_KERNEL_GROUP_INFO_PREFERRED_GROUP_MULTIPLE,
         [](Kernel &, const InfoWriter &write) { write(uint64_t{1}); }},
    };
    static pi_result PI_CALL kernel_get_group_info(pi_kernel kernel, pi_device device,
                                                   pi_kernel_group_info name, uint64_t size,
                                                   void *value, uint64_t *out_size) {
        return call<Kernel>(kernel, [&](Kernel &self) {
            self.program().context().device(device);
            answer_info(self, group_rows, name, size, value, out_size);
        });
    }

    // Each work-item is a sub-group: a native function does its own vectorization.
    static constexpr InfoRow<Kernel> sub_group_rows[] = {
        {PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE,
         [](Kernel &, const InfoWriter &write) { write(uint32_t{1}); }},
        {PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT,
         [](Kernel &, const InfoWriter &write) {
             write(static_cast<uint32_t>(Native::max_work_group_size));
         }},
        {PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE,
         [](Kernel &, const InfoWriter &write) { write(uint32_t{0}); }},
    };
    static pi_result PI_CALL kernel_get_sub_group_info(pi_kernel kernel, pi_device device,
                                                       pi_kernel_sub_group_info name, uint64_t size,
                                                       void *value, uint64_t *out_size) {
        return call<Kernel>(kernel, [&](Kernel &self) {
            self.program().context().device(device);
            answer_info(self, sub_group_rows, name, size, value, out_size);
        });
    }

    using Platform = std::remove_reference_t<decltype(std::declval<Context &>().platform())>;
    static pi_result PI_CALL platform_get_backend_option(pi_platform platform,
                                                         const char *frontend_option, uint64_t size,
                                                         char *value, uint64_t *out_size) {
        return call<Platform>(platform, [&](Platform &) {
            require(frontend_option, "frontend_option");
            InfoWriter(size, value, out_size)(""); // native functions are already compiled
        });
    }

    /// Fills the slots of a plugin's table except launches.
    static constexpr void fill(pi_dispatch &table) {
        table.piPlatformGetBackendOption = platform_get_backend_option;
        table.piDeviceSelectBinary = device_select_binary;
        table.piProgramCreate = program_create;
        table.piProgramBuild = program_build;
        table.piProgramRetain = retain_entry<Program>;
        table.piProgramRelease = release_entry<Program>;
        table.piProgramGetInfo = program_get_info;
        table.piProgramGetBuildInfo = program_get_build_info;
        table.piProgramGetFunctionPointer = program_get_function_pointer;
        table.piKernelCreate = kernel_create;
        table.piKernelRetain = retain_entry<Kernel>;
        table.piKernelRelease = release_entry<Kernel>;
        table.piKernelGetInfo = kernel_get_info;
        table.piKernelGetGroupInfo = kernel_get_group_info;
        table.piKernelGetSubGroupInfo = kernel_get_sub_group_info;
    }
};

} // namespace pi::sdk
