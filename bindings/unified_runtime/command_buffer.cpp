// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "command_buffer.hpp"

#include "functions.hpp"
#include "info.hpp"

#include <algorithm>
#include <cstring>

using namespace pi::unified_runtime;

namespace pi::unified_runtime {

using SyncPoint = ur_exp_command_buffer_sync_point_t;
using BufferHandle = ur_exp_command_buffer_handle_t;
using Buffer = ur_exp_command_buffer_handle_t_;
using Command = ur_exp_command_buffer_command_handle_t_;
using LaunchUpdate = ur_exp_command_buffer_update_kernel_launch_desc_t;

// ----- Launches ---------------------------------------------------------------------------------

void RecordedArguments::set(const ur_exp_kernel_arg_properties_t &argument) {
    if (argument.index >= list_.size()) {
        list_.resize(argument.index + size_t{1});
        owners_.resize(list_.size());
    }
    Owner owner;
    ur_exp_kernel_arg_properties_t copy = argument;
    copy.pNext = nullptr;
    switch (argument.type) {
    case UR_EXP_KERNEL_ARG_TYPE_VALUE: {
        const auto *const bytes = static_cast<const std::byte *>(needed(argument.value.value));
        owner.value.assign(bytes, bytes + argument.size);
        copy.value.value = owner.value.data();
        break;
    }
    case UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ:
        owner.mem = Ref(argument.value.memObjTuple.hMem);
        break;
    case UR_EXP_KERNEL_ARG_TYPE_SAMPLER:
        owner.sampler = Ref(argument.value.sampler);
        break;
    default:
        break;
    }
    owners_[argument.index] = std::move(owner);
    list_[argument.index] = copy;
}

void RecordedArguments::truncate(size_t count) {
    if (count < list_.size()) {
        list_.resize(count);
        owners_.resize(count);
    }
}

ur_result_t RecordedLaunch::run(const Target &target) const {
    const WorkSizes work = sizes();
    const ArgumentList list = arguments.list();
    return unified_runtime::urEnqueueKernelLaunchWithArgsExp(
        target.queue, kernel.get(), work.dimensions, work.offset, work.global, work.local,
        list.count, list.arguments, nullptr, target.waits.count, target.waits.events,
        target.out_event);
}

void RecordedLaunch::update_kernel(ur_kernel_handle_t new_kernel) {
    if (new_kernel == nullptr || new_kernel == kernel.get()) {
        return;
    }
    const auto found =
        std::find_if(alternatives.begin(), alternatives.end(),
                     [new_kernel](const auto &each) { return each.get() == new_kernel; });
    refuse_if(found == alternatives.end(), UR_RESULT_ERROR_INVALID_VALUE,
              "command buffer: hNewKernel was not listed when the launch was appended");
    std::swap(kernel, *found); // it stays an alternative
    arguments.truncate(kernel->argument_count.value_or(UINT32_MAX));
}

void RecordedLaunch::update_sizes(const LaunchUpdate &desc) {
    if (desc.newWorkDim < 1 || desc.newWorkDim > 3) {
        throw Refusal(UR_RESULT_ERROR_INVALID_WORK_DIMENSION, "command buffer: newWorkDim is " +
                                                                  std::to_string(desc.newWorkDim) +
                                                                  "; 1 to 3 are possible");
    }
    refuse_if(desc.newWorkDim != dimensions &&
                  (desc.pNewGlobalWorkOffset == nullptr || desc.pNewGlobalWorkSize == nullptr),
              UR_RESULT_ERROR_INVALID_VALUE,
              "command buffer: other dimensions need a new offset and a new global size");
    dimensions = desc.newWorkDim;
    const auto copy = [this](const size_t *from, Size3 &to) {
        if (from != nullptr) {
            std::copy_n(from, dimensions, to);
        }
    };
    copy(desc.pNewGlobalWorkOffset, offset);
    copy(desc.pNewGlobalWorkSize, global);
    copy(desc.pNewLocalWorkSize, local);
    if (desc.pNewGlobalWorkSize != nullptr || desc.pNewLocalWorkSize != nullptr) {
        has_local = desc.pNewLocalWorkSize != nullptr;
    }
    auto checked = pi_kernel_launch_desc{};
    set_sizes(checked, sizes());
}

void RecordedLaunch::update_argument(const ur_exp_kernel_arg_properties_t &argument) {
    if (argument.index >= kernel->argument_count.value_or(UINT32_MAX)) {
        throw Refusal(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                      "command buffer: the kernel has no argument " +
                          std::to_string(argument.index));
    }
    arguments.set(argument);
}

namespace {

ur_exp_kernel_arg_properties_t argument_of(uint32_t index, ur_exp_kernel_arg_type_t type) {
    ur_exp_kernel_arg_properties_t argument{};
    argument.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES;
    argument.type = type;
    argument.index = index;
    return argument;
}

ur_exp_kernel_arg_properties_t
argument_of(const ur_exp_command_buffer_update_memobj_arg_desc_t &desc) {
    auto argument = argument_of(desc.argIndex, UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ);
    argument.value.memObjTuple = {desc.hNewMemObjArg, UR_MEM_FLAG_READ_WRITE};
    if (desc.pProperties != nullptr) {
        argument.value.memObjTuple.flags = desc.pProperties->memoryAccess;
    }
    return argument;
}

ur_exp_kernel_arg_properties_t
argument_of(const ur_exp_command_buffer_update_pointer_arg_desc_t &desc) {
    auto argument = argument_of(desc.argIndex, UR_EXP_KERNEL_ARG_TYPE_POINTER);
    argument.size = sizeof(void *);
    argument.value.pointer =
        desc.pNewPointerArg != nullptr ? *static_cast<void *const *>(desc.pNewPointerArg) : nullptr;
    return argument;
}

/// A value of NULL is work-group memory.
ur_exp_kernel_arg_properties_t
argument_of(const ur_exp_command_buffer_update_value_arg_desc_t &desc) {
    auto argument =
        argument_of(desc.argIndex, desc.pNewValueArg != nullptr ? UR_EXP_KERNEL_ARG_TYPE_VALUE
                                                                : UR_EXP_KERNEL_ARG_TYPE_LOCAL);
    argument.size = desc.argSize;
    argument.value.value = desc.pNewValueArg;
    return argument;
}

} // namespace

void RecordedLaunch::update(const LaunchUpdate &desc) {
    update_kernel(desc.hNewKernel);
    update_sizes(desc);
    const auto update_each = [this](uint32_t count, const auto *list) {
        for (uint32_t i = 0; i < count; ++i) {
            update_argument(argument_of(needed(list)[i]));
        }
    };
    update_each(desc.numNewMemObjArgs, desc.pNewMemObjArgList);
    update_each(desc.numNewPointerArgs, desc.pNewPointerArgList);
    update_each(desc.numNewValueArgs, desc.pNewValueArgList);
}

namespace {

// ----- Recording --------------------------------------------------------------------------------

/// The arguments with which all functions that append a command end.
struct Place {
    uint32_t sync_count;
    const SyncPoint *syncs;
    uint32_t event_count;
    const ur_event_handle_t *events;
    SyncPoint *out_sync;
    ur_event_handle_t *out_event;
    ur_exp_command_buffer_command_handle_t *out_command;
};

void check_place(const Buffer &buffer, const Place &place) {
    refuse_if(buffer.finalized, UR_RESULT_ERROR_INVALID_OPERATION,
              "command buffer: it is finalized");
    refuse_if((place.syncs == nullptr) != (place.sync_count == 0),
              UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP,
              "command buffer: sync points and their count do not agree");
    refuse_if((place.events == nullptr) != (place.event_count == 0),
              UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST,
              "command buffer: events and their count do not agree");
    refuse_if(place.events != nullptr || place.out_event != nullptr,
              UR_RESULT_ERROR_UNSUPPORTED_FEATURE, "command buffer: its commands have no events");
    refuse_if(place.out_command != nullptr && !buffer.descriptor.isUpdatable,
              UR_RESULT_ERROR_INVALID_OPERATION,
              "command buffer: a command's handle needs an updatable command buffer");
    for (uint32_t i = 0; i < place.sync_count; ++i) {
        if (place.syncs[i] >= buffer.commands.size()) {
            throw Refusal(UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_EXP,
                          "command buffer: sync point " + std::to_string(place.syncs[i]) +
                              " does not exist");
        }
    }
}

void append(BufferHandle buffer, const Place &place, std::unique_ptr<Command> command) {
    const std::lock_guard lock(deref(buffer).mutex);
    check_place(*buffer, place);
    command->buffer = buffer;
    command->after.assign(place.syncs, place.syncs + place.sync_count);
    buffer->commands.push_back(std::move(command));
    if (place.out_sync != nullptr) {
        *place.out_sync = static_cast<SyncPoint>(buffer->commands.size() - 1);
    }
    if (place.out_command != nullptr) {
        *place.out_command = buffer->commands.back().get();
    }
}

void append(BufferHandle buffer, const Place &place, Run run) {
    auto command = std::make_unique<Command>();
    command->run = std::move(run);
    append(buffer, place, std::move(command));
}

void check_size(bool is_right, const char *what) {
    if (!is_right) {
        throw Refusal(UR_RESULT_ERROR_INVALID_SIZE, std::string("command buffer: ") + what);
    }
}

void check_flags(uint32_t flags, uint32_t unknown) {
    refuse_if((flags & unknown) != 0, UR_RESULT_ERROR_INVALID_ENUMERATION,
              "command buffer: unknown flags");
}

// What a recorded command keeps of its arguments.

Ref<ur_mem_handle_t_> recorded(ur_mem_handle_t mem) {
    return Ref(&deref(mem));
}
Ref<ur_mem_handle_t_> recorded(ur_mem_handle_t mem, size_t offset, size_t size) {
    const uint64_t whole = deref(mem).core->size();
    check_size(offset <= whole && size <= whole - offset, "the range ends behind the buffer");
    return Ref(mem);
}
std::vector<uint8_t> recorded(const void *pattern, size_t pattern_size, size_t size) {
    const auto *const bytes = static_cast<const uint8_t *>(needed(pattern));
    check_size(pattern_size != 0 && size != 0 && size % pattern_size == 0,
               "a fill's size is not a multiple of its pattern's");
    return {bytes, bytes + pattern_size};
}

template <class T>
const T &given(const T &argument) {
    return argument;
}
ur_mem_handle_t given(const Ref<ur_mem_handle_t_> &mem) {
    return mem.get();
}
const void *given(const std::vector<uint8_t> &pattern) {
    return pattern.data();
}

/// Calls urEnqueue...(queue, arguments..., wait list, event).
template <class Function, class... Arguments>
Run later(Function function, Arguments... arguments) {
    return [=](const Target &to) {
        return function(to.queue, given(arguments)..., to.waits.count, to.waits.events,
                        to.out_event);
    };
}

std::vector<Ref<ur_kernel_handle_t_>> recorded_alternatives(ur_kernel_handle_t kernel,
                                                            uint32_t count,
                                                            const ur_kernel_handle_t *kernels) {
    std::vector<Ref<ur_kernel_handle_t_>> list;
    refuse_if((kernels == nullptr) != (count == 0) ||
                  std::find(kernels, kernels + count, kernel) != kernels + count,
              UR_RESULT_ERROR_INVALID_VALUE,
              "command buffer: the alternatives and their count do not agree, or hKernel is "
              "one of them");
    for (uint32_t i = 0; i < count; ++i) {
        list.emplace_back(&deref(kernels[i]));
    }
    return list;
}

std::unique_ptr<RecordedLaunch> recorded_launch(ur_kernel_handle_t kernel, const WorkSizes &sizes,
                                                const ArgumentList &arguments) {
    auto checked = pi_kernel_launch_desc{};
    set_sizes(checked, sizes);
    check_arguments(arguments);
    auto launch = std::make_unique<RecordedLaunch>();
    launch->kernel = Ref(&deref(kernel));
    launch->dimensions = sizes.dimensions;
    std::copy_n(checked.global_offset, 3, launch->offset);
    std::copy_n(checked.global_size, 3, launch->global);
    std::copy_n(checked.local_size, 3, launch->local);
    launch->has_local = sizes.local != nullptr;
    for (const ur_exp_kernel_arg_properties_t &argument : arguments) {
        if (argument.index >= arguments.count) {
            throw Refusal(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                          "command buffer: an argument before argument " +
                              std::to_string(argument.index) + " is missing");
        }
        launch->arguments.set(argument);
    }
    const size_t count = launch->arguments.size();
    if (count != arguments.count || count != kernel->argument_count.value_or(arguments.count)) {
        throw Refusal(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                      "command buffer: " + std::to_string(count) +
                          " different arguments are not those of the kernel");
    }
    return launch;
}

void append_launch(BufferHandle buffer, const Place &place, ur_kernel_handle_t kernel,
                   const WorkSizes &sizes, const ArgumentList &arguments,
                   uint32_t alternative_count, const ur_kernel_handle_t *alternatives) {
    deref(buffer);
    deref(kernel);
    needed(sizes.global);
    auto command = std::make_unique<Command>();
    auto listed = recorded_alternatives(kernel, alternative_count, alternatives);
    command->launch = recorded_launch(kernel, sizes, arguments);
    command->launch->alternatives = std::move(listed);
    append(buffer, place, std::move(command));
}

// ----- Replay -----------------------------------------------------------------------------------

Ref<ur_event_handle_t_> adopt(ur_event_handle_t event) {
    Ref<ur_event_handle_t_> reference(event);
    if (event != nullptr) {
        release(event);
    }
    return reference;
}

/// Enqueues the commands of a command buffer one by one. If one fails, those before it have been
/// enqueued.
class Replay {
public:
    Replay(const Buffer &buffer, ur_queue_handle_t queue, WaitList waits)
        : buffer_(buffer), queue_(queue),
          in_order_((pi_info<uint64_t, piQueueGetInfo>(queue->core.get(), PI_QUEUE_INFO_FLAGS)
                         .value_or(0) &
                     PI_QUEUE_OUT_OF_ORDER) == 0),
          start_(waits.events, waits.events + waits.count) {
        if (buffer.newest && !(in_order_ && buffer.newest->queue.get() == queue)) {
            start_.push_back(buffer.newest.get());
        }
    }

