// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands on addresses.
#include "functions.hpp"
#include "info.hpp"
#include "usm.hpp"

#include <pi/describe/descriptor.hpp>

#include <array>

namespace pi::unified_runtime {
namespace {

[[noreturn]] void invalid_size(const char *text) {
    throw Refusal(UR_RESULT_ERROR_INVALID_SIZE, text);
}

void check_bits(uint32_t bits, uint32_t unknown, const char *name) {
    if ((bits & unknown) != 0) {
        throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION,
                      std::string(name) + " has unknown bits: " + std::to_string(bits & unknown));
    }
}

/// A range that begins at the address must lie in its allocation, if it begins in one. True if it
/// does.
bool check_range(const facade::Context &context, const void *pointer, size_t size) {
    needed(pointer);
    if (size == 0) {
        invalid_size("0 bytes");
    }
    const auto range = context.usm().find(pointer);
    if (range && size > range->size - (reinterpret_cast<uintptr_t>(pointer) - range->base)) {
        invalid_size("the range ends past its allocation");
    }
    return range.has_value();
}

/// Rows of a rectangle. UR compares the pitch times the rows with the whole allocation.
void check_rows(const facade::Context &context, const void *pointer, size_t pitch, size_t width,
                size_t height) {
    needed(pointer);
    if (width == 0 || height == 0) {
        invalid_size("0 rows, or rows of 0 bytes");
    }
    if (pitch < width) {
        invalid_size("a pitch is smaller than the width");
    }
    const auto range = context.usm().find(pointer);
    if (range && height > range->size / pitch) {
        invalid_size("pitch times height is larger than the allocation");
    }
}

/// A command that does nothing, for hints that PI has no command for.
void enqueue_nothing(Enqueue &enqueue) {
    enqueue.run("piEnqueueEventsWait", piEnqueueEventsWait, pi::desc<pi_events_wait_desc>());
}

// ----- Hints ---------------------------------------------------------------------------------

/// UR's other hints have no counterpart, and PI takes back all hints or none.
constexpr std::array advices{
    std::pair{UR_USM_ADVICE_FLAG_DEFAULT, pi_usm_advice{PI_USM_ADVICE_RESET}},
    std::pair{UR_USM_ADVICE_FLAG_SET_READ_MOSTLY, pi_usm_advice{PI_USM_ADVICE_READ_MOSTLY}},
    std::pair{UR_USM_ADVICE_FLAG_SET_PREFERRED_LOCATION,
              pi_usm_advice{PI_USM_ADVICE_PREFER_DEVICE}},
    std::pair{UR_USM_ADVICE_FLAG_SET_PREFERRED_LOCATION_HOST,
              pi_usm_advice{PI_USM_ADVICE_PREFER_HOST}},
    std::pair{UR_USM_ADVICE_FLAG_SET_ACCESSED_BY_DEVICE,
              pi_usm_advice{PI_USM_ADVICE_ACCESSED_BY_DEVICE}},
};

void advise(facade::Command &command, const void *pointer, size_t size, pi_usm_advice advice) {
    auto desc = pi::desc<pi_usm_advise_desc>();
    desc.pointer = pointer;
    desc.size = size;
    desc.advice = advice;
    command.enqueue("piEnqueueUsmAdvise", piEnqueueUsmAdvise, desc, false);
}

} // namespace

ur_result_t UR_APICALL urEnqueueUSMPrefetch(ur_queue_handle_t queue, const void *pointer,
                                            size_t size, ur_usm_migration_flags_t flags,
                                            uint32_t wait_count, const ur_event_handle_t *wait_list,
                                            ur_event_handle_t *out_event) {
    return boundary([&] {
        Enqueue enqueue(queue, {wait_count, wait_list}, UR_COMMAND_USM_PREFETCH, out_event);
        check_bits(flags, UR_USM_MIGRATION_FLAGS_MASK, "flags");
        if (!check_range(enqueue.queue().context(), pointer, size)) {
            return enqueue_nothing(enqueue);
        }
        auto desc = pi::desc<pi_usm_prefetch_desc>();
        desc.flags =
            (flags & UR_USM_MIGRATION_FLAG_DEVICE_TO_HOST) != 0 ? PI_USM_PREFETCH_TO_HOST : 0;
        desc.pointer = pointer;
        desc.size = size;
        enqueue.run("piEnqueueUsmPrefetch", piEnqueueUsmPrefetch, desc);
    });
}

