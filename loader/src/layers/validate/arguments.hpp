// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handles that a call names: its arguments, those inside descriptors, and wait lists.
#pragma once

#include "layers/layers.hpp"
#include "layers/validate/validator.hpp"

namespace pi::loader::validate {

/// Checks handles in order, up to the first error.
class Arguments {
public:
    /// `reads_launch`: whether the function reads a launch's arguments.
    Arguments(Validator &validator, const char *function, bool reads_launch) noexcept
        : validator_(validator), function_(function), reads_launch_(reads_launch) {}

    pi_result result() const noexcept { return result_; }
    /// Whether one of them never goes into quarantine: then objects created from them do not,
    /// either.
    bool direct() const noexcept { return direct_; }

    template <typename Handle>
    void one(Handle handle, const char *argument, int64_t index = -1) noexcept {
        if (result_ == PI_SUCCESS)
            result_ = validator_.use(handle, {function_, argument, index}, &direct_);
    }
    template <typename Handle>
    void one_or_none(Handle handle, const char *argument, int64_t index = -1) noexcept {
        if (handle != nullptr)
            one(handle, argument, index);
    }
    template <typename Handle>
    void list(uint32_t count, const Handle *handles, const char *argument) noexcept {
        for (uint32_t i = 0; handles != nullptr && i < count && result_ == PI_SUCCESS; ++i)
            one(handles[i], argument, i);
    }

    /// All arguments after the first.
    void all() noexcept {}
    template <typename First, typename... Rest>
    void all(First first, Rest... rest) noexcept {
        if constexpr (is_handle<First>) {
            // parameters.hpp checks where NULL is allowed.
            one_or_none(first, kind_name(HandleTraits<First>::kind));
        } else if constexpr (std::is_pointer_v<First>) {
            using Desc = std::remove_const_t<std::remove_pointer_t<First>>;
            if constexpr (std::is_const_v<std::remove_pointer_t<First>> &&
                          type_of<Desc> != PI_TYPE_NONE)
                descriptor(first);
        }
        if constexpr (std::is_same_v<First, uint32_t> && sizeof...(Rest) != 0)
            wait_list(first, rest...);
        all(rest...);
    }

private:
    template <typename List, typename... Rest>
    void wait_list(uint32_t count, List list_of_events, Rest...) noexcept {
        if constexpr (std::is_same_v<List, const pi_event *>)
            list(count, list_of_events, "wait_list");
    }

    template <typename Desc>
    void descriptor(const Desc *desc) noexcept {
        Desc own;
        if (desc == nullptr)
            return;
        if (desc->struct_size >= sizeof(Desc) && desc->type == type_of<Desc>)
            members(*desc);
        else if (copy_descriptor(desc, type_of<Desc>, own))
            members(own);
    }

    // Every handle member of any descriptor has one of these names.
    template <typename Desc>
    void members(const Desc &desc) noexcept {
#define PI_VALIDATE_MEMBER(member, look)                                                           \
    if constexpr (requires { desc.member; }) {                                                     \
        if constexpr (is_handle<std::remove_cvref_t<decltype(desc.member)>>)                       \
            look(desc.member, "desc->" #member);                                                   \
    }
        PI_VALIDATE_MEMBER(mem, one)
        PI_VALIDATE_MEMBER(src, one)
        PI_VALIDATE_MEMBER(dst, one)
        PI_VALIDATE_MEMBER(image, one)
        PI_VALIDATE_MEMBER(pool, one_or_none)
        PI_VALIDATE_MEMBER(kernel, one)
        PI_VALIDATE_MEMBER(program, one)
        PI_VALIDATE_MEMBER(device, one_or_none)
#undef PI_VALIDATE_MEMBER
        if constexpr (requires { desc.devices; })
            list(desc.device_count, desc.devices, "desc->devices");
        if constexpr (requires { desc.programs; })
            list(desc.program_count, desc.programs, "desc->programs");
        if constexpr (requires { desc.argument_count; }) {
            if (reads_launch_)
                kernel_arguments(desc.argument_count, desc.arguments);
        }
    }

    void kernel_arguments(uint32_t count, const pi_kernel_argument *arguments) noexcept {
        for (uint32_t i = 0; arguments != nullptr && i < count && result_ == PI_SUCCESS; ++i) {
            const pi_kernel_argument &argument = arguments[i];
            if (argument.kind == PI_ARGUMENT_BUFFER)
                one_or_none(argument.mem, "desc->arguments", i);
            if (argument.kind == PI_ARGUMENT_IMAGE)
                one(argument.mem, "desc->arguments", i);
            if (argument.kind == PI_ARGUMENT_SAMPLER)
                one(argument.sampler, "desc->arguments", i);
            if (argument.kind == PI_ARGUMENT_IMAGE)
                one_or_none(argument.image_sampler, "desc->arguments", i);
        }
    }

    Validator &validator_;
    const char *function_;
    pi_result result_ = PI_SUCCESS;
    bool direct_ = false;
    const bool reads_launch_;
};

/// Whether a created object never goes into quarantine, because the application may free its memory
/// right after the release.
inline bool made_of_borrowed() noexcept {
    return false;
}
template <typename First, typename... Rest>
bool made_of_borrowed(First first, Rest... rest) noexcept {
    if constexpr (std::is_pointer_v<First>) {
        using Desc = std::remove_const_t<std::remove_pointer_t<First>>;
        if constexpr (std::is_same_v<Desc, pi_native_desc> ||
                      std::is_same_v<Desc, pi_mem_import_desc>) {
            return true;
        } else if constexpr (std::is_same_v<Desc, pi_mem_buffer_desc> ||
                             std::is_same_v<Desc, pi_mem_image_desc>) {
            Desc own;
            return copy_descriptor(first, type_of<Desc>, own) &&
                   (own.flags & PI_MEM_USE_HOST_PTR) != 0;
        } else if constexpr (std::is_same_v<Desc, pi_program_desc>) {
            Desc own;
            return copy_descriptor(first, type_of<Desc>, own) &&
                   own.format == PI_PROGRAM_FORMAT_NATIVE_TABLE;
        }
    }
    return made_of_borrowed(rest...);
}

} // namespace pi::loader::validate
