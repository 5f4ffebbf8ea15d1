// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks by the types of a function's parameters: outputs, lists, infos, names, arrays, and
// descriptors. Tables of functions cover the rest.
#pragma once

#include "layers/validate/addresses.hpp"
#include "layers/validate/descriptor.hpp"

#include <pi/describe/checks/descriptor.hpp>

namespace pi::loader::validate {

template <auto Slot, auto... Slots>
inline constexpr bool is_one_of = (same_slot<Slot, Slots> || ...);

/// Functions whose descriptor may be NULL.
template <auto Slot>
inline constexpr bool descriptor_is_optional =
    is_one_of<Slot, &pi_dispatch::piQueueCreate, &pi_dispatch::piProgramCompile,
              &pi_dispatch::piProgramBuild, &pi_dispatch::piEnqueueEventsWait,
              &pi_dispatch::piEnqueueBarrier, &pi_dispatch::piGetMemoryConnectionInfo,
              &pi_dispatch::piKernelCreate, &pi_dispatch::piEventCreateHost>;
/// Functions whose second handle may be NULL: getters of backends with one context for all devices,
/// and host memory.
template <auto Slot>
inline constexpr bool handle_is_optional =
    is_one_of<Slot, &pi_dispatch::piContextGetNativeHandle, &pi_dispatch::piMemGetNativeHandle,
              &pi_dispatch::piProgramGetNativeHandle, &pi_dispatch::piKernelGetNativeHandle,
              &pi_dispatch::piUsmAlloc, &pi_dispatch::piUsmPoolCreate>;
/// Functions whose outputs may be NULL.
template <auto Slot>
inline constexpr bool output_is_optional =
    is_one_of<Slot, &pi_dispatch::piDeviceGetGlobalTimestamps,
              &pi_dispatch::piProgramGetGlobalVariablePointer>;
/// Queries about a launch, which do not read its arguments.
template <auto Slot>
inline constexpr bool asks_about_launch =
    is_one_of<Slot, &pi_dispatch::piKernelGetSuggestedLocalSize,
              &pi_dispatch::piKernelGetMaxCooperativeGroups>;

/// The name of an output.
template <auto Slot, typename Output>
constexpr const char *output_name() noexcept {
    if constexpr (is_handle<Output>) {
        constexpr const char *names[] = {"",           "out_loader",  "out_plugin", "out_platform",
                                         "out_device", "out_context", "out_queue",  "out_mem",
                                         "out_event",  "out_program", "out_kernel", "out_sampler",
                                         "out_pool"};
        return names[HandleTraits<Output>::kind];
    } else if constexpr (std::is_same_v<Output, pi_native_handle> ||
                         std::is_same_v<Output, pi_external_handle>) {
        return "out_handle";
    } else if constexpr (std::is_same_v<Output, pi_memory_connection_info>) {
        return "out_info";
    } else if constexpr (same_slot<Slot, &pi_dispatch::piPluginGetExtension>) {
        return "out_table";
    } else if constexpr (same_slot<Slot, &pi_dispatch::piGetMemoryConnection>) {
        return "out_connection";
    } else if constexpr (same_slot<Slot, &pi_dispatch::piDeviceSelectBinary>) {
        return "out_index";
    } else if constexpr (same_slot<Slot, &pi_dispatch::piKernelGetMaxCooperativeGroups>) {
        return "out_count";
    } else if constexpr (same_slot<Slot, &pi_dispatch::piKernelGetSuggestedLocalSize>) {
        return "out_local_size";
    } else if constexpr (same_slot<Slot, &pi_dispatch::piProgramGetFunctionPointer>) {
        return "out_address";
    } else {
        return "out_pointer";
    }
}

/// PI_ERROR_INVALID_ENUMERATION for a name that pi.h does not list.
void check_info_name(Check &check, std::size_t function, uint32_t name) noexcept;

/// The elements of array arguments.
inline void check_element(Check &check, const Name &element,
                          const pi_program_binary &binary) noexcept {
    check_binary(check, element, binary);
}
inline void check_element(Check &check, const Name &element,
                          const pi_specialization_constant &constant) noexcept {
    check_constant(check, element, constant);
}
inline const char *array_name(const pi_program_binary *) noexcept {
    return "binaries";
}
inline const char *array_name(const pi_specialization_constant *) noexcept {
    return "constants";
}

/// (capacity, out_array, out_count) at the end, as the last three types; and (size, value,
/// out_size).
template <typename A, typename B, typename C>
inline constexpr bool ends_with_list =
    std::is_same_v<A, uint32_t> &&std::is_pointer_v<B> &&
    !std::is_const_v<std::remove_pointer_t<B>> && std::is_same_v<C, uint32_t *>;
template <typename A, typename B, typename C>
inline constexpr bool ends_with_info = std::is_same_v<A, uint64_t> &&
                                       (std::is_same_v<B, void *> ||
                                        std::is_same_v<B, char *>)&&std::is_same_v<C, uint64_t *>;

/// Checks of single functions.
template <auto Slot>
struct Special {
    template <typename... Arguments>
    static void check(Check &, Arguments...) noexcept {}
};
template <>
struct Special<&pi_dispatch::piMemFlush> {
    static void check(Check &check, pi_mem mem, uint64_t offset, uint64_t size) noexcept;
};
template <>
struct Special<&pi_dispatch::piMemInvalidate> : Special<&pi_dispatch::piMemFlush> {};
template <>
struct Special<&pi_dispatch::piUsmFree> {
    static void check(Check &check, pi_context context, void *pointer) noexcept {
        check_freed(check, context, pointer, {"pointer"});
    }
};
template <>
struct Special<&pi_dispatch::piUsmHostRegister> {
    static void check(Check &check, pi_context, void *pointer, uint64_t size,
                      uint64_t flags) noexcept {
        check_registration(check, pointer, size, flags);
    }
};
template <>
struct Special<&pi_dispatch::piUsmHostUnregister> {
    static void check(Check &check, pi_context, void *pointer) noexcept {
        check.not_null(pointer, {"pointer"});
    }
};
template <>
struct Special<&pi_dispatch::piEventSetCallback> {
    static void check(Check &check, pi_event, pi_event_callback callback, void *) noexcept {
        check.not_null(reinterpret_cast<const void *>(callback), {"callback"});
    }
};
template <>
struct Special<&pi_dispatch::piEventSignalHost> {
    static void check(Check &check, pi_event, pi_result result) noexcept {
        check_signal(check, result);
    }
};
template <>
struct Special<&pi_dispatch::piGetMemoryConnection> {
    static void check(Check &check, pi_device src_device, pi_context src_context,
                      pi_device dst_device, pi_context dst_context,
                      pi_memory_connection *) noexcept;
};
template <>
struct Special<&pi_dispatch::piGetMemoryConnectionInfo> {
    static void check(Check &check, pi_device src_device, pi_context src_context,
                      pi_device dst_device, pi_context dst_context,
                      const pi_memory_connection_query *, pi_memory_connection_info *) noexcept {
        Special<&pi_dispatch::piGetMemoryConnection>::check(check, src_device, src_context,
                                                            dst_device, dst_context, nullptr);
    }
};

/// The place of a call, with references that keep it valid.
struct PinnedPlace : Place {
    std::shared_ptr<const QueueFacts> pinned_queue;
    std::shared_ptr<const MemoryFacts> pinned_memory;
};
template <typename Handle>
void look_at_first(Validator &validator, Handle handle, PinnedPlace &place) noexcept {
    if constexpr (std::is_same_v<Handle, pi_context>) {
        place.context = handle;
    } else if constexpr (requires { FactsOf<Handle>::type::context; } &&
                         !std::is_same_v<Handle, pi_plugin> &&
                         !std::is_same_v<Handle, pi_platform> &&
                         !std::is_same_v<Handle, pi_device> && !std::is_same_v<Handle, pi_event>) {
        const auto facts = validator.facts(handle);
        place.context = facts != nullptr ? facts->context : nullptr;
        if constexpr (std::is_same_v<Handle, pi_queue>) {
            place.pinned_queue = facts;
            place.queue = facts.get();
            place.queue_handle = handle;
            place.device = facts != nullptr ? facts->device : nullptr;
        } else if constexpr (std::is_same_v<Handle, pi_mem>) {
            place.view = true;
            place.pinned_memory = facts;
            place.memory = facts.get();
        }
    }
}

template <auto Slot, std::size_t Index, typename Handle, typename... Rest>
struct Parameters {
    static constexpr std::size_t count = sizeof...(Rest);
    static constexpr bool command = is_command<pi_result (*)(Handle, Rest...)>;
    template <std::size_t FromEnd>
    using Type = std::tuple_element_t<count - 1 - FromEnd, std::tuple<Rest...>>;