    /// The event ends with the last command.
    ur_result_t run(Ref<ur_event_handle_t_> &out_end) {
        if (buffer_.commands.empty()) {
            return wait_for(start_, out_end);
        }
        return in_order_ ? run_in_order(out_end) : run_out_of_order(out_end);
    }

private:
    using Events = std::vector<ur_event_handle_t>;

    static WaitList list(const Events &events) {
        return {static_cast<uint32_t>(events.size()), events.empty() ? nullptr : events.data()};
    }

    template <class Enqueue>
    static ur_result_t with_event(Ref<ur_event_handle_t_> &out, Enqueue enqueue) {
        ur_event_handle_t event = nullptr;
        const ur_result_t result = enqueue(&event);
        if (result == UR_RESULT_SUCCESS) {
            out = adopt(event);
        }
        return result;
    }
    ur_result_t wait_for(const Events &events, Ref<ur_event_handle_t_> &out) {
        return with_event(out, [&](ur_event_handle_t *event) {
            const WaitList waits = list(events);
            return unified_runtime::urEnqueueEventsWait(queue_, waits.count, waits.events, event);
        });
    }
    ur_result_t run_command(const Command &command, const Events &events,
                            ur_event_handle_t *event) {
        const Target target{queue_, list(events), event};
        return command.launch != nullptr ? command.launch->run(target) : command.run(target);
    }

