// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory.hpp"

#include "functions.hpp"
#include "info.hpp"
#include "native.hpp"

#include <pi/describe/descriptor.hpp>

#include <array>
#include <bit>

namespace pi::unified_runtime {

using runtime::check;

namespace {

// What ALLOC_HOST_POINTER asks for is a preference; PI has requirements only.
constexpr std::array<std::pair<ur_mem_flags_t, uint64_t>, 4> mem_flags{{
    {UR_MEM_FLAG_READ_ONLY, PI_MEM_READ_ONLY},
    {UR_MEM_FLAG_WRITE_ONLY, PI_MEM_WRITE_ONLY},
    {UR_MEM_FLAG_USE_HOST_POINTER, PI_MEM_USE_HOST_PTR},
    {UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER, PI_MEM_COPY_HOST_PTR},
}};
constexpr ur_mem_flags_t access_flags =
    UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_READ_ONLY | UR_MEM_FLAG_WRITE_ONLY;
constexpr ur_mem_flags_t pointer_flags =
    UR_MEM_FLAG_USE_HOST_POINTER | UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER;

void check_known(ur_mem_flags_t flags) {
    if ((flags & UR_MEM_FLAGS_MASK) != 0) {
        throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "memory: unknown flags");
    }
}

void check_access(ur_mem_flags_t flags) {
    if (std::popcount(flags & access_flags) > 1) {
        throw Refusal(UR_RESULT_ERROR_INVALID_VALUE,
                      "memory: of READ_WRITE, READ_ONLY and WRITE_ONLY only one may be set");
    }
}

/// A part of a buffer may allow less than the buffer.
ur_mem_flags_t flags_of_part(const ur_mem_handle_t_ &whole, ur_mem_flags_t flags) {
    check_known(flags);
    check_access(flags);
    const ur_mem_flags_t restricted =
        whole.flags & (UR_MEM_FLAG_READ_ONLY | UR_MEM_FLAG_WRITE_ONLY);
    if ((flags & ~access_flags) != 0) {
        throw Refusal(UR_RESULT_ERROR_INVALID_VALUE,
                      "urMemBufferPartition: a part has the host memory of its buffer");
    }
    if (flags != 0 && restricted != 0 && flags != restricted) {
        throw Refusal(UR_RESULT_ERROR_INVALID_VALUE,
                      "urMemBufferPartition: the buffer does not allow this access");
    }
    return flags != 0 ? flags : whole.flags & access_flags;
}

} // namespace

uint64_t pi_mem_flags(ur_mem_flags_t flags, const void *host_ptr) {
    check_known(flags);
    if ((host_ptr != nullptr) != ((flags & pointer_flags) != 0)) {
        throw Refusal(UR_RESULT_ERROR_INVALID_HOST_PTR,
                      host_ptr != nullptr
                          ? "memory: a host pointer needs USE_ or ALLOC_COPY_HOST_POINTER"
                          : "memory: USE_ and ALLOC_COPY_HOST_POINTER need a host pointer");
    }
    check_access(flags);
    if ((flags & UR_MEM_FLAG_USE_HOST_POINTER) != 0 &&
        (flags & (UR_MEM_FLAG_ALLOC_HOST_POINTER | UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER)) != 0) {
        throw Refusal(UR_RESULT_ERROR_INVALID_VALUE,
                      "memory: USE_HOST_POINTER excludes both ALLOC_ flags");
    }
    return translate_bits<uint64_t>(mem_flags, flags);
}

ur_mem_handle_t_ &buffer_of(ur_mem_handle_t mem) {
    if (deref(mem).image) {
        throw Refusal(UR_RESULT_ERROR_INVALID_MEM_OBJECT, "an image; a buffer is needed");
    }
    return *mem;
}

const ur_mem_handle_t_::Image &image_of(ur_mem_handle_t mem) {
    if (!deref(mem).image) {
        throw Refusal(UR_RESULT_ERROR_INVALID_MEM_OBJECT, "a buffer; an image is needed");
    }
    return *mem->image;
}