    static constexpr bool is_list() {
        if constexpr (count >= 3)
            return ends_with_list<Type<2>, Type<1>, Type<0>>;
        return false;
    }
    static constexpr bool is_info() {
        if constexpr (count >= 3)
            return ends_with_info<Type<2>, Type<1>, Type<0>>;
        return false;
    }

    template <typename Parameter>
    static constexpr bool is_descriptor =
        type_of<std::remove_const_t<std::remove_pointer_t<Parameter>>> != PI_TYPE_NONE;
    static constexpr bool has_descriptor = (is_descriptor<Rest> || ...);

    static void check(Check &check, Handle handle, PinnedPlace &place, Rest... rest) noexcept {
        if constexpr (command) {
            place.wait_count = std::get<1>(std::tuple<Rest...>(rest...));
            place.wait_list = std::get<2>(std::tuple<Rest...>(rest...));
        }
        if constexpr (has_descriptor)
            look_at_first(check.validator(), handle, place);
        if constexpr (count != 0) {
            each<0>(check, handle, place, std::tuple<Rest...>(rest...));
            if (!check.failed())
                outputs(check, std::tuple<Rest...>(rest...));
            if (!check.failed())
                Special<Slot>::check(check, handle, rest...);
        }
    }

private:
    using Tuple = std::tuple<Rest...>;

