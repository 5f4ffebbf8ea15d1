// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The application's memory used in place, which OpenCL never promises: it is tried.
#include "entries.hpp"
#include "native.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/external.hpp>
#include <pi/sdk/memory.hpp>
#include <pi/sdk/region.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

namespace pi::opencl {

using namespace sdk;

namespace {

/// Waits for one vendor's command that was just enqueued.
void complete(const Api &api, cl_command_queue queue, cl_event event) {
    const EventOwner owner(api, event);
    check(api.clFlush(queue), "clFlush");
    check(api.clWaitForEvents(1, &event), "clWaitForEvents");
}

/// Maps and unmaps [0, size); returns the address.
void *map_once(const Api &api, cl_command_queue queue, cl_mem mem, uint64_t size,
               const std::function<void()> &meanwhile = {}) {
    cl_event event = nullptr;
    cl_int code = CL_SUCCESS;
    void *address = api.clEnqueueMapBuffer(queue, mem, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                           size, 0, nullptr, &event, &code);
    check(code, "clEnqueueMapBuffer");
    complete(api, queue, event);
    if (meanwhile)
        meanwhile();
    check(api.clEnqueueUnmapMemObject(queue, mem, address, 0, nullptr, &event),
          "clEnqueueUnmapMemObject");
    complete(api, queue, event);
    return address;
}

/// Whether the device works on this memory itself. That a map gives the same address proves nothing (it must); that
/// the device's writes are there *without* a map does.
bool is_in_place(const Api &api, cl_context context, cl_command_queue queue, std::byte *memory,
                 size_t size) {
    std::memset(memory, 0x11, size);
    cl_int code = CL_SUCCESS;
    const MemOwner mem(api, api.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                               size, memory, &code));
    if (code != CL_SUCCESS)
        return false;
    cl_event event = nullptr;
    const uint8_t pattern = 0x22;
    check(api.clEnqueueFillBuffer(queue, mem.get(), &pattern, 1, 0, size, 0, nullptr, &event),
          "clEnqueueFillBuffer");
    complete(api, queue, event);
    const auto all = [&](uint8_t value) {
        return std::all_of(memory, memory + size,
                           [value](std::byte b) { return static_cast<uint8_t>(b) == value; });
    };
    if (!all(pattern))
        return false;
    const void *address =
        map_once(api, queue, mem.get(), size, [&] { std::memset(memory, 0x33, size); });
    std::vector<uint8_t> seen(size);
    check(api.clEnqueueReadBuffer(queue, mem.get(), CL_FALSE, 0, size, seen.data(), 0, nullptr,
                                  &event),
          "clEnqueueReadBuffer");
    complete(api, queue, event);
    return address == memory && std::count(seen.begin(), seen.end(), 0x33) == std::ptrdiff_t(size);
}

std::optional<uint64_t> probe(const Device &device) {
    const Api &api = device.api();
    const cl_device_id id = device.id();
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(device.platform().id()), 0};
    cl_int code = CL_SUCCESS;
    const ContextOwner context(api,
                               api.clCreateContext(properties, 1, &id, nullptr, nullptr, &code));
    check(code, "clCreateContext");
    const QueueOwner queue = create_vendor_queue(device, context.get(), 0);

    constexpr size_t page = 4096;
    std::vector<std::byte> memory(4 * page);
    auto *aligned = memory.data() + (page - reinterpret_cast<uintptr_t>(memory.data()) % page);
    for (const uint64_t alignment : std::array<uint64_t, 4>{1, 16, 64, page}) {
        // An address and a size with this alignment and no more.
        const size_t size = alignment < page ? page / 2 + alignment : page;
        if (is_in_place(api, context.get(), queue.get(), aligned + alignment % page, size))
            return alignment;
    }
    return std::nullopt;
}

} // namespace

std::optional<uint64_t> Device::import_alignment() {
    std::lock_guard lock(import_mutex_);
    if (!import_known_ && integrated_) {
        try {
            const auto submission = submission_lock();
            import_alignment_ = probe(*this);
        } catch (...) {
            instance().log(PI_LOG_WARNING, "importing host memory into " + name_ +
                                               " was tried and failed: " + current_error().text());
        }
    }
    import_known_ = true;
    return import_alignment_;
}

namespace {

Ref<Mem> import_pointer(Context &context, Device &device, const pi_mem_import_desc &desc) {
    check_allocation(device, desc.size);
    std::byte *pointer = sdk::import_pointer(desc);
    const auto alignment = device.import_alignment();
    if (!alignment)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(), " does not use host memory in place: ",
             device.integrated()
                 ? "what the device wrote was not there when tried"
                 : "it has memory of its own (CL_DEVICE_HOST_UNIFIED_MEMORY is false)");
    if (reinterpret_cast<uintptr_t>(pointer) % *alignment || desc.size % *alignment)
        fail(PI_ERROR_MISALIGNED_POINTER, "the pointer ", static_cast<void *>(pointer),
             " and the size ", desc.size, " must be multiples of ", *alignment,
             " to be used in place on ", device.name());

    const Api &api = context.api();
    cl_int code = CL_SUCCESS;
    MemOwner vendor(api,
                    api.clCreateBuffer(context.id(), access_flags(desc.flags) | CL_MEM_USE_HOST_PTR,
                                       desc.size, pointer, &code));
    check(code, "clCreateBuffer", desc.size, " bytes at ", static_cast<void *>(pointer), " on ",
          device.name());
    {
        const auto lock = device.submission_lock();
        const cl_command_queue queue = context.private_queue(device, Context::Purpose::MAP);
        const void *mapped = map_once(api, queue, vendor.get(), desc.size);
        if (mapped != pointer)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(), " maps the memory at ",
                 static_cast<void *>(pointer), " to ", mapped, ": it is not used in place");
    }
    Mem::Parts parts;
    parts.vendor = std::move(vendor);
    parts.size = desc.size;
    parts.flags = desc.flags;
    parts.alignment = alignment_of(pointer, page_size);
    parts.host_pointer = pointer;
    parts.kind = PI_MEMORY_KIND_IMPORTED;
    return make<Mem>(context, device, std::move(parts));
}

