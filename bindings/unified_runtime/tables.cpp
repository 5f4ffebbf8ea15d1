// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of functions, and the symbols by which UR's loader asks for them.
#include "command_buffer.hpp"
#include "functions.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "usm.hpp"

#include <cstddef>
#include <utility>

namespace pi::unified_runtime {
namespace {

/// Becomes an unsupported function of any type.
struct Refuse {
    template <class... Arguments>
    using Function = ur_result_t(UR_APICALL *)(Arguments...);
    template <class... Arguments>
    operator Function<Arguments...>() const {
        return [](Arguments...) -> ur_result_t { return UR_RESULT_ERROR_UNSUPPORTED_FEATURE; };
    }
};

template <class Table, std::size_t... Index>
Table refuse_each(std::index_sequence<Index...>) {
    return {(static_cast<void>(Index), Refuse())...};
}

ur_dditable_t make_tables() {
    ur_dditable_t tables{};
    // UR's tables consist of function pointers.
#define TABLE(name, type)                                                                          \
    tables.name = refuse_each<type>(std::make_index_sequence<sizeof(type) / sizeof(void *)>());
#define COUNT(table, retain, release, type)                                                        \
    tables.table.pfn##retain = &retain_handle<type>;                                               \
    tables.table.pfn##release = &release_handle<type>;
#define SERVE(table, member, function) tables.table.pfn##member = &function;
#include "functions.def"
#undef TABLE
#undef COUNT
#undef SERVE
    return tables;
}

template <class Table>
ur_result_t give_table(ur_api_version_t version, Table *out, const Table &table) {
    if (out == nullptr) {
        return UR_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    if (version != UR_API_VERSION_0_12) {
        return UR_RESULT_ERROR_UNSUPPORTED_VERSION;
    }
    *out = table;
    return UR_RESULT_SUCCESS;
}

} // namespace

const ur_dditable_t &function_table() noexcept {
    static const ur_dditable_t tables = make_tables();
    return tables;
}

} // namespace pi::unified_runtime

using pi::unified_runtime::function_table;
using pi::unified_runtime::give_table;

extern "C" {
#define TABLE(name, type)                                                                          \
    UR_DLLEXPORT ur_result_t UR_APICALL urGet##name##ProcAddrTable(ur_api_version_t version,       \
                                                                   type *table) {                  \
        return give_table(version, table, function_table().name);                                  \
    }
#define COUNT(table, retain, release, type)
#define SERVE(table, member, function)
#include "functions.def"
#undef TABLE
#undef COUNT
#undef SERVE
}
