// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "usm_driver.hpp"
#include "kernel.hpp"
#include "submission.hpp"

#include <algorithm>
#include <new>

namespace pi::opencl {

using namespace sdk;

namespace {

constexpr cl_bitfield ACCESS = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL;
constexpr cl_bitfield CONCURRENT = CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL;
constexpr cl_bitfield ATOMIC = CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL |
                               CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL;
constexpr const char *intel_extension = "cl_intel_unified_shared_memory";

/// 0 if the platform or the device is older than OpenCL 2.0.
cl_device_svm_capabilities svm_capabilities(const Platform &platform, cl_device_id device) {
    const Api &cl = platform.api();
    if (platform.api_version() < 200 || !cl.clSVMAlloc || !cl.clSVMFree || !cl.clEnqueueSVMMemcpy ||
        !cl.clEnqueueSVMMemFill || !cl.clSetKernelArgSVMPointer || !cl.clSetKernelExecInfo)
        return 0;
    cl_device_svm_capabilities found = 0;
    if (cl.clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof found, &found, nullptr))
        return 0;
    // Every device with SVM must have coarse-grain buffers.
    return found & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER ? found : 0;
}

/// Sets a flag of the vendor's kernel.
void set_exec_info(const Kernel &kernel, cl_kernel_exec_info name) {
    const cl_bool yes = CL_TRUE;
    check(kernel.api().clSetKernelExecInfo(kernel.id(), name, sizeof yes, &yes),
          "clSetKernelExecInfo", "kernel '", kernel.name(), "', name ", name);
}

/// Whether a buffer around any host address uses its memory: elsewhere nobody promises that of
/// memory that is not from clSVMAlloc.
bool uses_host_memory(const Device &device) {
    return device.type() == PI_DEVICE_TYPE_CPU;
}

/// The kinds for which the vendor's kernel must still be set. Flags stay set: a launch that does
/// not need one may have it.
uint32_t missing_kinds(Kernel &kernel, uint32_t kinds) {
    return kernel.shared() ? kinds : kinds & ~kernel.indirect().kinds;
}

// ----- Shared virtual memory ---------------------------------------------------------------------

/// DEVICE is coarse-grain: only commands and kernels access it, so it is never mapped. HOST and
/// SHARED are fine-grain: the host uses them directly.
class SvmDriver : public UsmDriver {
public:
    explicit SvmDriver(const Platform &platform) : UsmDriver(platform), cl_(platform.api()) {
        set_argument = {"clSetKernelArgSVMPointer", cl_.clSetKernelArgSVMPointer};
        copy = {"clEnqueueSVMMemcpy", cl_.clEnqueueSVMMemcpy};
        fill = {"clEnqueueSVMMemFill", cl_.clEnqueueSVMMemFill};
    }

    UsmAccess access(const Device &device) const override {
        UsmAccess access;
        const auto svm = svm_capabilities(platform_, device.id());
        if (svm)
            access.own[PI_USM_DEVICE] = ACCESS;
        if (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER)
            access.own[PI_USM_HOST] = access.own[PI_USM_SHARED] =
                ACCESS | CONCURRENT | (svm & CL_DEVICE_SVM_ATOMICS ? ATOMIC : 0);
        access.others = access.own;
        if (svm & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM)
            access.system = access.own[PI_USM_SHARED];
        return access;
    }

    std::pair<void *, std::string> allocate(cl_context context, const Device &device,
                                            pi_usm_kind kind, size_t size,
                                            cl_uint alignment) const override {
        cl_svm_mem_flags flags = CL_MEM_READ_WRITE;
        if (kind != PI_USM_DEVICE)
            flags |= CL_MEM_SVM_FINE_GRAIN_BUFFER |
                     (device.usm().own[kind] & ATOMIC ? CL_MEM_SVM_ATOMICS : 0);
        return {cl_.clSVMAlloc(context, flags, size, alignment), "clSVMAlloc failed"};
    }

    void free(cl_context context, void *pointer) const noexcept override {
        cl_.clSVMFree(context, pointer);
    }

    void prefetch(Submission &submission, const void *pointer, size_t size,
                  cl_mem_migration_flags flags) const override {
        // The call exists from OpenCL 2.1 on.
        if (!cl_.clEnqueueSVMMigrateMem || platform_.api_version() < 201)
            return submission.add_marker();
        submission.add("clEnqueueSVMMigrateMem", cl_.clEnqueueSVMMigrateMem, cl_uint{1}, &pointer,
                       &size, flags);
    }

    bool has_buffers(const Device &) const override { return true; }

