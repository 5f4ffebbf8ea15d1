// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The outermost layer of every chain with layers. Layers use their data after the call that they
// pass on, and if that call released the last object of an instance whose loader is being released,
// the data would be freed.

#include "layers/layers.hpp"
#include "plugin.hpp"

namespace pi::loader {
namespace {

template <auto Slot, std::size_t Index, typename Function>
struct Held;
template <auto Slot, std::size_t Index, typename Handle, typename... Rest>
struct Held<Slot, Index, pi_result (*)(Handle, Rest...)> {
    static constexpr bool wraps = sizeof...(Rest) == 0 && ends_with(Index, "Release");

    static pi_result PI_CALL call(Handle handle, Rest... rest) noexcept {
        const TableChain &chain = TableChain::of(dispatch_of(handle));
        const PluginInstance::Hold hold(*chain.instance);
        return (chain.next(hold_layer).*Slot)(handle, rest...);
    }
};

void *attach(PluginInstance &, pi_dispatch &table) {
    wrap_all<Held>(table);
    return nullptr;
}

} // namespace

const Layer hold_layer = {.name = "hold", .attach = attach, .detach = nullptr};

} // namespace pi::loader