    ur_result_t run_in_order(Ref<ur_event_handle_t_> &out_end) {
        const auto &commands = buffer_.commands;
        for (size_t i = 0; i + 1 < commands.size(); ++i) {
            const ur_result_t result =
                run_command(*commands[i], i == 0 ? start_ : Events{}, nullptr);
            if (result != UR_RESULT_SUCCESS) {
                return result;
            }
        }
        return with_event(out_end, [&](ur_event_handle_t *event) {
            return run_command(*commands.back(), commands.size() == 1 ? start_ : Events{}, event);
        });
    }

    ur_result_t run_out_of_order(Ref<ur_event_handle_t_> &out_end) {
        const auto &commands = buffer_.commands;
        std::vector<Ref<ur_event_handle_t_>> ends(commands.size());
        std::vector<bool> has_follower(commands.size());
        for (size_t i = 0; i < commands.size(); ++i) {
            const Events events = predecessors(i, ends, has_follower);
            const ur_result_t result = with_event(ends[i], [&](ur_event_handle_t *event) {
                return run_command(*commands[i], events, event);
            });
            if (result != UR_RESULT_SUCCESS) {
                return result;
            }
        }
        Events last;
        for (size_t i = 0; i < commands.size(); ++i) {
            if (!has_follower[i]) {
                last.push_back(ends[i].get());
            }
        }
        if (last.size() == 1) {
            out_end = ends.back(); // nobody follows the last command
            return UR_RESULT_SUCCESS;
        }
        return wait_for(last, out_end);
    }

