// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "functions.hpp"
#include "info.hpp"
#include "launch.hpp"
#include "native.hpp"
#include "program.hpp"

#include <pi/describe/descriptor.hpp>

#include <algorithm>
#include <array>

using namespace pi::unified_runtime;

ur_kernel_handle_t_::ur_kernel_handle_t_(ur_program_handle_t of,
                                         std::shared_ptr<facade::Kernel> of_pi)
    : program(of), core(std::move(of_pi)), argument_count(pi_info<uint32_t, piKernelGetInfo>(
                                               core->any(), PI_KERNEL_INFO_ARGUMENT_COUNT)) {
    for (const pi_device device : core->context().devices()) {
        if (pi_info<uint32_t, piDeviceGetInfo>(device, PI_DEVICE_INFO_USM_CAPABILITIES)
                .value_or(0) != 0) {
            usm_devices_.push_back(device);
        }
    }
}

uint64_t ur_kernel_handle_t_::indirect_on(pi_device device) const noexcept {
    const uint64_t flags = indirect.load(std::memory_order_relaxed);
    return flags != 0 &&
                   std::find(usm_devices_.begin(), usm_devices_.end(), device) != usm_devices_.end()
               ? flags
               : 0;
}

namespace pi::unified_runtime {

using runtime::check;

namespace {

static_assert(sizeof(size_t) == sizeof(uint64_t)); // UR's sizes are PI's

// ----- Infos of devices -------------------------------------------------------------------------

template <class T, class Get>
std::optional<T> info_of(Get get, const ur_kernel_handle_t_ &kernel, pi_device device,
                         uint32_t name) {
    T value{};
    uint64_t size = 0;
    if (get(kernel.core->at(device), device, name, sizeof value, &value, &size) != PI_SUCCESS ||
        size != sizeof value) {
        return std::nullopt;
    }
    return value;
}

template <class T>
void answer_if(const InfoAnswer &answer, const std::optional<T> &value, uint32_t name) {
    if (!value) {
        unknown_info(name);
    }
    answer(*value);
}

constexpr std::array<std::pair<ur_kernel_group_info_t, uint32_t>, 4> group_infos{{
    {UR_KERNEL_GROUP_INFO_WORK_GROUP_SIZE, PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE},
    {UR_KERNEL_GROUP_INFO_LOCAL_MEM_SIZE, PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE},
    {UR_KERNEL_GROUP_INFO_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
     PI_KERNEL_GROUP_INFO_PREFERRED_GROUP_MULTIPLE},
    {UR_KERNEL_GROUP_INFO_PRIVATE_MEM_SIZE, PI_KERNEL_GROUP_INFO_PRIVATE_MEMORY_SIZE},
}};
constexpr std::array<std::pair<ur_kernel_sub_group_info_t, uint32_t>, 3> sub_group_infos{{
    {UR_KERNEL_SUB_GROUP_INFO_MAX_SUB_GROUP_SIZE, PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE},
    {UR_KERNEL_SUB_GROUP_INFO_MAX_NUM_SUB_GROUPS, PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT},
    {UR_KERNEL_SUB_GROUP_INFO_SUB_GROUP_SIZE_INTEL, PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE},
}};

// ----- Execution infos --------------------------------------------------------------------------

constexpr uint64_t every_usm =
    PI_LAUNCH_INDIRECT_USM_HOST | PI_LAUNCH_INDIRECT_USM_DEVICE | PI_LAUNCH_INDIRECT_USM_SHARED;

template <class T>
T read_value(const void *value, size_t size) {
    if (size != sizeof(T)) {
        throw Refusal(UR_RESULT_ERROR_INVALID_SIZE, "urKernelSetExecInfo: " + std::to_string(size) +
                                                        " bytes for a value of " +
                                                        std::to_string(sizeof(T)));
    }
    return *static_cast<const T *>(value);
}

/// PI lists no pointers: a launch may reach all memory of the kinds that the pointers have.
uint64_t kinds_of(const facade::UsmRanges &ranges, std::span<void *const> pointers) {
    uint64_t flags = 0;
    for (const void *pointer : pointers) {
        const auto range = ranges.find(pointer);
        constexpr std::array<std::pair<pi_usm_kind, uint64_t>, 3> kinds{{
            {PI_USM_HOST, PI_LAUNCH_INDIRECT_USM_HOST},
            {PI_USM_DEVICE, PI_LAUNCH_INDIRECT_USM_DEVICE},
            {PI_USM_SHARED, PI_LAUNCH_INDIRECT_USM_SHARED},
        }};
        flags |= range ? translate(kinds, range->kind, every_usm) : every_usm;
    }
    return flags;
}

// ----- Sizes ------------------------------------------------------------------------------------

void suggest(const ur_kernel_handle_t_ &kernel, const ur_queue_handle_t_ &queue,
             const WorkSizes &sizes, size_t *out_local_size) {
    needed(out_local_size);
    auto desc = pi::desc<pi_kernel_launch_desc>();
    set_sizes(desc, sizes);
    desc.kernel = kernel.core->at(queue.core.device());
    uint64_t local_size[3]{};
    check(piKernelGetSuggestedLocalSize(queue.core.get(), &desc, local_size),
          "piKernelGetSuggestedLocalSize");
    std::copy_n(local_size, sizes.dimensions, out_local_size);
}

// ----- Native kernels ---------------------------------------------------------------------------

runtime::Kernel around_native(const ur_program_handle_t_ &program, const pi_native_desc &desc) {
    runtime::Kernel kernel;
    check(piKernelCreateWithNativeHandle(program.core->parts().at(0).get(), &desc, kernel.out()),
          "piKernelCreateWithNativeHandle");
    return kernel;
}

ur_kernel_handle_t adopt(ur_program_handle_t program, const pi_native_desc &desc) {
    auto core = facade::Kernel::adopt(program->context->core, program->core, 0,
                                      around_native(*program, desc));
    return new ur_kernel_handle_t_(program, std::move(core));
}

/// PI needs the kernel's program: the one of the context that the plugin accepts with it.
ur_kernel_handle_t adopt_of_any(ur_context_handle_t context, const pi_native_desc &desc) {
    for (const auto &program : programs_of(context)) {
        if (!program->core->parts().entries().front().handle) {
            continue;
        }
        try {
            return adopt(program.get(), desc);
        } catch (const runtime::Error &error) {
            if (error.code() != PI_ERROR_INVALID_NATIVE_HANDLE &&
                error.code() != PI_ERROR_INVALID_OPERATION) { // not built
                throw;
            }
        }
    }
    throw Refusal(
        UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
        "urKernelCreateWithNativeHandle: hProgram is NULL, and the kernel is of no program "
        "that the context has; create one of its native program first");
}

} // namespace

ur_result_t UR_APICALL urKernelCreate(ur_program_handle_t program, const char *name,
                                      ur_kernel_handle_t *out_kernel) {
    return boundary([&] {
        deref(program);
        needed(name);
        needed(out_kernel);
        auto core =
            with_codes({{PI_ERROR_INVALID_OPERATION, UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE}},
                       [&] { return facade::Kernel::create(program->core, name); });
        *out_kernel = new ur_kernel_handle_t_(program, std::move(core));
    });
}

ur_result_t UR_APICALL urKernelGetInfo(ur_kernel_handle_t handle, ur_kernel_info_t name,
                                       size_t size, void *value, size_t *out_size) {
    return boundary([&] {
        const ur_kernel_handle_t_ &kernel = deref(handle);
        const InfoAnswer answer(size, value, out_size);
        switch (name) {
        case UR_KERNEL_INFO_FUNCTION_NAME:
            return answer.text(
                pi_info_text<piKernelGetInfo>(kernel.core->any(), PI_KERNEL_INFO_NAME));
        case UR_KERNEL_INFO_NUM_ARGS:
            return answer_if(answer, kernel.argument_count, name);
        case UR_KERNEL_INFO_REFERENCE_COUNT:
            return answer(kernel.references.load());
        case UR_KERNEL_INFO_CONTEXT:
            return answer(kernel.program->context.get());
        case UR_KERNEL_INFO_PROGRAM:
            return answer(kernel.program.get());
        case UR_KERNEL_INFO_ATTRIBUTES:
            return answer.text("");
        case UR_KERNEL_INFO_NUM_REGS:
        case UR_KERNEL_INFO_SPILL_MEM_SIZE:
            return unknown_info(name);
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urKernelGetInfo: unknown name");
        }
    });
}

ur_result_t UR_APICALL urKernelGetGroupInfo(ur_kernel_handle_t handle, ur_device_handle_t device,
                                            ur_kernel_group_info_t name, size_t size, void *value,
                                            size_t *out_size) {
    return boundary([&] {
        const ur_kernel_handle_t_ &kernel = deref(handle);
        const pi_device on = deref(device).device;
        const InfoAnswer answer(size, value, out_size);
        using Size3 = std::array<size_t, 3>;
        switch (name) {
        case UR_KERNEL_GROUP_INFO_WORK_GROUP_SIZE:
        case UR_KERNEL_GROUP_INFO_LOCAL_MEM_SIZE:
        case UR_KERNEL_GROUP_INFO_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        case UR_KERNEL_GROUP_INFO_PRIVATE_MEM_SIZE:
            return answer_if(answer,
                             info_of<size_t>(piKernelGetGroupInfo, kernel, on,
                                             translate(group_infos, name, uint32_t{0})),
                             name);
        case UR_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE:
            return answer(info_of<Size3>(piKernelGetGroupInfo, kernel, on,
                                         PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE)
                              .value_or(Size3{}));
        case UR_KERNEL_GROUP_INFO_GLOBAL_WORK_SIZE: // of built-in kernels
        case UR_KERNEL_GROUP_INFO_COMPILE_MAX_WORK_GROUP_SIZE:
        case UR_KERNEL_GROUP_INFO_COMPILE_MAX_LINEAR_WORK_GROUP_SIZE:
            return unknown_info(name);
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION,
                          "urKernelGetGroupInfo: unknown name");
        }
    });
}

