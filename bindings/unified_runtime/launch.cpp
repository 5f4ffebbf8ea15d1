// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.hpp"

#include "functions.hpp"
#include "memory.hpp"
#include "program.hpp"

#include <pi/describe/descriptor.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace pi::unified_runtime {

void set_sizes(pi_kernel_launch_desc &desc, const WorkSizes &sizes) {
    if (sizes.dimensions < 1 || sizes.dimensions > 3) {
        throw Refusal(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
                      "launch: " + std::to_string(sizes.dimensions) + " dimensions; 1 to 3 exist");
    }
    needed(sizes.global);
    desc.dimensions = sizes.dimensions;
    for (uint32_t i = 0; i < sizes.dimensions; ++i) {
        if (sizes.global[i] == 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_WORK_DIMENSION,
                          "launch: global size " + std::to_string(i) + " is 0");
        }
        if (sizes.local != nullptr && sizes.local[i] == 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE,
                          "launch: local size " + std::to_string(i) + " is 0");
        }
        desc.global_offset[i] = sizes.offset != nullptr ? sizes.offset[i] : 0;
        desc.global_size[i] = sizes.global[i];
        desc.local_size[i] = sizes.local != nullptr ? sizes.local[i] : 0;
    }
}

void check_arguments(const ArgumentList &list) {
    if (list.count > 0) {
        needed(list.arguments);
    }
    for (const ur_exp_kernel_arg_properties_t &argument : list) {
        if (argument.type > UR_EXP_KERNEL_ARG_TYPE_SAMPLER) {
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "launch: argument " +
                                                                   std::to_string(argument.index) +
                                                                   " is of an unknown type");
        }
    }
}

namespace {

// ----- Arguments --------------------------------------------------------------------------------

[[noreturn]] void wrong_argument(ur_result_t code, uint32_t index, const char *why) {
    throw Refusal(code, "launch: argument " + std::to_string(index) + " " + why);
}

/// PI's arguments of a launch. Those of most kernels need no memory from the heap.
class Arguments {
public:
    Arguments(const ur_kernel_handle_t_ &kernel, const ArgumentList &list, facade::Command &command)
        : command_(command), count_(list.count) {
        check_arguments(list);
        if (kernel.argument_count && count_ != *kernel.argument_count) {
            throw Refusal(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                          "launch: " + std::to_string(count_) + " arguments; the kernel has " +
                              std::to_string(*kernel.argument_count));
        }
        if (count_ > few_.size()) {
            many_.resize(count_);
        }
        for (const ur_exp_kernel_arg_properties_t &argument : list) {
            if (argument.index >= count_ || data()[argument.index].kind != 0) {
                wrong_argument(UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, argument.index,
                               "is given twice, or another one is missing");
            }
            set(argument, data()[argument.index]);
        }
        resolve_buffers();
    }

    uint32_t count() const noexcept { return count_; }
    const pi_kernel_argument *get() const noexcept {
        return many_.empty() ? few_.data() : many_.data();
    }

private:
    pi_kernel_argument *data() noexcept { return many_.empty() ? few_.data() : many_.data(); }

    void set(const ur_exp_kernel_arg_properties_t &from, pi_kernel_argument &to) {
        switch (from.type) {
        case UR_EXP_KERNEL_ARG_TYPE_VALUE:
            to.kind = PI_ARGUMENT_VALUE;
            to.value = needed(from.value.value);
            to.size = from.size;
            return;
        case UR_EXP_KERNEL_ARG_TYPE_POINTER:
            to.kind = PI_ARGUMENT_POINTER;
            to.pointer = from.value.pointer;
            return;
        case UR_EXP_KERNEL_ARG_TYPE_LOCAL:
            to.kind = PI_ARGUMENT_LOCAL;
            to.size = from.size;
            return;
        case UR_EXP_KERNEL_ARG_TYPE_SAMPLER:
            to.kind = PI_ARGUMENT_SAMPLER;
            to.sampler = sampler_of(from);
            return;
        default:
            set_memory(from.value.memObjTuple, to);
        }
    }

