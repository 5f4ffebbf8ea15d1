// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocations by address.
#include "usm.hpp"

#include "functions.hpp"
#include "info.hpp"

#include <pi/describe/descriptor.hpp>

#include <array>
#include <bit>
#include <cstring>

namespace pi::unified_runtime {
namespace {

constexpr std::array kinds{
    std::pair{pi_usm_kind{PI_USM_HOST}, UR_USM_TYPE_HOST},
    std::pair{pi_usm_kind{PI_USM_DEVICE}, UR_USM_TYPE_DEVICE},
    std::pair{pi_usm_kind{PI_USM_SHARED}, UR_USM_TYPE_SHARED},
};

void check_flags(uint32_t flags, uint32_t unknown, const char *what) {
    if ((flags & unknown) != 0) {
        throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION,
                      std::string(what) + " has unknown bits: " + std::to_string(flags & unknown));
    }
}

/// The descriptors behind a pi_usm_desc hold hints, of which PI has none.
void check_chain(const void *next) {
    while (next != nullptr) {
        const auto *base = static_cast<const ur_base_desc_t *>(next);
        if (base->stype == UR_STRUCTURE_TYPE_USM_HOST_DESC) {
            check_flags(static_cast<const ur_usm_host_desc_t *>(next)->flags,
                        UR_USM_HOST_MEM_FLAGS_MASK, "the flags of the host memory");
        } else if (base->stype == UR_STRUCTURE_TYPE_USM_DEVICE_DESC) {
            check_flags(static_cast<const ur_usm_device_desc_t *>(next)->flags,
                        UR_USM_DEVICE_MEM_FLAGS_MASK, "the flags of the device memory");
        }
        next = base->pNext;
    }
}

/// The alignment that the descriptor requests.
uint64_t check_desc(const ur_usm_desc_t *desc) {
    if (desc == nullptr) {
        return 0;
    }
    check_flags(desc->hints, UR_USM_ADVICE_FLAGS_MASK, "hints");
    check_chain(desc->pNext);
    if (desc->align != 0 && !std::has_single_bit(desc->align)) {
        throw Refusal(UR_RESULT_ERROR_INVALID_VALUE,
                      "align is " + std::to_string(desc->align) + ": not a power of two");
    }
    return desc->align;
}

ur_result_t alloc(ur_context_handle_t context, pi_usm_kind kind, ur_device_handle_t_ *device,
                  const ur_usm_desc_t *desc, ur_usm_pool_handle_t pool, size_t size,
                  void **out_pointer) {
    needed(out_pointer);
    if (device != nullptr) {
        context->check_device(device);
    }
    const UsmRequest request{kind, device == nullptr ? nullptr : device->device, pool, size,
                             check_desc(desc)};
    if (size == 0) {
        throw Refusal(UR_RESULT_ERROR_INVALID_USM_SIZE, "an allocation of 0 bytes");
    }
    *out_pointer = allocate_usm(*context, request);
    return UR_RESULT_SUCCESS;
}

/// Codes that UR has for allocations only.
[[noreturn]] void refuse_allocation(const runtime::Error &error) {
    switch (error.code()) {
    case PI_ERROR_INVALID_SIZE:
        throw Refusal(UR_RESULT_ERROR_INVALID_USM_SIZE, error.what());
    case PI_ERROR_UNSUPPORTED_FEATURE:
        throw Refusal(UR_RESULT_ERROR_INVALID_OPERATION, error.what());
    default:
        throw error;
    }
}

void write_zeros(const ur_context_handle_t_ &context, const UsmRequest &request, void *pointer) {
    if (request.kind == PI_USM_HOST) {
        std::memset(pointer, 0, request.size);
        return;
    }
    constexpr uint8_t zero = 0;
    const facade::Queue queue(context.core, request.device, uint64_t{0});
    facade::Command command(queue);
    facade::enqueue_usm_fill(command, {pointer, &zero, sizeof zero, request.size},
                             PI_COMMAND_BLOCKING, false);
}

} // namespace

const facade::Part &part_for(const ur_context_handle_t_ &context, pi_usm_kind kind,
                             pi_device device) {
    const auto parts = context.core->parts();
    if (kind != PI_USM_DEVICE && parts.size() > 1) {
        throw Refusal(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      std::string(kind == PI_USM_HOST ? "host" : "shared") +
                          " USM in a context of " + std::to_string(parts.size()) +
                          " platforms: no allocation is accessible to the devices of all");
    }
    return device == nullptr ? parts.front() : context.core->part_of(device);
}

pi_usm_pool pool_of(const ur_context_handle_t_ &context, const UsmRequest &request) {
    if (request.pool == nullptr) {
        return nullptr;
    }
    if (&request.pool->context != &context) {
        throw Refusal(UR_RESULT_ERROR_INVALID_VALUE, "the pool is of another context");
    }
    if (request.pool->device != nullptr && request.device != nullptr &&
        request.pool->device->device != request.device) {
        throw Refusal(UR_RESULT_ERROR_INVALID_VALUE, "the pool is of another device");
    }
    return request.pool->pool_for(request.kind, request.device, request.size);
}