ur_result_t UR_APICALL urEnqueueUSMAdvise(ur_queue_handle_t queue, const void *pointer, size_t size,
                                          ur_usm_advice_flags_t advice,
                                          ur_event_handle_t *out_event) {
    return boundary([&] {
        Enqueue enqueue(queue, {}, UR_COMMAND_USM_ADVISE, out_event);
        check_bits(advice, UR_USM_ADVICE_FLAGS_MASK, "advice");
        if (check_range(enqueue.queue().context(), pointer, size)) {
            for (const auto &[bit, hint] : advices) {
                if ((advice & static_cast<uint32_t>(bit)) != 0) {
                    facade::Command command(enqueue.queue());
                    advise(command, pointer, size, hint);
                }
            }
        }
        // Its event stands for all hints.
        enqueue_nothing(enqueue);
    });
}

// ----- Bytes ---------------------------------------------------------------------------------

ur_result_t UR_APICALL urEnqueueUSMFill(ur_queue_handle_t queue, void *pointer, size_t pattern_size,
                                        const void *pattern, size_t size, uint32_t wait_count,
                                        const ur_event_handle_t *wait_list,
                                        ur_event_handle_t *out_event) {
    return boundary([&] {
        Enqueue enqueue(queue, {wait_count, wait_list}, UR_COMMAND_USM_FILL, out_event);
        needed(pattern);
        check_range(enqueue.queue().context(), pointer, size);
        enqueue.finish(facade::enqueue_usm_fill(
            enqueue.command(), {pointer, pattern, pattern_size, size}, 0, enqueue.wants_event()));
    });
}

ur_result_t UR_APICALL urEnqueueUSMFill2D(ur_queue_handle_t queue, void *pointer, size_t pitch,
                                          size_t pattern_size, const void *pattern, size_t width,
                                          size_t height, uint32_t wait_count,
                                          const ur_event_handle_t *wait_list,
                                          ur_event_handle_t *out_event) {
    return boundary([&] {
        Enqueue enqueue(queue, {wait_count, wait_list}, UR_COMMAND_USM_FILL_2D, out_event);
        needed(pattern);
        check_rows(enqueue.queue().context(), pointer, pitch, width, height);
        enqueue.finish(facade::enqueue_usm_fill(
            enqueue.command(), {pointer, pattern, pattern_size, width, height, pitch}, 0,
            enqueue.wants_event()));
    });
}

ur_result_t UR_APICALL urEnqueueUSMMemcpy(ur_queue_handle_t queue, bool is_blocking, void *dst,
                                          const void *src, size_t size, uint32_t wait_count,
                                          const ur_event_handle_t *wait_list,
                                          ur_event_handle_t *out_event) {
    return boundary([&] {
        Enqueue enqueue(queue, {wait_count, wait_list}, UR_COMMAND_USM_MEMCPY, out_event);
        check_range(enqueue.queue().context(), dst, size);
        check_range(enqueue.queue().context(), src, size);
        enqueue.finish(facade::enqueue_usm_copy(enqueue.command(), {dst, src, size},
                                                blocking(is_blocking), enqueue.wants_event()));
    });
}

ur_result_t UR_APICALL urEnqueueUSMMemcpy2D(ur_queue_handle_t queue, bool is_blocking, void *dst,
                                            size_t dst_pitch, const void *src, size_t src_pitch,
                                            size_t width, size_t height, uint32_t wait_count,
                                            const ur_event_handle_t *wait_list,
                                            ur_event_handle_t *out_event) {
    return boundary([&] {
        Enqueue enqueue(queue, {wait_count, wait_list}, UR_COMMAND_USM_MEMCPY_2D, out_event);
        check_rows(enqueue.queue().context(), dst, dst_pitch, width, height);
        check_rows(enqueue.queue().context(), src, src_pitch, width, height);
        enqueue.finish(facade::enqueue_usm_copy(enqueue.command(),
                                                {dst, src, width, height, dst_pitch, src_pitch},
                                                blocking(is_blocking), enqueue.wants_event()));
    });
}

ur_result_t UR_APICALL urUSMContextMemcpyExp(ur_context_handle_t context, void *dst,
                                             const void *src, size_t size) {
    return boundary([&] {
        const std::shared_ptr<facade::Context> &core = deref(context).core;
        check_range(*core, dst, size);
        check_range(*core, src, size);
        auto range = core->usm().find(dst);
        if (!range || range->device == nullptr) {
            range = core->usm().find(src);
        }
        const facade::Queue queue(
            core, range && range->device != nullptr ? range->device : core->devices().front(),
            uint64_t{0});
        facade::Command command(queue);
        facade::enqueue_usm_copy(command, {dst, src, size}, PI_COMMAND_BLOCKING, false);
    });
}