    /// The vendor's kernel has a list of all allocations, which stays set: that of an earlier
    /// launch may name allocations that have been freed.
    void launch(Kernel &kernel, uint32_t kinds,
                const std::function<void()> &launch) const override {
        Context &context = kernel.context();
        const UsmTable<UsmMemory> &table = context.instance().usm();
        table.with_addresses(&context, [&](const auto &list) {
            const uint64_t now = table.generation();
            Kernel::Indirect &set = kernel.indirect();
            if (kernel.shared() || set.generation != now || kinds & ~set.kinds) {
                set = {kinds | set.kinds, 0}; // should the call fail
                set_list(kernel, list(kinds), context);
                set = {kinds, now};
            }
            launch();
        });
    }

protected:
    const Api &cl_;

private:
    void set_list(const Kernel &kernel, std::vector<void *> addresses, Context &context) const {
        if (addresses.empty())
            addresses.push_back(context.unused_usm());
        check(cl_.clSetKernelExecInfo(kernel.id(), CL_KERNEL_EXEC_INFO_SVM_PTRS,
                                      addresses.size() * sizeof addresses[0], addresses.data()),
              "clSetKernelExecInfo", "kernel '", kernel.name(), "', ", addresses.size(),
              " allocations");
    }
};

/// Where the devices work in the host's memory, at any address: USM is ordinary memory, which
/// kernels access without a list.
class SystemSvmDriver final : public SvmDriver {
public:
    using SvmDriver::SvmDriver;