void add_range(ur_context_handle_t_ &context, const UsmRequest &request, void *pointer) {
    try {
        context.core->usm().add({reinterpret_cast<uintptr_t>(pointer), request.size, request.kind,
                                 request.device, request.pool});
    } catch (...) {
        piUsmFree(part_for(context, request.kind, request.device).context.get(), pointer);
        throw;
    }
}

void *allocate_usm(ur_context_handle_t_ &context, const UsmRequest &request) {
    const facade::Part &part = part_for(context, request.kind, request.device);
    auto desc = pi::desc<pi_usm_desc>();
    desc.kind = request.kind;
    desc.size = request.size;
    desc.alignment = request.alignment;
    desc.pool = pool_of(context, request);
    void *pointer = nullptr;
    try {
        runtime::check(piUsmAlloc(part.context.get(), request.device, &desc, &pointer),
                       "piUsmAlloc");
    } catch (const runtime::Error &error) {
        refuse_allocation(error);
    }
    add_range(context, request, pointer);
    if (request.pool != nullptr && request.pool->zeroed) {
        try {
            write_zeros(context, request, pointer);
        } catch (...) {
            context.core->usm().remove(pointer);
            piUsmFree(part.context.get(), pointer);
            throw;
        }
    }
    return pointer;
}

ur_result_t UR_APICALL urUSMHostAlloc(ur_context_handle_t context, const ur_usm_desc_t *desc,
                                      ur_usm_pool_handle_t pool, size_t size, void **out_pointer) {
    return boundary([&] {
        deref(context);
        return alloc(context, PI_USM_HOST, nullptr, desc, pool, size, out_pointer);
    });
}

ur_result_t UR_APICALL urUSMDeviceAlloc(ur_context_handle_t context, ur_device_handle_t device,
                                        const ur_usm_desc_t *desc, ur_usm_pool_handle_t pool,
                                        size_t size, void **out_pointer) {
    return boundary([&] {
        deref(context);
        return alloc(context, PI_USM_DEVICE, &deref(device), desc, pool, size, out_pointer);
    });
}

ur_result_t UR_APICALL urUSMSharedAlloc(ur_context_handle_t context, ur_device_handle_t device,
                                        const ur_usm_desc_t *desc, ur_usm_pool_handle_t pool,
                                        size_t size, void **out_pointer) {
    return boundary([&] {
        deref(context);
        return alloc(context, PI_USM_SHARED, &deref(device), desc, pool, size, out_pointer);
    });
}

ur_result_t UR_APICALL urUSMFree(ur_context_handle_t context, void *pointer) {
    return boundary([&] {
        facade::Context &core = *deref(context).core;
        needed(pointer);
        const auto found = core.usm().find(pointer);
        if (!found || found->base != reinterpret_cast<uintptr_t>(pointer)) {
            throw Refusal(UR_RESULT_ERROR_INVALID_MEM_OBJECT,
                          "the pointer is not the start of a live allocation of the context");
        }
        // UR's free waits for the commands that may use the memory; PI's must not be called before.
        const bool finished = core.finish_queues();
        // First, since another thread may receive the same address at once.
        const auto range = core.usm().remove(pointer);
        if (!range) {
            throw Refusal(UR_RESULT_ERROR_INVALID_MEM_OBJECT, "another thread freed the memory");
        }
        const pi_context owner = part_for(*context, range->kind, range->device).context.get();
        try {
            if (!finished) { // within a callback
                return core.after_queues(
                    [of = context->core, owner, pointer] { piUsmFree(owner, pointer); });
            }
            runtime::check(piUsmFree(owner, pointer), "piUsmFree");
        } catch (const runtime::Error &) {
            core.usm().add(*range);
            throw;
        }
    });
}

ur_result_t UR_APICALL urUSMGetMemAllocInfo(ur_context_handle_t context, const void *pointer,
                                            ur_usm_alloc_info_t name, size_t size, void *value,
                                            size_t *out_size) {
    return boundary([&] {
        deref(context);
        needed(pointer);
        if (name > UR_USM_ALLOC_INFO_POOL) {
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION,
                          std::to_string(name) + " is not an info of USM");
        }
        const InfoAnswer answer(size, value, out_size);
        const auto range = context->core->usm().find(pointer);
        if (name == UR_USM_ALLOC_INFO_TYPE) {
            return answer(range ? translate(kinds, range->kind, UR_USM_TYPE_UNKNOWN)
                                : UR_USM_TYPE_UNKNOWN);
        }
        if (!range) {
            throw Refusal(UR_RESULT_ERROR_INVALID_VALUE, "the pointer is not USM of the context");
        }
        switch (name) {
        case UR_USM_ALLOC_INFO_BASE_PTR:
            return answer(reinterpret_cast<void *>(range->base));
        case UR_USM_ALLOC_INFO_SIZE:
            return answer(static_cast<size_t>(range->size));
        case UR_USM_ALLOC_INFO_DEVICE:
            // Host memory is every device's: the first stands for all.
            return answer(range->device == nullptr ? context->devices.front().get()
                                                   : &context->device_of(range->device));
        default:
            return answer(static_cast<ur_usm_pool_handle_t>(range->owner));
        }
    });
}

} // namespace pi::unified_runtime