    Events predecessors(size_t command, const std::vector<Ref<ur_event_handle_t_>> &ends,
                        std::vector<bool> &has_follower) const {
        Events events;
        const auto follow = [&](size_t other) {
            events.push_back(ends[other].get());
            has_follower[other] = true;
        };
        if (buffer_.descriptor.isInOrder && command != 0) {
            follow(command - 1);
        } else if (!buffer_.descriptor.isInOrder) {
            for (const SyncPoint other : buffer_.commands[command]->after) {
                follow(other);
            }
        }
        return events.empty() ? start_ : events;
    }

    const Buffer &buffer_;
    const ur_queue_handle_t queue_;
    const bool in_order_;
    Events start_;
};

void check_enqueue(const Buffer &buffer, const ur_queue_handle_t_ &queue, WaitList waits) {
    refuse_if(!buffer.finalized, UR_RESULT_ERROR_INVALID_OPERATION,
              "command buffer: it is not finalized");
    refuse_if(
        queue.context.get() != buffer.context.get() || queue.device.get() != buffer.device.get(),
        UR_RESULT_ERROR_INVALID_QUEUE, "command buffer: the queue is of another context or device");
    refuse_if((waits.events == nullptr) != (waits.count == 0),
              UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST,
              "command buffer: events and their count do not agree");
}

} // namespace

// ----- Command buffers --------------------------------------------------------------------------

ur_result_t UR_APICALL urCommandBufferCreateExp(ur_context_handle_t context,
                                                ur_device_handle_t device,
                                                const ur_exp_command_buffer_desc_t *desc,
                                                BufferHandle *out_buffer) {
    return boundary([&] {
        deref(context).check_device(device);
        needed(desc);
        needed(out_buffer);
        *out_buffer = new Buffer(context, device, *desc);
    });
}

ur_result_t UR_APICALL urCommandBufferFinalizeExp(BufferHandle buffer) {
    return boundary([&] {
        const std::lock_guard lock(deref(buffer).mutex);
        refuse_if(std::exchange(buffer->finalized, true), UR_RESULT_ERROR_INVALID_OPERATION,
                  "command buffer: it is finalized");
    });
}

ur_result_t UR_APICALL urCommandBufferGetInfoExp(BufferHandle buffer,
                                                 ur_exp_command_buffer_info_t name, size_t size,
                                                 void *value, size_t *out_size) {
    return boundary([&] {
        deref(buffer);
        const InfoAnswer answer(size, value, out_size);
        switch (name) {
        case UR_EXP_COMMAND_BUFFER_INFO_REFERENCE_COUNT:
            return answer(buffer->references.load());
        case UR_EXP_COMMAND_BUFFER_INFO_DESCRIPTOR:
            return answer(buffer->descriptor);
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION,
                          "urCommandBufferGetInfoExp: unknown name");
        }
    });
}