    std::pair<void *, std::string> allocate(cl_context, const Device &, pi_usm_kind, size_t size,
                                            cl_uint) const override {
        return {::operator new(size, alignment, std::nothrow), "the host has no memory"};
    }
    void free(cl_context, void *pointer) const noexcept override {
        ::operator delete(pointer, alignment);
    }
    void prefetch(Submission &submission, const void *, size_t,
                  cl_mem_migration_flags) const override {
        submission.add_marker();
    }
    bool has_buffers(const Device &device) const override { return uses_host_memory(device); }
    void launch(Kernel &kernel, uint32_t kinds,
                const std::function<void()> &launch) const override {
        if (missing_kinds(kernel, kinds)) {
            set_exec_info(kernel, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM);
            kernel.indirect().kinds = ~0u;
        }
        launch();
    }

private:
    static constexpr std::align_val_t alignment{sizeof(cl_long16)};
};

// ----- Intel's extension -------------------------------------------------------------------------

#define PI_OPENCL_INTEL_USM(X)                                                                     \
    X(clDeviceMemAllocINTEL)                                                                       \
    X(clHostMemAllocINTEL)                                                                         \
    X(clSharedMemAllocINTEL)                                                                       \
    X(clMemFreeINTEL)                                                                              \
    X(clSetKernelArgMemPointerINTEL)                                                               \
    X(clEnqueueMemcpyINTEL)                                                                        \
    X(clEnqueueMemFillINTEL)                                                                       \
    X(clEnqueueMigrateMemINTEL)

struct IntelApi {
#define PI_OPENCL_MEMBER(name) name##_fn name = nullptr;
    PI_OPENCL_INTEL_USM(PI_OPENCL_MEMBER)
#undef PI_OPENCL_MEMBER
};

/// Sets the functions, and returns the name of one that is missing, or NULL.
const char *find_functions(const Platform &platform, IntelApi &intel) {
#define PI_OPENCL_FIND(name)                                                                       \
    if (!(intel.name = platform.extension_function<name##_fn>(#name)))                             \
        return #name;
    PI_OPENCL_INTEL_USM(PI_OPENCL_FIND)
#undef PI_OPENCL_FIND
    return platform.api().clSetKernelExecInfo ? nullptr : "clSetKernelExecInfo";
}

class IntelDriver final : public UsmDriver {
public:
    IntelDriver(const Platform &platform, const IntelApi &intel) : UsmDriver(platform), cl_(intel) {
        set_argument = {"clSetKernelArgMemPointerINTEL", cl_.clSetKernelArgMemPointerINTEL};
        copy = {"clEnqueueMemcpyINTEL", cl_.clEnqueueMemcpyINTEL};
        fill = {"clEnqueueMemFillINTEL", cl_.clEnqueueMemFillINTEL};
    }

    UsmAccess access(const Device &device) const override {
        UsmAccess access;
        if (!device.has_extension(intel_extension))
            return access;
        const auto ask = [&](cl_device_info name) {
            const auto bits = device.get<cl_bitfield>(name);
            return bits & ACCESS ? bits : 0;
        };
        access.own[PI_USM_HOST] = access.others[PI_USM_HOST] =
            ask(CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL);
        access.own[PI_USM_DEVICE] = ask(CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL);
        access.own[PI_USM_SHARED] = ask(CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL);
        access.others[PI_USM_SHARED] = ask(CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL);
        access.system = ask(CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL);
        return access;
    }

    std::pair<void *, std::string> allocate(cl_context context, const Device &device,
                                            pi_usm_kind kind, size_t size,
                                            cl_uint alignment) const override {
        cl_int code = CL_SUCCESS;
        const auto result = [&](const char *call, void *pointer) {
            return std::pair(pointer, pointer ? std::string() : error_text(call, code));
        };
        switch (kind) {
        case PI_USM_HOST:
            return result("clHostMemAllocINTEL",
                          cl_.clHostMemAllocINTEL(context, nullptr, size, alignment, &code));
        case PI_USM_DEVICE:
            return result(
                "clDeviceMemAllocINTEL",
                cl_.clDeviceMemAllocINTEL(context, device.id(), nullptr, size, alignment, &code));
        default:
            return result(
                "clSharedMemAllocINTEL",
                cl_.clSharedMemAllocINTEL(context, device.id(), nullptr, size, alignment, &code));
        }
    }

    void free(cl_context context, void *pointer) const noexcept override {
        if (const cl_int code = cl_.clMemFreeINTEL(context, pointer))
            platform_.instance().log(PI_LOG_WARNING, error_text("clMemFreeINTEL", code));
    }

    void prefetch(Submission &submission, const void *pointer, size_t size,
                  cl_mem_migration_flags flags) const override {
        // It is a hint. The extension refuses migrations to the device, and Intel's driver for CPUs
        // others by chance.
        if (submission.try_add(cl_.clEnqueueMigrateMemINTEL, pointer, size, flags) != CL_SUCCESS)
            submission.add_marker();
    }

    bool has_buffers(const Device &device) const override { return uses_host_memory(device); }

    void launch(Kernel &kernel, uint32_t kinds,
                const std::function<void()> &launch) const override {
        static constexpr std::pair<pi_usm_kind, cl_kernel_exec_info> flags[] = {
            {PI_USM_HOST, CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL},
            {PI_USM_DEVICE, CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL},
            {PI_USM_SHARED, CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL},
        };
        if (const uint32_t missing = missing_kinds(kernel, kinds))
            for (const auto &[kind, flag] : flags)
                if (missing >> kind & 1) {
                    set_exec_info(kernel, flag);
                    kernel.indirect().kinds |= 1u << kind;
                }
        launch();
    }

private:
    const IntelApi cl_;
};

} // namespace

std::unique_ptr<const UsmDriver> find_usm_driver(const Platform &platform,
                                                 const std::vector<cl_device_id> &devices) {
    bool any = false, any_intel = false, all_intel = true, all_system = true;
    for (cl_device_id device : devices) {
        const auto svm = svm_capabilities(platform, device);
        const bool intel =
            lists_extension(query_text(platform.api().clGetDeviceInfo, "clGetDeviceInfo", device,
                                       CL_DEVICE_EXTENSIONS),
                            intel_extension);
        any_intel |= intel;
        if (!svm)
            continue;
        any = true;
        all_intel &= intel;
        cl_bool host_memory = CL_FALSE;
        platform.api().clGetDeviceInfo(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof host_memory,
                                       &host_memory, nullptr);
        all_system &= host_memory && svm & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM;
    }
    if (any_intel && all_intel) {
        IntelApi intel;
        const char *const missing = find_functions(platform, intel);
        if (!missing)
            return std::make_unique<IntelDriver>(platform, intel);
        platform.instance().log(PI_LOG_WARNING,
                                text("devices of ", platform.name(), " have ", intel_extension,
                                     ", but the function ", missing,
                                     " is missing: the extension is not used"));
    }
    if (!any)
        return nullptr;
    if (all_system)
        return std::make_unique<SystemSvmDriver>(platform);
    return std::make_unique<SvmDriver>(platform);
}

UsmMemory::UsmMemory(cl_context context, const Device &device, pi_usm_kind kind, uint64_t size,
                     uint64_t alignment)
    : driver_(*device.platform().usm()), context_(context) {
    // OpenCL promises alignment for its largest type; no allocation is aligned further.
    constexpr uint64_t vendor_alignment = sizeof(cl_long16);
    const uint64_t slack = alignment > vendor_alignment ? alignment : 0;
    const auto [begin, failure] =
        driver_.allocate(context, device, kind, size + slack,
                         static_cast<cl_uint>(std::min(alignment, vendor_alignment)));
    if (!begin)
        fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, failure, ": ", size, " bytes, aligned to ", alignment,
             ", requested on ", device.name());
    begin_ = begin;
    const auto address = reinterpret_cast<uintptr_t>(begin);
    data_ = static_cast<std::byte *>(begin) + (align_up(address, alignment) - address);
}

} // namespace pi::opencl