// ----- Allocation in a queue's order ---------------------------------------------------------

namespace {

bool has_async(const ur_queue_handle_t_ &queue) {
    const auto capabilities =
        pi_info<uint64_t, &piDeviceGetInfo>(queue.core.device(), PI_DEVICE_INFO_CAPABILITIES);
    return (capabilities.value_or(0) & PI_CAPABILITY_USM_ASYNC) != 0;
}

/// Frees the memory if that fails.
facade::Event enqueue_zeros(const Enqueue &enqueue, const facade::Event &allocated, void *pointer,
                            size_t size) {
    try {
        constexpr uint8_t zero = 0;
        facade::Command fill(enqueue.queue());
        fill.wait_for(allocated);
        return facade::enqueue_usm_fill(fill, {pointer, &zero, sizeof zero, size}, 0,
                                        enqueue.wants_event());
    } catch (...) {
        enqueue.queue().context().usm().remove(pointer);
        piUsmFree(enqueue.queue().part().context.get(), pointer);
        throw;
    }
}

ur_result_t enqueue_alloc(pi_usm_kind kind, ur_command_t name, ur_queue_handle_t queue,
                          ur_usm_pool_handle_t pool, size_t size,
                          const ur_exp_async_usm_alloc_properties_t *properties, WaitList waits,
                          void **out_pointer, ur_event_handle_t *out_event) {
    return boundary([&] {
        Enqueue enqueue(queue, waits, name, out_event);
        check_bits(properties == nullptr ? 0 : properties->flags, UR_EXP_ASYNC_USM_ALLOC_FLAGS_MASK,
                   "flags");
        needed(out_pointer);
        if (size == 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_USM_SIZE, "an allocation of 0 bytes");
        }
        ur_context_handle_t_ &context = *queue->context;
        const pi_device device = queue->core.device();
        const UsmRequest request{kind, kind == PI_USM_HOST ? nullptr : device, pool, size, 0};
        auto desc = pi::desc<pi_usm_alloc_desc>();
        desc.pool = pool_of(context, request);
        // PI allocates host and shared memory in a queue's order from a pool only.
        if (!has_async(*queue) || (desc.pool == nullptr && kind != PI_USM_DEVICE)) {
            void *const pointer = allocate_usm(context, request);
            enqueue_nothing(enqueue);
            *out_pointer = pointer;
            return;
        }
        void *pointer = nullptr;
        desc.size = size;
        desc.out_pointer = &pointer;
        const bool zeroed = pool != nullptr && pool->zeroed;
        facade::Event event = enqueue.command().enqueue("piEnqueueUsmAlloc", piEnqueueUsmAlloc,
                                                        desc, zeroed || enqueue.wants_event());
        add_range(context, request, pointer);
        if (zeroed) {
            event = enqueue_zeros(enqueue, event, pointer, size);
        }
        enqueue.finish(std::move(event));
        *out_pointer = pointer;
    });
}

} // namespace

ur_result_t UR_APICALL urEnqueueUSMDeviceAllocExp(
    ur_queue_handle_t queue, ur_usm_pool_handle_t pool, size_t size,
    const ur_exp_async_usm_alloc_properties_t *properties, uint32_t wait_count,
    const ur_event_handle_t *wait_list, void **out_pointer, ur_event_handle_t *out_event) {
    return enqueue_alloc(PI_USM_DEVICE, UR_COMMAND_ENQUEUE_USM_DEVICE_ALLOC_EXP, queue, pool, size,
                         properties, {wait_count, wait_list}, out_pointer, out_event);
}

ur_result_t UR_APICALL urEnqueueUSMSharedAllocExp(
    ur_queue_handle_t queue, ur_usm_pool_handle_t pool, size_t size,
    const ur_exp_async_usm_alloc_properties_t *properties, uint32_t wait_count,
    const ur_event_handle_t *wait_list, void **out_pointer, ur_event_handle_t *out_event) {
    return enqueue_alloc(PI_USM_SHARED, UR_COMMAND_ENQUEUE_USM_SHARED_ALLOC_EXP, queue, pool, size,
                         properties, {wait_count, wait_list}, out_pointer, out_event);
}