ur_result_t UR_APICALL urEnqueueCommandBufferExp(ur_queue_handle_t queue, BufferHandle buffer,
                                                 uint32_t wait_count,
                                                 const ur_event_handle_t *waits,
                                                 ur_event_handle_t *out_event) {
    return boundary([&] {
        deref(queue);
        const std::lock_guard lock(deref(buffer).mutex);
        check_enqueue(*buffer, *queue, {wait_count, waits});
        auto event = std::make_unique<ur_event_handle_t_>(queue->context.get(), queue,
                                                          UR_COMMAND_ENQUEUE_COMMAND_BUFFER_EXP);
        Ref<ur_event_handle_t_> end;
        const ur_result_t result = Replay(*buffer, queue, {wait_count, waits}).run(end);
        if (result == UR_RESULT_SUCCESS) {
            event->core = end->core;
            buffer->newest = adopt(event.release());
            if (out_event != nullptr) {
                retain(buffer->newest.get());
                *out_event = buffer->newest.get();
            }
        }
        return result;
    });
}

ur_result_t UR_APICALL urCommandBufferUpdateKernelLaunchExp(BufferHandle buffer, uint32_t count,
                                                            const LaunchUpdate *updates) {
    return boundary([&] {
        const std::lock_guard lock(deref(buffer).mutex);
        needed(updates);
        check_size(count != 0, "no updates");
        for (uint32_t i = 0; i < count; ++i) {
            deref(updates[i].hCommand);
        }
        refuse_if(!buffer->descriptor.isUpdatable || !buffer->finalized,
                  UR_RESULT_ERROR_INVALID_OPERATION,
                  "command buffer: it is not updatable, or not finalized");
        for (uint32_t i = 0; i < count; ++i) {
            const Command &command = *updates[i].hCommand;
            refuse_if(command.buffer != buffer || command.launch == nullptr,
                      UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP,
                      "command buffer: the command is of another one, or is no launch");
            command.launch->update(updates[i]);
        }
    });
}

