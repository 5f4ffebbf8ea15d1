// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An OpenCL layer that gives devices with shared virtual memory another way to USM. Behind Intel's
// extension is the driver's shared virtual memory, which the application does not see.
#include "../answer.hpp"
#include "config.hpp"

#include <iterator>
#include <map>
#include <mutex>

namespace simulated {

namespace {

struct Allocation {
    size_t size;
    cl_device_id device; ///< a root; NULL for host memory
};

struct Layer {
    cl_icd_dispatch table{};
    const cl_icd_dispatch *below = nullptr;
    UsmConfig config;
    std::mutex mutex; ///< guards what follows
    std::map<const std::byte *, Allocation> allocations;
    std::string failing;
};
Layer &layer() {
    // Never destroyed: threads of the driver may still call while the process exits.
    static Layer *const one = new Layer;
    return *one;
}
const cl_icd_dispatch &below() {
    return *layer().below;
}

/// Whether the call is the one that a test wants to fail.
bool fails(const char *name) {
    const std::lock_guard lock(layer().mutex);
    if (layer().failing != name)
        return false;
    layer().failing.clear();
    return true;
}

cl_device_svm_capabilities svm_of(cl_device_id device) {
    cl_device_svm_capabilities svm = 0;
    below().clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, nullptr);
    return svm;
}

cl_device_id root_of(cl_device_id device) {
    for (cl_device_id parent = device; parent;) {
        device = parent;
        if (below().clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent,
                                    nullptr) != CL_SUCCESS)
            break;
    }
    return device;
}

/// Whether the memory at this address is no allocation, or one that the queue's device can use.
bool accepts(cl_command_queue queue, const void *pointer, bool needs_allocation) {
    cl_device_id device = nullptr;
    below().clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
    const auto *const address = static_cast<const std::byte *>(pointer);
    const std::lock_guard lock(layer().mutex);
    auto found = layer().allocations.upper_bound(address);
    if (found == layer().allocations.begin())
        return !needs_allocation;
    --found;
    if (address - found->first >= static_cast<std::ptrdiff_t>(found->second.size))
        return !needs_allocation;
    return !found->second.device || found->second.device == root_of(device);
}

// ----- The extension -----------------------------------------------------------------------------

void *allocate(const char *name, cl_context context, cl_device_id device, size_t size,
               cl_uint alignment, cl_int *out_code) {
    const bool valid_alignment = !(alignment & (alignment - 1)) && alignment <= sizeof(cl_long16);
    set_code(out_code, !size              ? CL_INVALID_BUFFER_SIZE
                       : !valid_alignment ? CL_INVALID_VALUE
                                          : CL_OUT_OF_RESOURCES);
    if (!size || !valid_alignment || fails(name))
        return nullptr;
    void *const pointer = below().clSVMAlloc(
        context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, size, alignment);
    if (!pointer)
        return nullptr;
    set_code(out_code, CL_SUCCESS);
    const std::lock_guard lock(layer().mutex);
    layer().allocations[static_cast<std::byte *>(pointer)] = {size,
                                                              device ? root_of(device) : nullptr};
    return pointer;
}

void *CL_API_CALL host_alloc(cl_context context, const cl_mem_properties_intel *, size_t size,
                             cl_uint alignment, cl_int *out_code) {
    return allocate("clHostMemAllocINTEL", context, nullptr, size, alignment, out_code);
}
void *CL_API_CALL device_alloc(cl_context context, cl_device_id device,
                               const cl_mem_properties_intel *, size_t size, cl_uint alignment,
                               cl_int *out_code) {
    return allocate("clDeviceMemAllocINTEL", context, device, size, alignment, out_code);
}
void *CL_API_CALL shared_alloc(cl_context context, cl_device_id device,
                               const cl_mem_properties_intel *, size_t size, cl_uint alignment,
                               cl_int *out_code) {
    return allocate("clSharedMemAllocINTEL", context, device, size, alignment, out_code);
}

