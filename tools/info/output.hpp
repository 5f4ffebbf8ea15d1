// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two forms of what pi-info tells.
#pragma once

#include "inventory.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace pi_info {

/// For people. With colour, escape sequences mark what matters; the words are the same without. Lines are broken to fit
/// into the columns, unless those are 0.
class Text {
public:
    Text(bool colour, size_t columns) : colour_(colour), columns_(columns) {}

    std::string plugins(const std::vector<Plugin> &plugins) const;
    /// Only those that are not loaded; "" if all are.
    std::string plugins_not_used(const std::vector<Plugin> &plugins) const;
    std::string devices(const std::vector<Device> &devices) const;
    /// The matrix: a row for each source, a column for each place that would use its memory.
    std::string connections(const Connections &connections, Contexts contexts) const;
    std::string variables(const std::vector<Variable> &variables) const;

private:
    enum class Style { plain, title, good, fair, bad, faint };
    std::string styled(Style style, const std::string &text) const;
    static Style style_of(pi_memory_connection connection);
    static Style style_of_status(pi_plugin_status status);
    std::string cell(const Connections &connections, uint32_t src, uint32_t dst,
                     size_t width) const;

    bool colour_;
    size_t columns_;
};

/// For programs: {"plugins": [...], "devices": [...], "places": [...], "connections": [...]}. What a
/// backend has no answer to is null. `connections` has every ordered pair of places that a plugin was
/// asked about; what the bare host can do is in its partners' rows of `places`.
std::string to_json(const std::vector<Plugin> &plugins, const std::vector<Device> &devices,
                    const Connections &connections);
/// {"plugins": [...]}
std::string to_json(const std::vector<Plugin> &plugins);
/// {"environment": [{"name", "type", "description", "value"}]}
std::string to_json(const std::vector<Variable> &variables);

} // namespace pi_info