// ----- Appended commands ------------------------------------------------------------------------

// clang-format off
#define PLACE_PARAMETERS                                                                           \
    uint32_t sync_count, const SyncPoint *syncs, uint32_t event_count,                             \
    const ur_event_handle_t *events, SyncPoint *out_sync, ur_event_handle_t *out_event,            \
    ur_exp_command_buffer_command_handle_t *out_command
// clang-format on
#define PLACE                                                                                      \
    Place {                                                                                        \
        sync_count, syncs, event_count, events, out_sync, out_event, out_command                   \
    }

ur_result_t UR_APICALL urCommandBufferAppendKernelLaunchWithArgsExp(
    BufferHandle buffer, ur_kernel_handle_t kernel, uint32_t dimensions,
    const size_t *global_offset, const size_t *global_size, const size_t *local_size,
    uint32_t argument_count, const ur_exp_kernel_arg_properties_t *arguments,
    uint32_t alternative_count, ur_kernel_handle_t *alternatives, PLACE_PARAMETERS) {
    return boundary([&] {
        append_launch(buffer, PLACE, kernel, {dimensions, global_offset, global_size, local_size},
                      {arguments, argument_count}, alternative_count, alternatives);
    });
}

// UR 0.12 has no function that sets the arguments of a kernel for it.
ur_result_t UR_APICALL urCommandBufferAppendKernelLaunchExp(
    BufferHandle buffer, ur_kernel_handle_t kernel, uint32_t dimensions,
    const size_t *global_offset, const size_t *global_size, const size_t *local_size,
    uint32_t alternative_count, ur_kernel_handle_t *alternatives, PLACE_PARAMETERS) {
    return boundary([&] {
        refuse_if(deref(kernel).argument_count.value_or(0) != 0,
                  UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  "urCommandBufferAppendKernelLaunchExp: the kernel has arguments; append "
                  "it with urCommandBufferAppendKernelLaunchWithArgsExp");
        append_launch(buffer, PLACE, kernel, {dimensions, global_offset, global_size, local_size},
                      {}, alternative_count, alternatives);
    });
}

