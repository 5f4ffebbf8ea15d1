// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Imports that use the application's memory in place. OpenCL never promises that: the plugin tries
// it.
#include "entries.hpp"
#include "native.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/external.hpp>
#include <pi/sdk/memory.hpp>
#include <pi/sdk/region.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <sys/mman.h>

namespace pi::opencl {

using namespace sdk;

namespace {

/// Pages that the system allocates when they are first touched: a trial of any size is cheap if the
/// driver copies nothing.
class Pages {
public:
    explicit Pages(size_t size)
        : size_(size), begin_(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        if (begin_ == MAP_FAILED)
            fail(PI_ERROR_OUT_OF_HOST_MEMORY, "mmap: ", size,
                 " bytes to try whether host memory is used in place");
    }
    Pages(const Pages &) = delete;
    ~Pages() { munmap(begin_, size_); }
    std::byte *begin() const { return static_cast<std::byte *>(begin_); }

private:
    const size_t size_;
    void *const begin_;
};

/// Trials use the plugin's own memory, never the application's, which others may be using.
class Trial {
public:
    explicit Trial(const Device &device)
        : device_(device), context_(create_context(device)),
          queue_(create_vendor_queue(device, context_.get(), 0)) {}

    /// Whether the device itself works on memory of this size and exactly this alignment. An equal
    /// address from a map proves nothing (it must be equal); that the device's writes are visible
    /// *without* a map does. False also if the driver refuses such a buffer; then `out_code` is its
    /// code.
    bool in_place(uint64_t size, uint64_t alignment, cl_int *out_code = nullptr) const {
        const Pages pages(size + page_size);
        std::byte *const memory = pages.begin() + alignment % page_size;
        const Api &api = device_.api();
        cl_int code = CL_SUCCESS;
        const MemOwner mem(api, api.clCreateBuffer(context_.get(),
                                                   CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size,
                                                   memory, &code));
        if (out_code)
            *out_code = code;
        return code == CL_SUCCESS && writes_reach_host(mem.get(), memory, size) &&
               writes_reach_device(mem.get(), memory, size);
    }

private:
    static ContextOwner create_context(const Device &device) {
        const cl_device_id id = device.id();
        const cl_context_properties properties[] = {
            CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(device.platform().id()),
            0};
        cl_int code = CL_SUCCESS;
        ContextOwner context(device.api(), device.api().clCreateContext(properties, 1, &id, nullptr,
                                                                        nullptr, &code));
        check(code, "clCreateContext");
        return context;
    }

    static constexpr size_t spot = 256;
    /// Offsets that are compared: drivers may treat the first and last page differently.
    static std::array<uint64_t, 3> spots(uint64_t size) {
        return {0, (size - spot) / 2, size - spot};
    }
    static bool all(const std::byte *bytes, std::byte value) {
        return std::all_of(bytes, bytes + spot, [value](std::byte b) { return b == value; });
    }

    void complete(cl_event event) const {
        const Api &api = device_.api();
        const EventOwner owner(api, event);
        check(api.clFlush(queue_.get()), "clFlush");
        check(api.clWaitForEvents(1, &event), "clWaitForEvents");
    }

    bool writes_reach_host(cl_mem mem, const std::byte *memory, uint64_t size) const {
        constexpr std::byte pattern{0x22};
        bool reached = true;
        for (const uint64_t at : spots(size)) {
            cl_event event = nullptr;
            check(device_.api().clEnqueueFillBuffer(queue_.get(), mem, &pattern, 1, at, spot, 0,
                                                    nullptr, &event),
                  "clEnqueueFillBuffer");
            complete(event);
            reached = reached && all(memory + at, pattern);
        }
        return reached;
    }

    bool writes_reach_device(cl_mem mem, std::byte *memory, uint64_t size) const {
        constexpr std::byte pattern{0x33};
        const Api &api = device_.api();
        cl_event event = nullptr;
        cl_int code = CL_SUCCESS;
        void *const address =
            api.clEnqueueMapBuffer(queue_.get(), mem, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0, size,
                                   0, nullptr, &event, &code);
        check(code, "clEnqueueMapBuffer");
        complete(event);
        for (const uint64_t at : spots(size))
            std::fill_n(memory + at, spot, pattern);
        check(api.clEnqueueUnmapMemObject(queue_.get(), mem, address, 0, nullptr, &event),
              "clEnqueueUnmapMemObject");
        complete(event);
        bool reached = address == memory;
        for (const uint64_t at : spots(size)) {
            std::array<std::byte, spot> seen{};
            check(api.clEnqueueReadBuffer(queue_.get(), mem, CL_FALSE, at, spot, seen.data(), 0,
                                          nullptr, &event),
                  "clEnqueueReadBuffer");
            complete(event);
            reached = reached && all(seen.data(), pattern);
        }
        return reached;
    }

