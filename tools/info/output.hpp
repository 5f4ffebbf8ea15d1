// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two forms of what pi-info tells.
#pragma once

#include "inventory.hpp"
#include "links.hpp"
#include "matrix.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace pi_info {

/// For people. With colour, escape sequences mark what matters; the words are the same without. Lines are broken to fit
/// into the columns, unless those are 0.
class Text {
public:
    /// `drawn`: lines, arrows and the letter of micro as UTF-8 has them, else as ASCII has.
    Text(bool colour, size_t columns, bool drawn = false)
        : colour_(colour), columns_(columns), drawn_(drawn) {}

    std::string plugins(const std::vector<Plugin> &plugins) const;
    /// Only those that are not loaded; "" if all are.
    std::string plugins_not_used(const std::vector<Plugin> &plugins) const;
    std::string devices(const std::vector<Device> &devices) const;
    /// The matrix: a row for each source, a column for each place that would use its memory.
    std::string connections(const Connections &connections, Contexts contexts) const;
    /// The tree of places: host, NUMA nodes, slots, as far as they are known.
    std::string tree(const std::vector<Device> &devices, const Connections &connections) const;
    /// The graph: a line for all places that one has equal links with.
    std::string links(const Connections &connections, const std::vector<Link> &links) const;
    std::string variables(const std::vector<Variable> &variables) const;

private:
    enum class Style { plain, title, good, fair, bad, faint };
    std::string styled(Style style, const std::string &text) const;
    static Style style_of(Access access);
    static Style style_of(Source source);
    static Style style_of_status(pi_plugin_status status);
    std::string matrix(const Connections &connections) const;
    std::string branch(const std::vector<Device> &devices, const Connections &connections,
                       const Node &node, const std::string &indent) const;

    bool colour_;
    size_t columns_;
    bool drawn_;
};

/// For programs: {"plugins": [...], "devices": [...], "places": [...], "connections": [...], "links": [...],
/// "tree": {...}}. What a backend has no answer to is null. `connections` has every ordered pair of places that a
/// plugin was asked about, each with "verified" ("yes" or "failed" of those that were verified now, else "unknown") and
/// "seen", a text when it failed; what the bare host can do is in its partners' rows of `places`. `links` has those of the
/// host, too, with the figures that are shown and their source.
std::string to_json(const std::vector<Plugin> &plugins, const std::vector<Device> &devices,
                    const Connections &connections, const std::vector<Link> &links);
/// {"plugins": [...]}
std::string to_json(const std::vector<Plugin> &plugins);
/// The matrix and the graph as a picture, SVG that needs no other file and is readable on light and on dark.
std::string to_svg(const std::vector<Device> &devices, const Connections &connections,
                   const std::vector<Link> &links);
/// {"environment": [{"name", "type", "description", "value"}]}
std::string to_json(const std::vector<Variable> &variables);

} // namespace pi_info