ur_result_t UR_APICALL urCommandBufferAppendUSMMemcpyExp(BufferHandle buffer, void *target,
                                                         const void *source, size_t size,
                                                         PLACE_PARAMETERS) {
    return boundary([&] {
        check_size(size != 0, "a copy of 0 bytes");
        append(buffer, PLACE,
               later(unified_runtime::urEnqueueUSMMemcpy, false, needed(target), needed(source),
                     size));
    });
}

ur_result_t UR_APICALL urCommandBufferAppendUSMFillExp(BufferHandle buffer, void *target,
                                                       const void *pattern, size_t pattern_size,
                                                       size_t size, PLACE_PARAMETERS) {
    return boundary([&] {
        append(buffer, PLACE,
               later(unified_runtime::urEnqueueUSMFill, needed(target), pattern_size,
                     recorded(pattern, pattern_size, size), size));
    });
}

ur_result_t UR_APICALL urCommandBufferAppendUSMPrefetchExp(BufferHandle buffer, const void *memory,
                                                           size_t size,
                                                           ur_usm_migration_flags_t flags,
                                                           PLACE_PARAMETERS) {
    return boundary([&] {
        check_size(size != 0, "a prefetch of 0 bytes");
        check_flags(flags, UR_USM_MIGRATION_FLAGS_MASK);
        append(buffer, PLACE,
               later(unified_runtime::urEnqueueUSMPrefetch, needed(memory), size, flags));
    });
}

// Advice has no wait list; commands that follow it wait for those before it, too.
ur_result_t UR_APICALL urCommandBufferAppendUSMAdviseExp(BufferHandle buffer, const void *memory,
                                                         size_t size, ur_usm_advice_flags_t advice,
                                                         PLACE_PARAMETERS) {
    return boundary([&] {
        needed(memory);
        check_size(size != 0, "advice for 0 bytes");
        check_flags(advice, UR_USM_ADVICE_FLAGS_MASK);
        append(buffer, PLACE, [=](const Target &to) {
            const ur_result_t result =
                unified_runtime::urEnqueueUSMAdvise(to.queue, memory, size, advice, nullptr);
            return result != UR_RESULT_SUCCESS ? result
                                               : later(unified_runtime::urEnqueueEventsWait)(to);
        });
    });
}

ur_result_t UR_APICALL urCommandBufferAppendMemBufferCopyExp(
    BufferHandle buffer, ur_mem_handle_t source, ur_mem_handle_t target, size_t source_offset,
    size_t target_offset, size_t size, PLACE_PARAMETERS) {
    return boundary([&] {
        append(buffer, PLACE,
               later(unified_runtime::urEnqueueMemBufferCopy, recorded(source, source_offset, size),
                     recorded(target, target_offset, size), source_offset, target_offset, size));
    });
}

ur_result_t UR_APICALL urCommandBufferAppendMemBufferWriteExp(BufferHandle buffer,
                                                              ur_mem_handle_t mem, size_t offset,
                                                              size_t size, const void *source,
                                                              PLACE_PARAMETERS) {
    return boundary([&] {
        append(buffer, PLACE,
               later(unified_runtime::urEnqueueMemBufferWrite, recorded(mem, offset, size), false,
                     offset, size, needed(source)));
    });
}

