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

pi_result refuse(const char *function, const pi_dispatch *dispatch) noexcept {
    const TableChain &chain = TableChain::of(dispatch);
    return fail(PI_ERROR_UNSUPPORTED_FEATURE, "{}: the plugin \"{}\" does not have this function",
                function, chain.instance->name());
}

/// A function of the slot's own type that refuses; `Row::name` is what it is called.
template <typename Row, typename Function>
struct Refusal;
template <typename Row, typename Handle, typename... Rest>
struct Refusal<Row, pi_result (*)(Handle, Rest...)> {
    static pi_result PI_CALL call(Handle handle, Rest...) noexcept {
        return refuse(Row::name, dispatch_of(handle));
    }
};

// One type a function, so that each has a refusal of its own.
#define PI_FUNCTION(function, group, needs, since)                                                 \
    struct function##Row {                                                                         \
        static constexpr const char *name = #function;                                             \
    };
#include <pi/pi_functions.def>

} // namespace

// One macro for each word of the `needs` column.
#define PI_DEFAULT_REFUSE(function) (&Refusal<function##Row, decltype(pi_dispatch::function)>::call)
#define PI_DEFAULT_CONNECTION(function) (&defaults::function)
#define PI_DEFAULT_MAP(function) (&defaults::function)

void fill_defaults(pi_dispatch &table) noexcept {
#define PI_FUNCTION(function, group, needs, since)                                                 \
    if (table.function == nullptr)                                                                 \
        table.function = PI_DEFAULT_##needs(function);
#include <pi/pi_functions.def>
}

} // namespace pi::loader