cl_int CL_API_CALL free_memory(cl_context context, void *pointer) {
    {
        const std::lock_guard lock(layer().mutex);
        if (!layer().allocations.erase(static_cast<std::byte *>(pointer)))
            return pointer ? CL_INVALID_VALUE : CL_SUCCESS;
    }
    below().clSVMFree(context, pointer);
    return fails("clMemFreeINTEL") ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, const void *pointer) {
    return fails("clSetKernelArgMemPointerINTEL")
               ? CL_OUT_OF_RESOURCES
               : below().clSetKernelArgSVMPointer(kernel, index, pointer);
}

cl_int CL_API_CALL copy(cl_command_queue queue, cl_bool blocking, void *dst, const void *src,
                        size_t size, cl_uint count, const cl_event *waits, cl_event *out_event) {
    if (!accepts(queue, dst, false) || !accepts(queue, src, false))
        return CL_INVALID_VALUE;
    return fails("clEnqueueMemcpyINTEL")
               ? CL_OUT_OF_RESOURCES
               : below().clEnqueueSVMMemcpy(queue, blocking, dst, src, size, count, waits,
                                            out_event);
}

cl_int CL_API_CALL fill(cl_command_queue queue, void *dst, const void *pattern, size_t pattern_size,
                        size_t size, cl_uint count, const cl_event *waits, cl_event *out_event) {
    if (!accepts(queue, dst, true))
        return CL_INVALID_VALUE;
    return below().clEnqueueSVMMemFill(queue, dst, pattern, pattern_size, size, count, waits,
                                       out_event);
}

cl_int CL_API_CALL migrate(cl_command_queue queue, const void *pointer, size_t,
                           cl_mem_migration_flags flags, cl_uint count, const cl_event *waits,
                           cl_event *out_event) {
    if (!accepts(queue, pointer, true) || flags != CL_MIGRATE_MEM_OBJECT_HOST)
        return CL_INVALID_VALUE;
    return below().clEnqueueMarkerWithWaitList(queue, count, waits, out_event);
}

struct Function {
    const char *name;
    void *address;
};
template <class Pointer>
Function function(const char *name, Pointer pointer) {
    return {name, reinterpret_cast<void *>(pointer)};
}
const Function functions[] = {
    function("clHostMemAllocINTEL", &host_alloc),
    function("clDeviceMemAllocINTEL", &device_alloc),
    function("clSharedMemAllocINTEL", &shared_alloc),
    function("clMemFreeINTEL", &free_memory),
    function("clSetKernelArgMemPointerINTEL", &set_argument),
    function("clEnqueueMemcpyINTEL", &copy),
    function("clEnqueueMemFillINTEL", &fill),
    function("clEnqueueMigrateMemINTEL", &migrate),
};

void *CL_API_CALL get_address(cl_platform_id platform, const char *name) {
    for (const Function &one : functions)
        if (!std::strcmp(one.name, name))
            return layer().config.mode == UsmMode::INTEL && layer().config.missing != name
                       ? one.address
                       : nullptr;
    return below().clGetExtensionFunctionAddressForPlatform(platform, name);
}

// ----- Devices and kernels -----------------------------------------------------------------------

cl_int answer_extensions(cl_device_id device, size_t size, void *value, size_t *out_size) {
    static const std::string name = "cl_intel_unified_shared_memory";
    std::string words = ask_text(below().clGetDeviceInfo, device, CL_DEVICE_EXTENSIONS) + ' ';
    if (const size_t at = words.find(name + ' '); at != std::string::npos)
        words.erase(at, name.size() + 1);
    if (layer().config.mode == UsmMode::INTEL)
        words += name;
    return answer(words, size, value, out_size);
}