    const Device &device_;
    const ContextOwner context_;
    const QueueOwner queue_;
};

} // namespace

std::optional<uint64_t> Device::import_alignment() {
    std::lock_guard lock(import_mutex_);
    if (!import_known_ && integrated_) {
        try {
            find_import_alignment();
        } catch (...) {
            rethrow_no_memory();
            instance().log(PI_LOG_WARNING, "a trial of importing host memory into " + name_ +
                                               " failed: " + current_error().text());
        }
    }
    import_known_ = true;
    return import_alignment_;
}

void Device::find_import_alignment() {
    const auto submission = submission_lock();
    const Trial trial(*this);
    for (const uint64_t alignment : {uint64_t{1}, uint64_t{16}, uint64_t{64}, page_size}) {
        // A size with exactly this alignment.
        if (!trial.in_place(alignment < page_size ? page_size / 2 + alignment : page_size,
                            alignment))
            continue;
        // A driver may copy large memory: import memory in place in all usual sizes, or not at all.
        for (const uint64_t size : {uint64_t{64} << 10, uint64_t{4} << 20}) {
            if (size <= max_allocation_ && !trial.in_place(size, alignment)) {
                copied_from_ = size;
                return;
            }
            in_place_up_to_ = size;
        }
        import_alignment_ = alignment;
        return;
    }
}

bool Device::uses_in_place(uint64_t size) {
    const auto alignment = import_alignment();
    std::lock_guard lock(import_mutex_);
    if (!alignment || size >= copied_from_)
        return false;
    if (size <= in_place_up_to_)
        return true;
    const auto submission = submission_lock();
    const Trial trial(*this);
    // Try a larger size first, for later imports.
    const uint64_t larger = std::min(std::bit_ceil(size), max_allocation_);
    cl_int code = CL_SUCCESS;
    if (trial.in_place(larger, *alignment)) {
        in_place_up_to_ = larger;
    } else if (trial.in_place(size, *alignment, &code)) {
        in_place_up_to_ = size;
    } else {
        check(code, "clCreateBuffer", size, " bytes of host memory on ", name_);
        copied_from_ = size;
    }
    return size <= in_place_up_to_;
}

std::string Device::import_refusal() {
    std::lock_guard lock(import_mutex_);
    if (!integrated_)
        return "it has memory of its own (CL_DEVICE_HOST_UNIFIED_MEMORY is false)";
    if (copied_from_ == UINT64_MAX)
        return "in a trial the host did not see what the device wrote";
    return text("its driver keeps a copy of ", copied_from_, " bytes and more");
}

namespace {

Ref<Mem> import_pointer(Context &context, Device &device, const pi_mem_import_desc &desc) {
    check_allocation(device, desc.size);
    std::byte *pointer = sdk::import_pointer(desc);
    const auto alignment = device.import_alignment();
    if (!alignment || !device.uses_in_place(desc.size))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(), " does not use ", desc.size,
             " bytes of host memory in place: ", device.import_refusal());
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
    Mem::Parts parts;
    parts.vendor = std::move(vendor);
    parts.size = desc.size;
    parts.flags = desc.flags;
    parts.alignment = alignment_of(pointer, page_size);
    parts.host_pointer = pointer;
    parts.kind = PI_MEMORY_KIND_IMPORTED;
    return make<Mem>(context, device, std::move(parts));
}

// ----- a cl_mem ----------------------------------------------------------------------------------

/// The driver's answers about the application's buffer.
struct NativeBuffer {
    cl_mem_flags flags;
    uint64_t size;
    cl_mem whole;            ///< the sub-buffer's parent, or the buffer itself
    uint64_t offset;         ///< into whole
    std::byte *host_pointer; ///< of whole, with CL_MEM_USE_HOST_PTR
};

NativeBuffer ask_buffer(const Context &context, cl_mem vendor) {
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
    NativeBuffer native{};
    native.flags = ask(cl_mem_flags{}, vendor, CL_MEM_FLAGS);
    native.size = ask(size_t{}, vendor, CL_MEM_SIZE);
    const auto parent = ask(cl_mem{}, vendor, CL_MEM_ASSOCIATED_MEMOBJECT);
    native.whole = parent ? parent : vendor;
    native.offset = parent ? ask(size_t{}, vendor, CL_MEM_OFFSET) : 0;
    if (ask(cl_mem_flags{}, native.whole, CL_MEM_FLAGS) & CL_MEM_USE_HOST_PTR)
        native.host_pointer = static_cast<std::byte *>(
            ask(static_cast<void *>(nullptr), native.whole, CL_MEM_HOST_PTR));
    return native;
}

/// The PI_MEM_ access of kernels: the requested one, or everything that the buffer allows.
uint64_t access_of(const NativeBuffer &native, uint64_t asked) {
    const uint64_t allowed = native.flags & CL_MEM_READ_ONLY    ? uint64_t{PI_MEM_READ_ONLY}
                             : native.flags & CL_MEM_WRITE_ONLY ? uint64_t{PI_MEM_WRITE_ONLY}
                                                                : 0;
    if (asked && allowed && asked != allowed)
        fail(PI_ERROR_INVALID_VALUE, "flags asks for more access than the cl_mem has (",
             allowed == PI_MEM_READ_ONLY ? "CL_MEM_READ_ONLY)" : "CL_MEM_WRITE_ONLY)");
    return asked ? asked : allowed;
}

Ref<Mem> import_native(Context &context, Device &device, const pi_mem_import_desc &desc,
                       cl_mem vendor) {
    const NativeBuffer native = ask_buffer(context, vendor);
    check_range(desc.offset, desc.size, native.size, "the cl_mem");
    Mem::Parts parts;
    parts.size = desc.size;
    parts.flags = access_of(native, desc.flags);
    parts.whole = native.whole;
    parts.whole_offset = native.offset + desc.offset;
    parts.keeps = MemOwner::retained(context.api(), vendor);
    parts.vendor = desc.size == native.size
                       ? MemOwner::retained(context.api(), vendor)
                       : create_sub_buffer(context, device, native.whole, desc.flags,
                                           {parts.whole_offset, desc.size});
    const uint64_t of_offset = parts.whole_offset & (~parts.whole_offset + 1);
    parts.alignment = device.min_alignment();
    if (native.host_pointer) {
        parts.host_pointer = native.host_pointer + parts.whole_offset;
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
