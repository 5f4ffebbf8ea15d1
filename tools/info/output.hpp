// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The output formats of pi-info.
#pragma once

#include "inventory.hpp"
#include "links.hpp"
#include "matrix.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace pi_info {

/// For people. With colour, escape sequences highlight words; the words are the same. Lines are
/// wrapped to the columns, unless these are 0.
class Text {
public:
    /// `drawn`: UTF-8 lines, arrows and micro sign, else ASCII.
    Text(bool colour, size_t columns, bool drawn = false)
        : colour_(colour), columns_(columns), drawn_(drawn) {}

    std::string plugins(const std::vector<Plugin> &plugins) const;
    /// Only those that are not loaded; "" if all are.
    std::string plugins_not_used(const std::vector<Plugin> &plugins) const;
    std::string devices(const std::vector<Device> &devices) const;
    /// The matrix: a row per source, a column per place that would use its memory.
    std::string connections(const Connections &connections, Contexts contexts) const;
    /// The tree of places: host, NUMA nodes, slots, as far as known.
    std::string tree(const std::vector<Device> &devices, const Connections &connections) const;
    /// The links: one line for all places to which a place has equal links.
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

/// For programs: {"plugins": [...], "devices": [...], "places": [...], "connections": [...],
/// "links": [...], "tree": {...}}. A value that a backend does not report is null. `connections`
/// has every ordered pair of places about which a plugin was queried, each with "verified" ("yes"
/// or "failed" if verified now, else "unknown") and "seen", a text if it failed; the connections of
/// host memory are in its partners' rows of `places`. `links` includes those of the host, with the
/// displayed figures and their source.
std::string to_json(const std::vector<Plugin> &plugins, const std::vector<Device> &devices,
                    const Connections &connections, const std::vector<Link> &links);
/// {"plugins": [...]}
std::string to_json(const std::vector<Plugin> &plugins);
/// The matrix and the links as an SVG picture that needs no other file and is readable on light and
/// dark backgrounds.
std::string to_svg(const std::vector<Device> &devices, const Connections &connections,
                   const std::vector<Link> &links);
/// {"environment": [{"name", "type", "description", "value"}]}
std::string to_json(const std::vector<Variable> &variables);

} // namespace pi_info