    pi_sampler sampler_of(const ur_exp_kernel_arg_properties_t &argument) const {
        const ur_sampler_handle_t sampler = argument.value.sampler;
        const facade::Queue &queue = command_.queue();
        if (sampler == nullptr || sampler->context->core != queue.shared_context()) {
            wrong_argument(UR_RESULT_ERROR_INVALID_SAMPLER, argument.index,
                           "is NULL, or a sampler of another context");
        }
        return sampler->at(queue.device());
    }

    void set_memory(const ur_exp_kernel_arg_mem_obj_tuple_t &from, pi_kernel_argument &to) {
        if (from.hMem != nullptr && from.hMem->image) {
            to.kind = PI_ARGUMENT_IMAGE;
            command_.check_reachable(*from.hMem->core);
            to.mem = from.hMem->core->mem();
            return;
        }
        to.kind = PI_ARGUMENT_BUFFER; // NULL: a null pointer
        if (from.hMem != nullptr) {
            const facade::Memory &memory = *from.hMem->core;
            to.size = memory.size();
            to.offset = command_.use(memory, access_of(from.flags), 0, memory.size());
            has_buffers_ = true;
        }
    }

    /// The place of a buffer is known when all are declared; until then its offset is its use.
    void resolve_buffers() {
        if (!has_buffers_) {
            return;
        }
        for (uint32_t i = 0; i < count_; ++i) {
            pi_kernel_argument &argument = data()[i];
            if (argument.kind == PI_ARGUMENT_BUFFER && argument.size != 0) {
                const facade::Command::Operand operand = command_.operand(argument.offset);
                argument.mem = operand.mem;
                argument.offset = operand.offset;
            }
        }
    }

    facade::Command &command_;
    const uint32_t count_;
    bool has_buffers_ = false;
    std::array<pi_kernel_argument, 16> few_{};
    std::vector<pi_kernel_argument> many_;
};

// ----- Properties -------------------------------------------------------------------------------

struct PropertyHeader {
    ur_structure_type_t stype;
    const void *pNext;
};

void set_property(pi_kernel_launch_desc &desc, const PropertyHeader *property) {
    switch (property->stype) {
    case UR_STRUCTURE_TYPE_KERNEL_LAUNCH_EXT_PROPERTIES: {
        const auto flags =
            reinterpret_cast<const ur_kernel_launch_ext_properties_t *>(property)->flags;
        refuse_if((flags & UR_KERNEL_LAUNCH_FLAGS_MASK) != 0, UR_RESULT_ERROR_INVALID_ENUMERATION,
                  "launch: unknown flags");
        // Serialized execution on one native queue is only a hint.
        desc.flags |= (flags & UR_KERNEL_LAUNCH_FLAG_COOPERATIVE) != 0 ? PI_LAUNCH_COOPERATIVE : 0;
        return;
    }
    case UR_STRUCTURE_TYPE_KERNEL_LAUNCH_CLUSTER_PROPERTY:
        std::copy_n(
            reinterpret_cast<const ur_kernel_launch_cluster_property_t *>(property)->clusterDim, 3,
            desc.cluster_size);
        return;
    case UR_STRUCTURE_TYPE_KERNEL_LAUNCH_WORKGROUP_PROPERTY:
        desc.local_memory_size =
            reinterpret_cast<const ur_kernel_launch_workgroup_property_t *>(property)
                ->workgroup_mem_size;
        return;
    default:
        throw Refusal(UR_RESULT_ERROR_INVALID_OPERATION,
                      "launch: unknown property " + std::to_string(property->stype));
    }
}

void set_properties(pi_kernel_launch_desc &desc, const ur_kernel_launch_ext_properties_t *first) {
    for (auto property = reinterpret_cast<const PropertyHeader *>(first); property != nullptr;
         property = static_cast<const PropertyHeader *>(property->pNext)) {
        set_property(desc, property);
    }
}

// ----- Device globals ---------------------------------------------------------------------------

struct OnGlobal {
    ur_queue_handle_t queue;
    ur_program_handle_t program;
    const char *name;
    bool is_blocking;
    size_t count, offset;
    WaitList waits;
    ur_event_handle_t *out_event;
};

template <class Desc, class Function, class Pointer>
ur_result_t run_on_global(ur_command_t command, const char *function_name, Function function,
                          const OnGlobal &global, Pointer host_ptr) {
    return boundary([&] {
        deref(global.queue);
        auto desc = pi::desc<Desc>();
        const ur_program_handle_t_ &program = deref(global.program);
        desc.name = needed(global.name);
        desc.host_ptr = needed(host_ptr);
        Enqueue enqueue(global.queue, global.waits, command, global.out_event);
        desc.flags = blocking(global.is_blocking);
        desc.program = program.core->at(enqueue.queue().device());
        desc.offset = global.offset;
        desc.size = global.count;
        with_codes({{PI_ERROR_INVALID_NAME, UR_RESULT_ERROR_INVALID_VALUE},
                    {PI_ERROR_INVALID_OPERATION, UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE}},
                   [&] { enqueue.run(function_name, function, desc); });
    });
}

} // namespace

