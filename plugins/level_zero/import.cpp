// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Import of existing memory: the application's host memory, handles of other drivers or processes,
// and the driver's memory by its address.
#include "entries.hpp"
#include "memory.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/external.hpp>
#include <pi/sdk/native_handle.hpp>
#include <pi/sdk/region.hpp>

#include <unistd.h>

namespace pi::level_zero {

using namespace sdk;

namespace {

Ref<Mem> make_buffer(Context &context, Device &device, Storage storage,
                     const pi_mem_import_desc &desc, uint32_t scope,
                     pi_memory_kind kind = PI_MEMORY_KIND_BUFFER) {
    pi_mem_buffer_desc as_buffer{};
    as_buffer.flags = desc.flags;
    as_buffer.size = desc.size;
    as_buffer.scope = scope;
    return make<Mem>(context, device, std::move(storage), as_buffer, kind);
}

Ref<Mem> import_pointer(Context &context, Device &device, const pi_mem_import_desc &desc) {
    std::byte *begin = sdk::import_pointer(desc);
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t has = alignment_of(begin, page);
    if (has < page || desc.size % page)
        fail(PI_ERROR_MISALIGNED_POINTER, "pointer and offset give ", static_cast<void *>(begin),
             ", aligned to ", has, " bytes, and size is ", desc.size, "; ", device.name(),
             " uses whole pages in place: multiples of ", page);
    Place &place = context.place(device);
    place.require_alive();
    return make_buffer(context, device, Storage::borrow(place, begin, desc.size), desc,
                       SCOPE_GLOBAL, PI_MEMORY_KIND_IMPORTED);
}

Ref<Mem> import_file(Context &context, Device &device, const pi_mem_import_desc &desc) {
    if (desc.handle.fd < 0)
        fail(PI_ERROR_INVALID_VALUE, "handle.fd is ", desc.handle.fd,
             "; an open file descriptor is needed");
    Place &place = context.place(device);
    place.require_alive();
    return make_buffer(
        context, device,
        Storage::import_file(place, desc.handle.type, desc.handle.fd, desc.offset, desc.size), desc,
        SCOPE_GLOBAL);
}

Ref<Mem> import_ipc(Context &context, Device &device, const pi_mem_import_desc &desc) {
    Place &place = context.place(device);
    place.require_alive();
    return make_buffer(context, device,
                       Storage::open_ipc(place, desc.handle.ipc, desc.offset, desc.size), desc,
                       SCOPE_GLOBAL);
}

Ref<Mem> import_native(Context &context, Device &device, const pi_mem_import_desc &desc) {
    if (desc.handle.native.type == PI_NATIVE_LEVEL_ZERO)
        fail(PI_ERROR_INVALID_NATIVE_HANDLE,
             "handle.native is of type PI_NATIVE_LEVEL_ZERO, as an image's: a ze_image_handle_t "
             "cannot be queried, so only memory is imported, by its address "
             "(PI_NATIVE_LEVEL_ZERO_POINTER)");
    const uint64_t value = native_pointer(desc.handle.native, PI_NATIVE_LEVEL_ZERO_POINTER,
                                          "PI_NATIVE_LEVEL_ZERO_POINTER");
    auto *const handle = reinterpret_cast<std::byte *>(static_cast<uintptr_t>(value));
    Place &place = context.place(device);
    place.require_alive();
    const KnownMemory known = find_memory(place, handle);
    if (known.type == ZE_MEMORY_TYPE_UNKNOWN)
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "handle.native.value[0] is ",
             static_cast<void *>(handle), "; the driver has no memory there");
    if (known.type == ZE_MEMORY_TYPE_SHARED)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "handle.native is a shared allocation, which migrates between the host and devices; "
             "device and host allocations can be imported");
    if (known.type == ZE_MEMORY_TYPE_DEVICE && known.device != device.id())
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "handle.native is memory of the ze_device_handle_t ",
             known.device, ", not of ", device.name(), " (", device.id(), ')');
    const auto into = static_cast<uint64_t>(handle - known.begin);
    check_range(desc.offset, desc.size, known.size - into, "handle.native");
    if (desc.own && into)
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "own is 1, but handle.native is ", into,
             " bytes into its allocation: only a whole allocation can be owned");
    const bool host = known.type == ZE_MEMORY_TYPE_HOST;
    const auto own = std::make_shared<bool>(false);
    Ref<Mem> mem = make_buffer(context, device,
                               Storage::around(place, known.begin, into + desc.offset, host, own),
                               desc, host ? SCOPE_HOST_PINNED : SCOPE_GLOBAL);
    *own = desc.own; // no step after this can fail
    return mem;
}

} // namespace

uint32_t import_types(const Device &device) {
    return external_bit(PI_EXTERNAL_NATIVE) | external_bit(PI_EXTERNAL_ZE_IPC) |
           device.import_files() |
           (device.imports_host_pointers() ? external_bit(PI_EXTERNAL_HOST_POINTER) : 0);
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
                          : known.handle.type == PI_EXTERNAL_ZE_IPC       ? import_ipc
                                                                          : import_file;
        *out_mem = take(self, on, known).give();
    });
}

} // namespace entries
} // namespace pi::level_zero