ur_result_t UR_APICALL urKernelGetSubGroupInfo(ur_kernel_handle_t handle, ur_device_handle_t device,
                                               ur_kernel_sub_group_info_t name, size_t size,
                                               void *value, size_t *out_size) {
    return boundary([&] {
        const ur_kernel_handle_t_ &kernel = deref(handle);
        const pi_device on = deref(device).device;
        const InfoAnswer answer(size, value, out_size);
        switch (name) {
        case UR_KERNEL_SUB_GROUP_INFO_MAX_SUB_GROUP_SIZE:
        case UR_KERNEL_SUB_GROUP_INFO_MAX_NUM_SUB_GROUPS:
        case UR_KERNEL_SUB_GROUP_INFO_SUB_GROUP_SIZE_INTEL:
            return answer_if(answer,
                             info_of<uint32_t>(piKernelGetSubGroupInfo, kernel, on,
                                               translate(sub_group_infos, name, uint32_t{0})),
                             name);
        case UR_KERNEL_SUB_GROUP_INFO_COMPILE_NUM_SUB_GROUPS:
            kernel.core->at(on);
            return answer(uint32_t{0}); // PI's kernels require none
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION,
                          "urKernelGetSubGroupInfo: unknown name");
        }
    });
}

ur_result_t UR_APICALL urKernelSetExecInfo(ur_kernel_handle_t kernel, ur_kernel_exec_info_t name,
                                           size_t size, const ur_kernel_exec_info_properties_t *,
                                           const void *value) {
    return boundary([&] {
        deref(kernel);
        needed(value);
        switch (name) {
        case UR_KERNEL_EXEC_INFO_USM_INDIRECT_ACCESS:
            kernel->indirect = read_value<ur_bool_t>(value, size) != 0 ? every_usm : 0;
            return;
        case UR_KERNEL_EXEC_INFO_USM_PTRS:
            kernel->indirect |=
                kinds_of(kernel->core->context().usm(),
                         {static_cast<void *const *>(value), size / sizeof(void *)});
            return;
        case UR_KERNEL_EXEC_INFO_CACHE_CONFIG: // a hint
            refuse_if(read_value<ur_kernel_cache_config_t>(value, size) >
                          UR_KERNEL_CACHE_CONFIG_LARGE_DATA,
                      UR_RESULT_ERROR_INVALID_ENUMERATION,
                      "urKernelSetExecInfo: unknown cache configuration");
            return;
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urKernelSetExecInfo: unknown name");
        }
    });
}

