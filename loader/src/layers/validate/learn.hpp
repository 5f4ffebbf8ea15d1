// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about a created object, from the create call's checked descriptor.
#pragma once

#include "layers/layers.hpp"
#include "layers/validate/validator.hpp"

#include <tuple>

namespace pi::loader::validate {

using Known = std::shared_ptr<const Facts>;

/// A device among the arguments; nullptr if there is none.
template <typename Tuple>
pi_device device_in(const Tuple &rest) noexcept {
    pi_device device = nullptr;
    std::apply(
        [&](auto... each) {
            const auto take = [&](auto value) {
                if constexpr (std::is_same_v<decltype(value), pi_device>)
                    device = value;
            };
            (take(each), ...);
        },
        rest);
    return device;
}

/// The context of the first argument.
template <typename Handle>
pi_context context_of(Validator &validator, Handle first) noexcept {
    if constexpr (std::is_same_v<Handle, pi_context>) {
        return first;
    } else if constexpr (std::is_same_v<Handle, pi_mem> || std::is_same_v<Handle, pi_program>) {
        const auto facts = validator.facts(first);
        return facts != nullptr ? facts->context : nullptr;
    } else {
        return nullptr;
    }
}

/// The facts of an object with this descriptor. `mem` is the parent of a view, nullptr for none.
Known facts_of(Validator &validator, pi_context made, const pi_context_desc &desc);
Known facts_of(Validator &validator, pi_context context, pi_device device,
               const pi_queue_desc &desc);
Known facts_of(Validator &validator, pi_context context, const pi_mem_buffer_desc &desc);
Known facts_of(Validator &validator, pi_context context, pi_mem mem, const pi_mem_image_desc &desc);
Known facts_of(Validator &validator, pi_mem mem, const pi_mem_partition_desc &desc);
Known facts_of(Validator &validator, pi_context context, const pi_mem_import_desc &desc);
Known facts_of(pi_context context, pi_device device, const pi_usm_pool_desc &desc);
/// For an object without a descriptor: the plugin is queried.
Known facts_of_context(Validator &validator, pi_context made);
Known facts_of_kernel(Validator &validator, pi_context context, pi_kernel made);

template <typename Handle, typename... Rest>
Known learn(Validator &validator, Handle first, const std::tuple<Rest...> &rest) {
    constexpr std::size_t count = sizeof...(Rest);
    using Made = std::remove_pointer_t<std::tuple_element_t<count - 1, std::tuple<Rest...>>>;
    if constexpr (std::is_same_v<Made, pi_kernel>) {
        return facts_of_kernel(validator, context_of(validator, first), *std::get<count - 1>(rest));
    } else if constexpr (std::is_same_v<Made, pi_event> || std::is_same_v<Made, pi_platform> ||
                         std::is_same_v<Made, pi_device>) {
        return nullptr;
    } else {
        using Desc = std::remove_cvref_t<decltype(*std::get<count - 2>(rest))>;
        const pi_context context = context_of(validator, first);
        Desc own{};
        copy_descriptor(std::get<count - 2>(rest), type_of<Desc>, own);
        if constexpr (std::is_same_v<Made, pi_context>) {
            const pi_context made = *std::get<count - 1>(rest);
            if constexpr (std::is_same_v<Desc, pi_context_desc>)
                return facts_of(validator, made, own);
            else
                return facts_of_context(validator, made);
        } else if constexpr (std::is_same_v<Made, pi_queue>) {
            pi_queue_desc queue{};
            if constexpr (std::is_same_v<Desc, pi_queue_desc>)
                queue = own;
            else
                queue.flags = PI_QUEUE_OUT_OF_ORDER; // it may be
            return facts_of(validator, context, device_in(rest), queue);
        } else if constexpr (std::is_same_v<Desc, pi_mem_partition_desc>) {
            return facts_of(validator, first, own);
        } else if constexpr (std::is_same_v<Desc, pi_mem_image_desc>) {
            if constexpr (std::is_same_v<Handle, pi_mem>)
                return facts_of(validator, context, first, own);
            else
                return facts_of(validator, context, nullptr, own);
        } else if constexpr (std::is_same_v<Made, pi_mem>) {
            return facts_of(validator, context, own);
        } else if constexpr (std::is_same_v<Made, pi_usm_pool>) {
            return facts_of(context, device_in(rest), own);
        } else {
            return std::make_shared<const Facts>(Facts{context});
        }
    }
}

} // namespace pi::loader::validate