ur_result_t UR_APICALL urMemBufferCreate(ur_context_handle_t context, ur_mem_flags_t flags,
                                         size_t size, const ur_buffer_properties_t *properties,
                                         ur_mem_handle_t *out_buffer) {
    return boundary([&] {
        const auto &core = deref(context).core;
        needed(out_buffer);
        facade::Memory::Descriptor desc;
        desc.size = size;
        desc.host_ptr = properties != nullptr ? properties->pHost : nullptr;
        desc.flags = pi_mem_flags(flags, desc.host_ptr);
        *out_buffer = with_size_code(UR_RESULT_ERROR_INVALID_BUFFER_SIZE, [&] {
            return new ur_mem_handle_t_(context, facade::Memory::create(core, desc), flags);
        });
    });
}

ur_result_t UR_APICALL urMemBufferPartition(ur_mem_handle_t buffer, ur_mem_flags_t flags,
                                            ur_buffer_create_type_t type,
                                            const ur_buffer_region_t *region,
                                            ur_mem_handle_t *out_part) {
    return boundary([&] {
        const ur_mem_handle_t_ &whole = buffer_of(buffer);
        const ur_mem_flags_t part_flags = flags_of_part(whole, flags);
        if (type != UR_BUFFER_CREATE_TYPE_REGION) {
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION,
                          "urMemBufferPartition: the type is not REGION");
        }
        needed(region);
        needed(out_part);
        if (whole.core->is_view()) {
            throw Refusal(UR_RESULT_ERROR_INVALID_MEM_OBJECT,
                          "urMemBufferPartition: the buffer is a part of another one");
        }
        *out_part = with_size_code(UR_RESULT_ERROR_INVALID_BUFFER_SIZE, [&] {
            return new ur_mem_handle_t_(
                whole.context.get(),
                whole.core->view(region->origin, region->size,
                                 translate_bits<uint64_t>(mem_flags, part_flags)),
                part_flags);
        });
    });
}

ur_result_t UR_APICALL urMemGetInfo(ur_mem_handle_t mem, ur_mem_info_t name, size_t size,
                                    void *value, size_t *out_size) {
    return boundary([&] {
        deref(mem);
        const InfoAnswer answer(size, value, out_size);
        switch (name) {
        case UR_MEM_INFO_SIZE:
            return answer(size_t{mem->core->size()});
        case UR_MEM_INFO_CONTEXT:
            return answer(mem->context.get());
        case UR_MEM_INFO_REFERENCE_COUNT:
            return answer(mem->references.load());
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urMemGetInfo: unknown name");
        }
    });
}

ur_result_t UR_APICALL urMemGetNativeHandle(ur_mem_handle_t mem, ur_device_handle_t device,
                                            ur_native_handle_t *out_native) {
    return boundary([&] {
        const ur_context_handle_t_ &context = *deref(mem).context;
        needed(out_native);
        if (device != nullptr) {
            context.check_device(device);
        }
        const pi_device at = device != nullptr ? device->device : context.core->devices().front();
        pi_native_handle handle{};
        check(piMemGetNativeHandle(mem->core->held_at(at), at, &handle), "piMemGetNativeHandle");
        *out_native = word_of(context.devices.front()->platform, handle);
    });
}

ur_result_t UR_APICALL urMemBufferCreateWithNativeHandle(
    ur_native_handle_t native, ur_context_handle_t context,
    const ur_mem_native_properties_t *properties, ur_mem_handle_t *out_buffer) {
    return boundary([&] {
        const auto &core = deref(context).core;
        needed(out_buffer);
        const ur_device_handle_t_ &device = *context->devices.front();
        auto desc = pi::desc<pi_mem_import_desc>();
        desc.own = properties != nullptr && properties->isNativeHandleOwned ? 1 : 0;
        desc.handle.type = PI_EXTERNAL_NATIVE;
        desc.handle.native = native_of_type(device.platform, PI_KIND_MEM, native);
        // UR does not say the size: 0 stands for all of it, which a plugin may refuse.
        *out_buffer = with_size_code(UR_RESULT_ERROR_UNSUPPORTED_FEATURE, [&] {
            runtime::Mem mem;
            check(piMemImport(core->part_of(device.device).context.get(), device.device, &desc,
                              mem.out()),
                  "piMemImport of native memory of unknown size");
            return new ur_mem_handle_t_(
                context, facade::Memory::adopt(core, device.device, std::move(mem)), 0);
        });
    });
}

} // namespace pi::unified_runtime
