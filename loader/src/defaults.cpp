// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "defaults.hpp"

#include "connection.hpp"
#include "error.hpp"
#include "functions.hpp"
#include "layer.hpp"
#include "map_commands.hpp"
#include "plugin.hpp"

namespace pi::loader {
namespace {

pi_result refuse_missing(const char *function, const PluginInstance &plugin) noexcept {
    return fail(PI_ERROR_UNSUPPORTED_FEATURE, "{}: the plugin \"{}\" does not have this function",
                function, plugin.name());
}

pi_result refuse_forked(const char *function, const PluginInstance &plugin) noexcept {
    return fail(PI_ERROR_INVALID_OPERATION,
                "{}: this process was forked after the object of plugin \"{}\" was created, and "
                "the plugin's threads stayed in the parent; create a loader in the child",
                function, plugin.name());
}

using Refuse = pi_result(const char *function, const PluginInstance &plugin) noexcept;

/// A function of the slot's type that refuses; `Row::name` is its name in messages.
template <typename Row, Refuse refuse, typename Function>
struct Refusal;
template <typename Row, Refuse refuse, typename Handle, typename... Rest>
struct Refusal<Row, refuse, pi_result (*)(Handle, Rest...)> {
    static pi_result PI_CALL call(Handle handle, Rest...) noexcept {
        return refuse(Row::name, *TableChain::of(dispatch_of(handle)).instance);
    }
};

// One type per function, so that each function has its own refusal.
#define PI_FUNCTION(function, group, needs, since)                                                 \
    struct function##Row {                                                                         \
        static constexpr const char *name = #function;                                             \
    };
#include <pi/pi_functions.def>

} // namespace

// One macro for each word of the `needs` column.
#define PI_DEFAULT_REFUSE(function)                                                                \
    (&Refusal<function##Row, refuse_missing, decltype(pi_dispatch::function)>::call)
#define PI_DEFAULT_CONNECTION(function) (&defaults::function)
#define PI_DEFAULT_MAP(function) (&defaults::function)

void fill_defaults(pi_dispatch &table) noexcept {
#define PI_FUNCTION(function, group, needs, since)                                                 \
    if (table.function == nullptr)                                                                 \
        table.function = PI_DEFAULT_##needs(function);
#include <pi/pi_functions.def>
}

void refuse_after_fork(pi_dispatch &table) noexcept {
#define PI_FUNCTION(function, group, needs, since)                                                 \
    table.function = &Refusal<function##Row, refuse_forked, decltype(pi_dispatch::function)>::call;
#include <pi/pi_functions.def>
}

} // namespace pi::loader