ur_result_t UR_APICALL urKernelGetNativeHandle(ur_kernel_handle_t kernel,
                                               ur_native_handle_t *out_handle) {
    return boundary([&] {
        const pi_device device = deref(kernel).program->devices.front()->device;
        pi_native_handle native{};
        check(piKernelGetNativeHandle(kernel->core->at(device), device, &native),
              "piKernelGetNativeHandle");
        *needed(out_handle) = word_of(kernel->program->devices.front()->platform, native);
    });
}

ur_result_t UR_APICALL urKernelCreateWithNativeHandle(
    ur_native_handle_t native, ur_context_handle_t context, ur_program_handle_t program,
    const ur_kernel_native_properties_t *properties, ur_kernel_handle_t *out_kernel) {
    return boundary([&] {
        deref(context);
        needed(out_kernel);
        refuse_if(context->core->parts().size() > 1, UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  "urKernelCreateWithNativeHandle: the context has several backends");
        auto desc = pi::desc<pi_native_desc>();
        desc.flags = properties != nullptr && properties->isNativeHandleOwned ? PI_NATIVE_OWN : 0;
        const ur_platform_handle_t_ &platform = context->devices.front()->platform;
        desc.device =
            platform.backend == UR_BACKEND_CUDA ? context->devices.front()->device : nullptr;
        desc.handle = native_of_type(platform, PI_KIND_KERNEL, native);
        *out_kernel = program != nullptr ? adopt(program, desc) : adopt_of_any(context, desc);
    });
}