// ----- a cl_mem -----------------------------------------------------------------------------------

/// What the driver tells of the application's buffer.
struct Brought {
    cl_mem_flags flags;
    uint64_t size;
    cl_mem whole;            ///< the buffer that a sub-buffer is a part of, or itself
    uint64_t offset;         ///< into whole
    std::byte *host_pointer; ///< of whole, with CL_MEM_USE_HOST_PTR
};

Brought ask_buffer(const Context &context, cl_mem vendor) {
    const Api &api = context.api();
    const auto ask = [&]<class T>(T, cl_mem mem, cl_mem_info name) {
        return ask_native<T>(api.clGetMemObjectInfo, "clGetMemObjectInfo", mem, name);
    };
    check_native_context(context, ask(cl_context{}, vendor, CL_MEM_CONTEXT), "cl_mem");
    if (const auto type = ask(cl_mem_object_type{}, vendor, CL_MEM_TYPE);
        type != CL_MEM_OBJECT_BUFFER)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the cl_mem is of type 0x", std::hex, type,
             "; only buffers (CL_MEM_OBJECT_BUFFER, 0x", CL_MEM_OBJECT_BUFFER,
             ") can be imported, no images");
    Brought brought{};
    brought.flags = ask(cl_mem_flags{}, vendor, CL_MEM_FLAGS);
    brought.size = ask(size_t{}, vendor, CL_MEM_SIZE);
    const auto parent = ask(cl_mem{}, vendor, CL_MEM_ASSOCIATED_MEMOBJECT);
    brought.whole = parent ? parent : vendor;
    brought.offset = parent ? ask(size_t{}, vendor, CL_MEM_OFFSET) : 0;
    if (ask(cl_mem_flags{}, brought.whole, CL_MEM_FLAGS) & CL_MEM_USE_HOST_PTR)
        brought.host_pointer = static_cast<std::byte *>(
            ask(static_cast<void *>(nullptr), brought.whole, CL_MEM_HOST_PTR));
    return brought;
}

/// PI_MEM_ for what kernels may do with it: what was asked for, or all that the buffer allows.
uint64_t access_of(const Brought &brought, uint64_t asked) {
    const uint64_t allowed = brought.flags & CL_MEM_READ_ONLY    ? uint64_t{PI_MEM_READ_ONLY}
                             : brought.flags & CL_MEM_WRITE_ONLY ? uint64_t{PI_MEM_WRITE_ONLY}
                                                                 : 0;
    if (asked && allowed && asked != allowed)
        fail(PI_ERROR_INVALID_VALUE, "flags asks for more access than the cl_mem has (",
             allowed == PI_MEM_READ_ONLY ? "CL_MEM_READ_ONLY)" : "CL_MEM_WRITE_ONLY)");
    return asked ? asked : allowed;
}

Ref<Mem> import_native(Context &context, Device &device, const pi_mem_import_desc &desc,
                       cl_mem vendor) {
    const Brought brought = ask_buffer(context, vendor);
    check_range(desc.offset, desc.size, brought.size, "the cl_mem");
    Mem::Parts parts;
    parts.size = desc.size;
    parts.flags = access_of(brought, desc.flags);
    parts.whole = brought.whole;
    parts.whole_offset = brought.offset + desc.offset;
    parts.keeps = MemOwner::retained(context.api(), vendor);
    parts.vendor = desc.size == brought.size
                       ? MemOwner::retained(context.api(), vendor)
                       : create_sub_buffer(context, device, brought.whole, desc.flags,
                                           {parts.whole_offset, desc.size});
    const uint64_t of_offset = parts.whole_offset & (~parts.whole_offset + 1);
    parts.alignment = device.min_alignment();
    if (brought.host_pointer) {
        parts.host_pointer = brought.host_pointer + parts.whole_offset;
        parts.alignment = std::min(parts.alignment, alignment_of(parts.host_pointer, page_size));
    } else if (of_offset) {
        parts.alignment = std::min(parts.alignment, of_offset);
    }
    return make<Mem>(context, device, std::move(parts));
}

} // namespace

namespace entries {

pi_result PI_CALL piMemImport(pi_context context, pi_device device, const pi_mem_import_desc *desc,
                              pi_mem *out_mem) {
    return call<Context>(context, [&](Context &self) {
        Device &on = self.checked_device(device);
        const auto known = read_import(desc);
        require(out_mem, "out_mem");
        check_flags(known.flags, mem_access_flags, "flags");
        check_mem_access(known.flags);
        if (known.handle.type < PI_EXTERNAL_HOST_POINTER || known.handle.type > PI_EXTERNAL_ZE_IPC)
            fail(PI_ERROR_INVALID_ENUMERATION, "handle.type ", known.handle.type,
                 " is no PI_EXTERNAL_ type");
        check_import_own(known);
        if (known.handle.type == PI_EXTERNAL_HOST_POINTER)
            *out_mem = import_pointer(self, on, known).give();
        else if (known.handle.type == PI_EXTERNAL_NATIVE)
            create_around<MemOwner, cl_mem>(
                self.api(), from_native(known.handle.native), known.own, out_mem,
                [&](cl_mem vendor) { return import_native(self, on, known, vendor); });
        else
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "handle.type is ", known.handle.type,
                 "; PI_EXTERNAL_HOST_POINTER and _NATIVE can be imported here");
    });
}

} // namespace entries
} // namespace pi::opencl