ur_result_t UR_APICALL urEnqueueKernelLaunchWithArgsExp(
    ur_queue_handle_t queue, ur_kernel_handle_t kernel, uint32_t dimensions,
    const size_t *global_offset, const size_t *global_size, const size_t *local_size,
    uint32_t argument_count, const ur_exp_kernel_arg_properties_t *arguments,
    const ur_kernel_launch_ext_properties_t *properties, uint32_t wait_count,
    const ur_event_handle_t *waits, ur_event_handle_t *out_event) {
    return boundary([&] {
        Enqueue enqueue(queue, {wait_count, waits}, UR_COMMAND_KERNEL_LAUNCH, out_event);
        deref(kernel);
        const pi_device device = enqueue.queue().device();
        auto desc = pi::desc<pi_kernel_launch_desc>();
        set_sizes(desc, {dimensions, global_offset, global_size, local_size});
        set_properties(desc, properties);
        desc.flags |= kernel->indirect_on(device);
        desc.kernel = kernel->core->at(device);
        const Arguments list(*kernel, {arguments, argument_count}, enqueue.command());
        desc.arguments = list.get();
        desc.argument_count = list.count();
        const auto run = [&] { enqueue.run("piEnqueueKernelLaunch", piEnqueueKernelLaunch, desc); };
        if (properties == nullptr) {
            return run();
        }
        with_codes({{PI_ERROR_UNSUPPORTED_FEATURE, UR_RESULT_ERROR_INVALID_OPERATION}}, run);
    });
}

ur_result_t UR_APICALL urEnqueueDeviceGlobalVariableWrite(
    ur_queue_handle_t queue, ur_program_handle_t program, const char *name, bool is_blocking,
    size_t count, size_t offset, const void *source, uint32_t wait_count,
    const ur_event_handle_t *waits, ur_event_handle_t *out_event) {
    return run_on_global<pi_device_global_write_desc>(
        UR_COMMAND_DEVICE_GLOBAL_VARIABLE_WRITE, "piEnqueueDeviceGlobalWrite",
        piEnqueueDeviceGlobalWrite,
        {queue, program, name, is_blocking, count, offset, {wait_count, waits}, out_event}, source);
}

ur_result_t UR_APICALL urEnqueueDeviceGlobalVariableRead(
    ur_queue_handle_t queue, ur_program_handle_t program, const char *name, bool is_blocking,
    size_t count, size_t offset, void *target, uint32_t wait_count, const ur_event_handle_t *waits,
    ur_event_handle_t *out_event) {
    return run_on_global<pi_device_global_read_desc>(
        UR_COMMAND_DEVICE_GLOBAL_VARIABLE_READ, "piEnqueueDeviceGlobalRead",
        piEnqueueDeviceGlobalRead,
        {queue, program, name, is_blocking, count, offset, {wait_count, waits}, out_event}, target);
}

} // namespace pi::unified_runtime
