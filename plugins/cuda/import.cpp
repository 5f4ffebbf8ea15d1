// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Import of existing memory: the application's host memory, handles that others export, and CUDA
// memory by its address.
#include "entries.hpp"
#include "memory.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/external.hpp>
#include <pi/sdk/native_handle.hpp>
#include <pi/sdk/region.hpp>

namespace pi::cuda {

using namespace sdk;

namespace {

Ref<Mem> import_pointer(Context &context, Device &device, const pi_mem_import_desc &desc) {
    std::byte *begin = sdk::import_pointer(desc);
    const uint64_t needed = device.host_pointer_alignment(), has = alignment_of(begin, needed);
    if (has < needed || desc.size % needed)
        fail(PI_ERROR_MISALIGNED_POINTER, "pointer and offset give ", static_cast<void *>(begin),
             ", aligned to ", has, " bytes, and size is ", desc.size, "; ", device.name(),
             " uses whole pages in place: multiples of ", needed);
    Primary &primary = context.primary(device);
    primary.require_alive();
    Storage storage = Storage::borrow(primary, begin, desc.size);
    pi_mem_buffer_desc as_buffer{};
    as_buffer.flags = desc.flags;
    as_buffer.size = desc.size;
    return make<Mem>(context, device, std::move(storage), as_buffer,
                     pi_memory_kind{PI_MEMORY_KIND_IMPORTED});
}

Ref<Mem> import_file(Context &context, Device &device, const pi_mem_import_desc &desc) {
    if (desc.handle.fd < 0)
        fail(PI_ERROR_INVALID_VALUE, "handle.fd is ", desc.handle.fd,
             "; an open file descriptor is needed");
    Primary &primary = context.primary(device);
    primary.require_alive();
    pi_mem_buffer_desc as_buffer{};
    as_buffer.flags = desc.flags;
    as_buffer.size = desc.size;
    return make<Mem>(context, device,
                     Storage::import(primary, desc.handle.fd, desc.offset, desc.size), as_buffer,
                     pi_memory_kind{PI_MEMORY_KIND_BUFFER});
}

Ref<Mem> import_ipc(Context &context, Device &device, const pi_mem_import_desc &desc) {
    Primary &primary = context.primary(device);
    primary.require_alive();
    pi_mem_buffer_desc as_buffer{};
    as_buffer.flags = desc.flags;
    as_buffer.size = desc.size;
    return make<Mem>(context, device,
                     Storage::open(primary, desc.handle.ipc, desc.offset, desc.size), as_buffer,
                     pi_memory_kind{PI_MEMORY_KIND_BUFFER});
}

/// Asks the driver about an address. If it has no answer, `value` keeps its value.
template <class T>
bool ask_pointer(const Api &cu, CUdeviceptr address, CUpointer_attribute name, T &value) {
    T answer{};
    if (cu.cuPointerGetAttribute(&answer, name, address) != CUDA_SUCCESS)
        return false;
    value = answer;
    return true;
}

/// The memory range that contains a CUdeviceptr.
struct NativeRange {
    CUdeviceptr begin = 0;
    size_t size = 0;
    NativeKind kind = NativeKind::OF_CONTEXT;
};

NativeRange find_native(Primary &primary, CUdeviceptr address) {
    const Api &cu = primary.api();
    const Device &device = primary.device();
    NativeRange range;
    unsigned type = 0, managed = 0;
    if (!ask_pointer(cu, address, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, type) ||
        !ask_pointer(cu, address, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, range.begin) ||
        !ask_pointer(cu, address, CU_POINTER_ATTRIBUTE_RANGE_SIZE, range.size))
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "handle.native.value[0] is ",
             reinterpret_cast<void *>(address), "; the driver has no memory there");
    if (ask_pointer(cu, address, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed) && managed)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "handle.native is managed memory, which belongs to no single device; device memory "
             "and pinned host memory can be imported");
    CUcontext context = nullptr; // it stays NULL for memory of a pool, and for virtual memory
    ask_pointer(cu, address, CU_POINTER_ATTRIBUTE_CONTEXT, context);
    int ordinal = device.id();
    ask_pointer(cu, address, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, ordinal);
    const bool here = ordinal == device.id() && (!context || context == primary.id());
    if (type == CU_MEMORYTYPE_HOST)
        range.kind = NativeKind::HOST;
    else if (!context)
        range.kind = NativeKind::GRANTED_APART;
    if (range.kind != NativeKind::HOST && !here)
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "handle.native is memory of device ", ordinal,
             " of CUDA in the CUcontext ", context, ", not of ", device.name(),
             "'s primary one (device ", device.id(), ", ", primary.id(), ')');
    return range;
}

Ref<Mem> import_native(Context &context, Device &device, const pi_mem_import_desc &desc) {
    const CUdeviceptr handle =
        native_pointer(desc.handle.native, PI_NATIVE_CUDA_POINTER, "PI_NATIVE_CUDA_POINTER");
    Primary &primary = context.primary(device);
    primary.require_alive();
    const NativeRange range = find_native(primary, handle);
    check_range(desc.offset, desc.size, range.size - (handle - range.begin), "handle.native");
    if (desc.own && handle != range.begin)
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "own is 1, but handle.native is ",
             handle - range.begin,
             " bytes into its allocation: only a whole allocation can be owned");
    const auto own = std::make_shared<bool>(false);
    Storage storage = Storage::around(primary, handle, desc.offset, range.kind, own);
    pi_mem_buffer_desc as_buffer{};
    as_buffer.flags = desc.flags;
    as_buffer.size = desc.size;
    as_buffer.scope = range.kind == NativeKind::HOST ? SCOPE_HOST_PINNED : SCOPE_GLOBAL;
    Ref<Mem> mem = make<Mem>(context, device, std::move(storage), as_buffer,
                             pi_memory_kind{PI_MEMORY_KIND_BUFFER});
    *own = desc.own; // no step after this can fail
    return mem;
}

} // namespace

uint32_t import_types(const Device &device) {
    // CUDA exports dma-bufs, but does not import them.
    return external_bit(PI_EXTERNAL_NATIVE) |
           (export_types(device) & ~external_bit(PI_EXTERNAL_DMA_BUF_FD)) |
           (device.imports_host_memory() ? external_bit(PI_EXTERNAL_HOST_POINTER) : 0);
}

namespace entries {

pi_result PI_CALL piMemImport(pi_context context, pi_device device, const pi_mem_import_desc *desc,
                              pi_mem *out_mem) {
    return call<Context>(context, [&](Context &self) {
        Device &on = self.checked_device(device);
        const auto known = read_import(desc);
        require(out_mem, "out_mem");
        check_import_type(known.handle.type, import_types(on), on.name());
        const auto take = known.handle.type == PI_EXTERNAL_NATIVE         ? import_native
                          : known.handle.type == PI_EXTERNAL_HOST_POINTER ? import_pointer
                          : known.handle.type == PI_EXTERNAL_CUDA_IPC     ? import_ipc
                                                                          : import_file;
        *out_mem = take(self, on, known).give();
    });
}

} // namespace entries
} // namespace pi::cuda