ur_result_t UR_APICALL urEnqueueUSMHostAllocExp(
    ur_queue_handle_t queue, ur_usm_pool_handle_t pool, size_t size,
    const ur_exp_async_usm_alloc_properties_t *properties, uint32_t wait_count,
    const ur_event_handle_t *wait_list, void **out_pointer, ur_event_handle_t *out_event) {
    return enqueue_alloc(PI_USM_HOST, UR_COMMAND_ENQUEUE_USM_HOST_ALLOC_EXP, queue, pool, size,
                         properties, {wait_count, wait_list}, out_pointer, out_event);
}

ur_result_t UR_APICALL urEnqueueUSMFreeExp(ur_queue_handle_t queue, ur_usm_pool_handle_t,
                                           void *pointer, uint32_t wait_count,
                                           const ur_event_handle_t *wait_list,
                                           ur_event_handle_t *out_event) {
    return boundary([&] {
        Enqueue enqueue(queue, {wait_count, wait_list}, UR_COMMAND_ENQUEUE_USM_FREE_EXP, out_event);
        facade::UsmRanges &usm = queue->context->core->usm();
        const auto range = usm.remove(needed(pointer));
        if (!range) {
            throw Refusal(UR_RESULT_ERROR_INVALID_MEM_OBJECT,
                          "the pointer is not the start of a live allocation of the context");
        }
        const facade::Part &part = part_for(*queue->context, range->kind, range->device);
        const pi_context context = part.context.get();
        try {
            if (has_async(*queue) && &part == &enqueue.queue().part()) {
                auto desc = pi::desc<pi_usm_free_desc>();
                desc.pointer = pointer;
                enqueue.run("piEnqueueUsmFree", piEnqueueUsmFree, desc);
            } else {
                enqueue.finish(facade::enqueue_host_function(
                    enqueue.command(),
                    [of = queue->context->core, context, pointer] { piUsmFree(context, pointer); },
                    0));
            }
        } catch (...) {
            usm.add(*range);
            throw;
        }
    });
}

// ----- Memory of the application -------------------------------------------------------------

namespace {

void unregister(const facade::Context &context, void *pointer, size_t parts) {
    pi_result result = PI_SUCCESS;
    for (size_t part = parts; part-- > 0;) {
        const pi_result one = piUsmHostUnregister(context.parts()[part].context.get(), pointer);
        result = result == PI_SUCCESS ? one : result;
    }
    runtime::check(result, "piUsmHostUnregister");
}

/// With all parts, or with none.
void register_host(const facade::Context &context, void *pointer, size_t size) {
    for (size_t part = 0; part < context.parts().size(); ++part) {
        const pi_result result =
            piUsmHostRegister(context.parts()[part].context.get(), pointer, size, 0);
        if (result != PI_SUCCESS) {
            const runtime::Error error(result,
                                       "piUsmHostRegister: " + runtime::last_error_text(result));
            unregister(context, pointer, part);
            throw error;
        }
    }
}

} // namespace

ur_result_t UR_APICALL
urUSMHostAllocRegisterExp(ur_context_handle_t context, void *pointer, size_t size,
                          const ur_exp_usm_host_alloc_register_properties_t *properties) {
    return boundary([&] {
        deref(context);
        needed(pointer);
        check_bits(properties == nullptr ? 0 : properties->flags,
                   UR_EXP_USM_HOST_ALLOC_REGISTER_FLAGS_MASK, "flags");
        if (size == 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_VALUE, "0 bytes to register");
        }
        register_host(*context->core, pointer, size);
    });
}

ur_result_t UR_APICALL urUSMHostAllocUnregisterExp(ur_context_handle_t context, void *pointer) {
    return boundary(
        [&] { unregister(*deref(context).core, needed(pointer), context->core->parts().size()); });
}

/// A hint: copies work without it.
ur_result_t UR_APICALL urUSMImportExp(ur_context_handle_t context, void *pointer, size_t size) {
    return boundary([&] {
        deref(context);
        needed(pointer);
        if (size == 0) {
            invalid_size("0 bytes to import");
        }
        try {
            register_host(*context->core, pointer, size);
        } catch (const runtime::Error &error) {
            logger()(UR_LOGGER_LEVEL_WARN, error.what());
        }
    });
}

ur_result_t UR_APICALL urUSMReleaseExp(ur_context_handle_t context, void *pointer) {
    return boundary([&] {
        deref(context);
        needed(pointer);
        try {
            unregister(*context->core, pointer, context->core->parts().size());
        } catch (const runtime::Error &error) {
            logger()(UR_LOGGER_LEVEL_DEBUG, error.what());
        }
    });
}

} // namespace pi::unified_runtime
