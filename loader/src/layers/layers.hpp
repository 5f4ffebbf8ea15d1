// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layers that come with the loader, and their common parts.
#pragma once

#include "functions.hpp"
#include "layer.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/describe/rows.hpp>

#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace pi::loader {

extern const Layer fault_layer;
extern const Layer leak_origin_layer;
extern const Layer race_layer;
extern const Layer record_layer;
extern const Layer validate_layer;
extern const Layer trace_layer;
/// Without a name by which they can be enabled: attach_layers puts the first around all others, and
/// the second behind them.
extern const Layer hold_layer;
extern const Layer guard_layer;

/// The row of a slot in function_rows, by its offset in pi_dispatch.
constexpr std::size_t slot_index(std::size_t offset) {
    return (offset - function_rows[0].offset) / sizeof(void *);
}

/// The row of a function in function_rows; their count if there is no such function.
std::size_t find_function(std::string_view name) noexcept;

/// Whether two slots are the same one; their types may differ.
template <auto Slot, auto Other>
inline constexpr bool same_slot = std::is_same_v<std::integral_constant<decltype(Slot), Slot>,
                                                 std::integral_constant<decltype(Other), Other>>;

/// Puts Wrapper<slot, its row, its type>::call into every slot of a table; if it has a constant
/// `wraps`, only into slots for which that is true.
template <template <auto Slot, std::size_t Index, typename Function> class Wrapper>
void wrap_all(pi_dispatch &table) noexcept {
    const auto wrap = []<typename Wrapped, typename Function>(Function &slot) {
        if constexpr (requires { Wrapped::wraps; }) {
            if constexpr (Wrapped::wraps)
                slot = &Wrapped::call;
        } else {
            slot = &Wrapped::call;
        }
    };
#define PI_FUNCTION(name, group, needs, since)                                                     \
    wrap.template operator()<Wrapper<&pi_dispatch::name, slot_index(offsetof(pi_dispatch, name)),  \
                                     decltype(pi_dispatch::name)>>(table.name);
#include <pi/pi_functions.def>
}

/// Whether the name of a row's function ends with `end`.
constexpr bool ends_with(std::size_t index, std::string_view end) {
    const std::string_view name = function_rows[index].name;
    return name.size() > end.size() && name.substr(name.size() - end.size()) == end;
}

/// The last parameter's type is a pointer to a handle: the function creates an object.
template <typename... Parameters>
using Last = std::tuple_element_t<sizeof...(Parameters) - 1, std::tuple<Parameters...>>;
template <typename Type>
inline constexpr bool is_out_handle =
    std::is_pointer_v<Type> &&is_handle<std::remove_pointer_t<Type>>;

/// For a layer's queries about a handle (TableChain::questions).
template <typename Handle>
const pi_dispatch &queries_of(Handle handle) noexcept {
    return TableChain::of(dispatch_of(handle)).queries();
}

/// Whether the device is a root device: it lives as long as its platform, and is not counted.
bool is_root_device(pi_device device) noexcept;

/// The data of a layer, from the handle that a wrapper was called with.
template <typename Data, typename Handle>
Data &data_of(const Layer &layer, Handle handle) noexcept {
    const TableChain &chain = TableChain::of(dispatch_of(handle));
    std::size_t i = 0;
    while (chain.layers[i] != &layer)
        ++i; // it exists: its wrapper was called
    return *static_cast<Data *>(chain.layer_data[i]);
}

/// A function that enqueues a command.
template <typename Function>
inline constexpr bool is_command = false;
template <typename Desc>
inline constexpr bool
    is_command<pi_result (*)(pi_queue, const Desc *, uint32_t, const pi_event *, pi_event *)> =
        true;

/// Copies a caller's descriptor as far as it goes, extended by zeros. False if it is not of the
/// type: the plugin will report the error.
template <typename Desc>
bool copy_descriptor(const Desc *desc, pi_struct_type type, Desc &out) noexcept {
    if (desc == nullptr || desc->struct_size < sizeof(pi_struct_header) || desc->type != type)
        return false;
    out = Desc{};
    std::memcpy(static_cast<void *>(&out), desc,
                desc->struct_size < sizeof out ? desc->struct_size : sizeof out);
    out.struct_size = sizeof out;
    return true;
}

} // namespace pi::loader
