// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs: tables of native functions (pi_native_kernel.h), given by address or by a shared object.
#pragma once

#include "context.hpp"

#include <pi/pi_native_kernel.h>
#include <pi/sdk/object.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace pi::host {

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
    bool writable; ///< not constant
};

/// An application's shared object with native kernels. Closed when the program and its kernels are gone.
class KernelLibrary {
public:
    /// PI_ERROR_INVALID_BINARY with the system's reason when it cannot be opened or is none.
    explicit KernelLibrary(const std::string &path);
    const pi_native_program *program() const { return program_; }
    /// PI_ERROR_INVALID_NAME unless the library itself (not one that it needs) exports a variable of this name.
    Variable variable(const char *name) const;

private:
    struct Close {
        void operator()(void *library) const;
    };
    std::unique_ptr<void, Close> library_;
    const pi_native_program *program_;
    const void *program_symbol_; ///< piNativeProgram, which tells the library's own symbols
};

class Program : public sdk::Object<Program, pi_program> {
public:
    Program(Context &context, pi_program_format format, std::unique_ptr<KernelLibrary> library,
            std::vector<NativeKernel> kernels)
        : Object(context.host()), context_(context), format_(format), library_(std::move(library)),
          kernels_(std::move(kernels)) {}

    Context &context() const { return *context_; }
    pi_program_format format() const { return format_; }

    /// Native functions need no compiler: building only notes for which devices.
    void build(const std::vector<Device *> &devices);
    bool is_built(const Device &device) const;
    /// In the order of the context.
    std::vector<pi_device> built_devices() const;
    /// PI_ERROR_INVALID_OPERATION unless it is built for some device.
    void require_built() const;

    /// PI_ERROR_INVALID_NAME, listing the names that exist.
    const NativeKernel &kernel(const char *name) const;
    /// PI_ERROR_INVALID_NAME if there is none; a program of a table has none at all.
    Variable variable(const char *name) const;
    /// Separated by ';'.
    std::string kernel_names() const;

private:
    const sdk::Ref<Context> context_;
    const pi_program_format format_;
    const std::unique_ptr<KernelLibrary> library_;
    const std::vector<NativeKernel> kernels_;
    mutable std::mutex mutex_;
    std::vector<const Device *> built_; ///< guarded by mutex_
};

} // namespace pi::host