ur_result_t UR_APICALL urKernelGetSuggestedLocalWorkSize(
    ur_kernel_handle_t kernel, ur_queue_handle_t queue, uint32_t dimensions,
    const size_t *global_offset, const size_t *global_size, size_t *out_local_size) {
    return boundary([&] {
        suggest(deref(kernel), deref(queue),
                {dimensions, needed(global_offset), global_size, nullptr}, out_local_size);
    });
}

// The arguments do not matter.
ur_result_t UR_APICALL urKernelGetSuggestedLocalWorkSizeWithArgs(
    ur_kernel_handle_t kernel, ur_queue_handle_t queue, uint32_t dimensions,
    const size_t *global_offset, const size_t *global_size, uint32_t argument_count,
    const ur_exp_kernel_arg_properties_t *arguments, size_t *out_local_size) {
    return boundary([&] {
        check_arguments({arguments, argument_count});
        suggest(deref(kernel), deref(queue),
                {dimensions, needed(global_offset), global_size, nullptr}, out_local_size);
    });
}

ur_result_t UR_APICALL urKernelSuggestMaxCooperativeGroupCount(
    ur_kernel_handle_t kernel, ur_device_handle_t device, uint32_t dimensions,
    const size_t *local_size, size_t local_memory_size, uint32_t *out_count) {
    return boundary([&] {
        const pi_device on = deref(device).device;
        deref(kernel);
        needed(out_count);
        auto desc = pi::desc<pi_kernel_launch_desc>();
        // Any global size will do.
        set_sizes(desc, {dimensions, nullptr, needed(local_size), local_size});
        desc.kernel = kernel->core->at(on);
        desc.local_memory_size = local_memory_size;
        const facade::Queue queue(kernel->program->context->core, on, 0); // PI asks a queue
        check(piKernelGetMaxCooperativeGroups(queue.get(), &desc, out_count),
              "piKernelGetMaxCooperativeGroups");
    });
}

} // namespace pi::unified_runtime