cl_device_svm_capabilities changed_svm(cl_device_id device) {
    constexpr cl_device_svm_capabilities system = CL_DEVICE_SVM_FINE_GRAIN_SYSTEM;
    switch (layer().config.mode) {
    case UsmMode::SYSTEM:
        return svm_of(device) | system;
    case UsmMode::SVM:
        return svm_of(device) & ~system;
    default:
        return 0;
    }
}

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info name, size_t size,
                                   void *value, size_t *out_size) {
    constexpr cl_bitfield access = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL |
                                   CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL |
                                   CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL |
                                   CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL;
    const bool intel = layer().config.mode == UsmMode::INTEL;
    const auto pass_on = [&] {
        return below().clGetDeviceInfo(device, name, size, value, out_size);
    };
    if (!svm_of(device))
        return pass_on();
    switch (name) {
    case CL_DEVICE_NAME:
        return answer(ask_text(below().clGetDeviceInfo, device, name) +
                          " (simulated USM: " + layer().config.name + ')',
                      size, value, out_size);
    case CL_DEVICE_TYPE: // only a CPU's driver is known to create buffers around USM
        return intel ? answer(cl_device_type{CL_DEVICE_TYPE_GPU}, size, value, out_size)
                     : pass_on();
    case CL_DEVICE_EXTENSIONS:
        return answer_extensions(device, size, value, out_size);
    case CL_DEVICE_SVM_CAPABILITIES:
        return answer(changed_svm(device), size, value, out_size);
    case CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL:
    case CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL:
    case CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL:
        return intel ? answer(access, size, value, out_size) : pass_on();
    case CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL:
    case CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL:
        return intel ? answer(cl_bitfield{0}, size, value, out_size) : pass_on();
    default:
        return pass_on();
    }
}

cl_int CL_API_CALL set_exec_info(cl_kernel kernel, cl_kernel_exec_info name, size_t size,
                                 const void *value) {
    if (fails("clSetKernelExecInfo"))
        return CL_OUT_OF_RESOURCES;
    const UsmMode mode = layer().config.mode;
    switch (name) {
    case CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL:
    case CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL:
    case CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL:
        return mode == UsmMode::INTEL && size == sizeof(cl_bool) ? CL_SUCCESS : CL_INVALID_VALUE;
    case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM:
        return mode == UsmMode::SYSTEM && size == sizeof(cl_bool) ? CL_SUCCESS
                                                                  : CL_INVALID_OPERATION;
    default:
        return mode == UsmMode::SVM ? below().clSetKernelExecInfo(kernel, name, size, value)
                                    : CL_INVALID_OPERATION;
    }
}

/// Memory of the extension has no buffers around it.
cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                                 cl_int *out_code) {
    if (flags & CL_MEM_USE_HOST_PTR) {
        const std::lock_guard lock(layer().mutex);
        if (layer().allocations.count(static_cast<std::byte *>(host))) {
            set_code(out_code, CL_INVALID_HOST_PTR);
            return nullptr;
        }
    }
    return below().clCreateBuffer(context, flags, size, host, out_code);
}

/// Functions of shared virtual memory, of which the devices have none.
template <class Entry>
struct Refused;
template <class Result, class... Arguments>
struct Refused<Result(CL_API_CALL *)(Arguments...)> {
    static Result CL_API_CALL call(Arguments...) {
        if constexpr (std::is_same_v<Result, cl_int>)
            return CL_INVALID_OPERATION;
        else
            return Result();
    }
};
template <class Entry>
void refuse(Entry &entry) {
    entry = Refused<Entry>::call;
}

} // namespace

} // namespace simulated

/// For tests: the next call of this function fails.
extern "C" __attribute__((visibility("default"))) void pi_opencl_usm_fail(const char *name) {
    const std::lock_guard lock(simulated::layer().mutex);
    simulated::layer().failing = name;
}

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL
clGetLayerInfo(cl_layer_info name, size_t size, void *value, size_t *out_size) {
    return simulated::answer_layer_info("PI's simulated USM", name, size, value, out_size);
}

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL
clInitLayer(cl_uint entry_count, const cl_icd_dispatch *below, cl_uint *out_entry_count,
            const cl_icd_dispatch **out_table) {
    using namespace simulated;
    return init_layer(layer(), entry_count, below, out_entry_count, out_table, [](auto &table) {
        layer().config = read_usm_config();
        table.clCreateBuffer = create_buffer;
        table.clGetDeviceInfo = get_device_info;
        table.clGetExtensionFunctionAddressForPlatform = get_address;
        table.clSetKernelExecInfo = set_exec_info;
        if (layer().config.mode != UsmMode::INTEL)
            return;
        refuse(table.clSVMAlloc);
        refuse(table.clSVMFree);
        refuse(table.clEnqueueSVMMemcpy);
        refuse(table.clEnqueueSVMMemFill);
        refuse(table.clSetKernelArgSVMPointer);
    });
}