ur_result_t UR_APICALL urCommandBufferAppendMemBufferReadExp(BufferHandle buffer,
                                                             ur_mem_handle_t mem, size_t offset,
                                                             size_t size, void *target,
                                                             PLACE_PARAMETERS) {
    return boundary([&] {
        append(buffer, PLACE,
               later(unified_runtime::urEnqueueMemBufferRead, recorded(mem, offset, size), false,
                     offset, size, needed(target)));
    });
}

ur_result_t UR_APICALL urCommandBufferAppendMemBufferCopyRectExp(
    BufferHandle buffer, ur_mem_handle_t source, ur_mem_handle_t target,
    ur_rect_offset_t source_origin, ur_rect_offset_t target_origin, ur_rect_region_t region,
    size_t source_row_pitch, size_t source_slice_pitch, size_t target_row_pitch,
    size_t target_slice_pitch, PLACE_PARAMETERS) {
    return boundary([&] {
        append(buffer, PLACE,
               later(unified_runtime::urEnqueueMemBufferCopyRect, recorded(source),
                     recorded(target), source_origin, target_origin, region, source_row_pitch,
                     source_slice_pitch, target_row_pitch, target_slice_pitch));
    });
}

ur_result_t UR_APICALL urCommandBufferAppendMemBufferWriteRectExp(
    BufferHandle buffer, ur_mem_handle_t mem, ur_rect_offset_t origin, ur_rect_offset_t host_origin,
    ur_rect_region_t region, size_t row_pitch, size_t slice_pitch, size_t host_row_pitch,
    size_t host_slice_pitch, void *source, PLACE_PARAMETERS) {
    return boundary([&] {
        append(buffer, PLACE,
               later(unified_runtime::urEnqueueMemBufferWriteRect, recorded(mem), false, origin,
                     host_origin, region, row_pitch, slice_pitch, host_row_pitch, host_slice_pitch,
                     needed(source)));
    });
}

ur_result_t UR_APICALL urCommandBufferAppendMemBufferReadRectExp(
    BufferHandle buffer, ur_mem_handle_t mem, ur_rect_offset_t origin, ur_rect_offset_t host_origin,
    ur_rect_region_t region, size_t row_pitch, size_t slice_pitch, size_t host_row_pitch,
    size_t host_slice_pitch, void *target, PLACE_PARAMETERS) {
    return boundary([&] {
        append(buffer, PLACE,
               later(unified_runtime::urEnqueueMemBufferReadRect, recorded(mem), false, origin,
                     host_origin, region, row_pitch, slice_pitch, host_row_pitch, host_slice_pitch,
                     needed(target)));
    });
}

ur_result_t UR_APICALL urCommandBufferAppendMemBufferFillExp(BufferHandle buffer,
                                                             ur_mem_handle_t mem,
                                                             const void *pattern,
                                                             size_t pattern_size, size_t offset,
                                                             size_t size, PLACE_PARAMETERS) {
    return boundary([&] {
        append(buffer, PLACE,
               later(unified_runtime::urEnqueueMemBufferFill, recorded(mem, offset, size),
                     recorded(pattern, pattern_size, size), pattern_size, offset, size));
    });
}

#undef PLACE
#undef PLACE_PARAMETERS

} // namespace pi::unified_runtime

ur_exp_command_buffer_handle_t_::ur_exp_command_buffer_handle_t_(
    ur_context_handle_t in, ur_device_handle_t on, const ur_exp_command_buffer_desc_t &desc)
    : context(in), device(on) {
    descriptor.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC;
    descriptor.isUpdatable = desc.isUpdatable;
    descriptor.isInOrder = desc.isInOrder; // enableProfiling: times are those of the last command
}

// The commands' memory may be freed next.
ur_exp_command_buffer_handle_t_::~ur_exp_command_buffer_handle_t_() {
    if (newest && newest->core) {
        piEventWait(newest->core.get(), PI_TIMEOUT_NEVER);
    }
}
