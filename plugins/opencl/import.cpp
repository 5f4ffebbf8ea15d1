// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The application's memory used in place, which OpenCL never promises: it is tried.
#include "entries.hpp"
#include "memory.hpp"

#include <pi/sdk/descriptor.hpp>

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
    auto *pointer = static_cast<std::byte *>(require(desc.handle.pointer, "handle.pointer"));
    pointer += desc.offset;
    check_allocation(device, desc.size);
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
    parts.alignment = pointer_alignment(pointer);
    parts.host_pointer = pointer;
    parts.kind = PI_MEMORY_KIND_IMPORTED;
    return make<Mem>(context, device, std::move(parts));
}

} // namespace

namespace entries {

pi_result PI_CALL piMemImport(pi_context context, pi_device device, const pi_mem_import_desc *desc,
                              pi_mem *out_mem) {
    return call<Context>(context, [&](Context &self) {
        Device &on = self.checked_device(device);
        const auto known = read_desc(desc, PI_TYPE_MEM_IMPORT_DESC);
        require(out_mem, "out_mem");
        check_flags(known.flags, PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY, "flags");
        check_access(known.flags);
        if (known.handle.type < PI_EXTERNAL_HOST_POINTER || known.handle.type > PI_EXTERNAL_ZE_IPC)
            fail(PI_ERROR_INVALID_ENUMERATION, "handle.type ", known.handle.type,
                 " is no PI_EXTERNAL_ type");
        if (known.handle.type != PI_EXTERNAL_HOST_POINTER)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "handle.type is ", known.handle.type,
                 "; only PI_EXTERNAL_HOST_POINTER can be imported here");
        *out_mem = import_pointer(self, on, known).give();
    });
}

} // namespace entries
} // namespace pi::opencl