    // Checks parameters in order, up to the first error.
    template <std::size_t I>
    static void each(Check &check, Handle handle, PinnedPlace &place, const Tuple &rest) noexcept {
        using Parameter = std::tuple_element_t<I, Tuple>;
        const auto value = std::get<I>(rest);
        if constexpr (std::is_same_v<Parameter, pi_device>) {
            device(check, handle, place, value);
        } else if constexpr (std::is_same_v<Parameter, const char *>) {
            check.not_null(value,
                           {std::is_same_v<Handle, pi_platform> ? "frontend_option" : "name"});
        } else if constexpr (std::is_same_v<Parameter, uint32_t> && I + 1 < count) {
            if constexpr (is_info() && I + 4 == count) {
                check_info_name(check, Index, value);
            } else {
                using Next = std::tuple_element_t<I + 1, Tuple>;
                const auto elements = std::get<I + 1>(rest);
                if constexpr (std::is_same_v<Next, const pi_event *>)
                    wait_list(check, value, elements);
                else if constexpr (requires { array_name(elements); })
                    array(check, value, elements);
            }
        } else if constexpr (std::is_pointer_v<Parameter>) {
            using Desc = std::remove_const_t<std::remove_pointer_t<Parameter>>;
            if constexpr (std::is_const_v<std::remove_pointer_t<Parameter>> &&
                          type_of<Desc> != PI_TYPE_NONE)
                descriptor(check, place, value);
        }
        if constexpr (I + 1 < count) {
            if (!check.failed())
                each<I + 1>(check, handle, place, rest);
        }
    }

    static void device(Check &check, Handle handle, PinnedPlace &place, pi_device device) noexcept {
        if constexpr (!std::is_same_v<Handle, pi_device>) { // connections have two places
            if (device == nullptr) {
                if constexpr (!handle_is_optional<Slot>)
                    check.refuse(PI_ERROR_INVALID_DEVICE, {"device"},
                                 "is NULL; a device is needed");
                return;
            }
            if (place.context == nullptr)
                look_at_first(check.validator(), handle, place);
            place.device = device;
            check_member(check, place.context, device, {"device"});
        }
    }

    template <typename Desc>
    static void descriptor(Check &check, PinnedPlace &place, const Desc *desc) noexcept {
        if (desc == nullptr) {
            if constexpr (!descriptor_is_optional<Slot>)
                check.refuse(PI_ERROR_INVALID_NULL_POINTER, {argument_name<Desc>},
                             "is NULL; a descriptor is needed");
            return;
        }
        if constexpr (asks_about_launch<Slot>)
            check_header(check, argument_name<Desc>,
                         *reinterpret_cast<const pi_struct_header *>(desc), type_of<Desc>,
                         sizeof(Desc));
        else
            check_descriptor(check, place, desc);
    }

    static void wait_list(Check &check, uint32_t wait_count, const pi_event *events) noexcept {
        check_wait_list(check, wait_count, events);
    }

    template <typename Element>
    static void array(Check &check, uint32_t elements_count, const Element *elements) noexcept {
        const char *const name = array_name(elements);
        if (!check.array(elements_count, elements, {name}))
            return;
        for (uint32_t i = 0; i < elements_count && !check.failed(); ++i)
            check_element(check, {name, i}, elements[i]);
    }

    static void outputs(Check &check, const Tuple &rest) noexcept {
        if constexpr (is_list()) {
            if (std::get<count - 2>(rest) == nullptr && std::get<count - 1>(rest) == nullptr)
                check.refuse(PI_ERROR_INVALID_NULL_POINTER, {"out_count"},
                             "is NULL, and so is the output array; one of them is needed");
        } else if constexpr (is_info()) {
            if (std::get<count - 2>(rest) == nullptr && std::get<count - 1>(rest) == nullptr)
                check.refuse(PI_ERROR_INVALID_NULL_POINTER, {"out_size"},
                             "is NULL, and so is value; one of them is needed");
        } else if constexpr (same_slot<Slot, &pi_dispatch::piProgramGetGlobalVariablePointer>) {
            if (std::get<count - 2>(rest) == nullptr && std::get<count - 1>(rest) == nullptr)
                check.refuse(PI_ERROR_INVALID_NULL_POINTER, {"out_pointer"},
                             "is NULL, and so is out_size; one of them is needed");
        } else if constexpr (!command && !output_is_optional<Slot> && std::is_pointer_v<Type<0>>) {
            using Output = std::remove_pointer_t<Type<0>>;
            if constexpr (!std::is_const_v<Output> && !std::is_void_v<Output> &&
                          !std::is_function_v<Output>)
                output(check, std::get<count - 1>(rest));
        }
    }

    template <typename Output>
    static void output(Check &check, Output *out) noexcept {
        if (!check.not_null(out, {output_name<Slot, Output>()}))
            return;
        if constexpr (std::is_same_v<Output, pi_memory_connection_info>)
            check_header(check, argument_name<Output>,
                         *reinterpret_cast<const pi_struct_header *>(out),
                         PI_TYPE_MEMORY_CONNECTION_INFO, sizeof(Output));
    }
};

} // namespace pi::loader::validate
