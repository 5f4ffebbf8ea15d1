// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "layers/leaks.hpp"

#include "functions.hpp"
#include "layers/leak_origin/origins.hpp"
#include "plugin.hpp"

#include <algorithm>

namespace pi::loader {
namespace {

std::string end_of(const Leak &leak) {
    return leak.references != 0 ? fmt::format("; {} reference{} left", leak.references,
                                              leak.references == 1 ? "" : "s")
                                : std::string();
}

} // namespace

std::string made_by(std::size_t creator, uint64_t call) {
    return call != 0 ? fmt::format("created by {}, call {}", function_rows[creator].name, call)
                     : std::string("returned by a query");
}

void report_leaks(const PluginInstance &instance, std::vector<Leak> leaks) {
    constexpr std::size_t most = 50;
    std::sort(leaks.begin(), leaks.end(),
              [](const Leak &a, const Leak &b) { return a.serial < b.serial; });
    for (std::size_t i = 0; i < leaks.size() && i < most; ++i)
        instance.log().warn("plugin {}: {} {} was never {} ({}{}){}", instance.name(),
                            leaks[i].what, leaks[i].handle,
                            leaks[i].references != 0 ? "released" : "freed",
                            made_by(leaks[i].creator, leaks[i].call), end_of(leaks[i]),
                            leak_origin::where_made(instance.chain(), leaks[i].handle));
    if (leaks.size() > most)
        instance.log().warn("plugin {}: {} more objects were never released", instance.name(),
                            leaks.size() - most);
}

} // namespace pi::loader
