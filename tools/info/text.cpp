// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "output.hpp"

#include "names.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace pi_info {
namespace {

constexpr size_t label_width = 14;

std::string padded(const std::string &text, size_t width) {
    return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

/// A column of a table. Wider text still ends two spaces before the next column.
std::string column(const std::string &text, size_t width) {
    return text.size() < width ? padded(text, width) : text + "  ";
}

std::string joined(const std::vector<std::string> &words, const char *separator = ", ") {
    std::string text;
    for (const std::string &word : words) {
        text += (text.empty() ? "" : separator) + word;
    }
    return text;
}

/// "3.8 GiB"; exact if possible.
std::string bytes(uint64_t size) {
    constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    double value = static_cast<double>(size);
    for (; value >= 1024 && unit + 1 < units.size(); ++unit) {
        value /= 1024;
    }
    std::array<char, 40> text{};
    const bool whole = value == static_cast<double>(static_cast<uint64_t>(value));
    std::snprintf(text.data(), text.size(), whole ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text.data();
}

std::string line(const char *label, const std::string &text) {
    return text.empty() ? "" : "    " + padded(label, label_width) + text + "\n";
}

std::string with_version(const std::string &name, const std::string &version) {
    return version.empty() ? name : name + " (" + version + ")";
}

std::string scope_text(const pi_memory_scope &scope) {
    std::string text = scope.name;
    std::vector<std::string> facts = scope_flag_names(scope.flags);
    if (scope.capacity != 0) {
        facts.insert(facts.begin(), bytes(scope.capacity));
    }
    if (scope.offset_alignment > 1) {
        facts.push_back("offsets in steps of " + bytes(scope.offset_alignment));
    }
    return facts.empty() ? text : text + ": " + joined(facts);
}

std::string memory_text(const Device &device) {
    std::vector<std::string> facts;
    if (device.memory) {
        facts.push_back(bytes(*device.memory));
    }
    if (device.free_memory) {
        facts.push_back(bytes(*device.free_memory) + " free");
    }
    if (device.max_allocation) {
        facts.push_back("allocations up to " + bytes(*device.max_allocation));
    }
    if (device.integrated.value_or(false)) {
        facts.emplace_back("shared with the host");
    }
    if (device.cache_size.value_or(0) != 0) {
        facts.push_back("cache of " + bytes(*device.cache_size));
    }
    if (device.error_correction.value_or(false)) {
        facts.emplace_back("error correction");
    }
    return joined(facts);
}

std::string identity_text(const Device &device) {
    std::vector<std::string> facts;
    for (const auto &[label, value] :
         {std::pair("UUID ", &device.uuid), std::pair("LUID ", &device.luid),
          std::pair("PCI ", &device.pci_address)}) {
        if (!value->empty()) {
            facts.push_back(label + *value);
        }
    }
    if (facts.empty()) {
        facts.emplace_back("not reported by the backend");
    }
    if (device.numa_node) {
        facts.push_back("NUMA node " + std::to_string(*device.numa_node));
    }
    return joined(facts);
}

std::string compute_text(const Device &device) {
    std::vector<std::string> facts;
    if (device.compute_units) {
        facts.push_back(std::to_string(*device.compute_units) + " units");
    }
    if (device.clock_rate) {
        facts.push_back(std::to_string(*device.clock_rate) + " MHz");
    }
    if (device.max_work_group_size) {
        facts.push_back("work-groups up to " + std::to_string(*device.max_work_group_size));
    }
    if (device.fp16.value_or(false)) {
        facts.emplace_back("fp16");
    }
    if (device.fp64.value_or(false)) {
        facts.emplace_back("fp64");
    }
    return joined(facts);
}

std::string import_text(const Device &device) {
    if (!device.host_pointer_import.value_or(false)) {
        return "not in place";
    }
    const uint64_t alignment = device.host_pointer_alignment.value_or(1);
    return alignment > 1 ? "in place, aligned to " + bytes(alignment) : "in place, at any address";
}

} // namespace

std::string Text::styled(Style style, const std::string &text) const {
    constexpr std::array codes{"", "1", "32", "33", "31", "2"};
    if (!colour_ || style == Style::plain) {
        return text;
    }
    return std::string("\033[") + codes[static_cast<size_t>(style)] + "m" + text + "\033[0m";
}

Text::Style Text::style_of_status(pi_plugin_status status) {
    constexpr std::array styles{Style::plain, Style::good, Style::fair, Style::bad, Style::faint};
    return status < styles.size() ? styles[status] : Style::plain;
}

Text::Style Text::style_of(Access access) {
    constexpr std::array styles{Style::faint, Style::fair, Style::good};
    return styles[static_cast<size_t>(access)];
}

std::string Text::plugins(const std::vector<Plugin> &plugins) const {
    std::string text = styled(Style::title, "Plugins") + "\n";
    for (const Plugin &plugin : plugins) {
        const std::string name = plugin.name.empty() ? "(no name)" : plugin.name;
        text += "  " + column(with_version(name, plugin.version), 20) +
                styled(style_of_status(plugin.status), column(status_name(plugin.status), 14)) +
                plugin.path + "\n";
        text += line("reason", plugin.reason);
        text += line("capabilities", joined(plugin.capabilities));
    }
    return fitted(plugins.empty() ? text + "  none found\n" : text, columns_);
}

std::string Text::plugins_not_used(const std::vector<Plugin> &plugins) const {
    std::string text;
    for (const Plugin &plugin : plugins) {
        // A plugin in two places is rarely a problem; --plugins shows it.
        if (plugin.status == PI_PLUGIN_LOADED || plugin.status == PI_PLUGIN_SHADOWED) {
            continue;
        }
        text += "  " + column(plugin.name.empty() ? plugin.path : plugin.name, 14) +
                styled(style_of_status(plugin.status), status_name(plugin.status)) + ": " +
                plugin.reason + "\n";
    }
    return text.empty() ? text
                        : fitted(styled(Style::title, "Plugins not used") + "\n" + text, columns_);
}

std::string Text::devices(const std::vector<Device> &devices) const {
    std::string text = styled(Style::title, "Devices") + "\n";
    for (const Device &device : devices) {
        text += "  " + styled(Style::title, column(device.selector, 15)) + column(device.kind, 13) +
                device.name + "\n";
        text += line("platform", with_version(device.platform, device.platform_version));
        text += line("vendor", device.vendor);
        text += line("driver", device.driver_version);
        text += line("identity", identity_text(device));
        text += line("memory", memory_text(device));
        for (const pi_memory_scope &scope : device.scopes) {
            text += line("scope", scope_text(scope));
        }
        text += line("host memory", import_text(device));
        text += line("compute", compute_text(device));
        text += line("programs", joined(device.program_formats));
        text += line("capabilities", joined(device.capabilities));
    }
    return fitted(devices.empty() ? text + "  none\n" : text, columns_);
}

std::string Text::matrix(const Connections &connections) const {
    const pi::runtime::TopologyDescription &topology = connections.topology;
    const auto &places = topology.places;
    const auto cell_at = [&](uint32_t src, uint32_t dst) {
        Cell cell = cell_of(topology, src, dst);
        const pi_verified verified = seen_of(connections, src, dst).verified;
        if (verified != PI_VERIFIED_UNKNOWN) {
            cell.text += verified == PI_VERIFIED_YES ? " (verified)" : " (FAILED)";
        }
        return cell;
    };
    const auto count = static_cast<uint32_t>(places.size());
    size_t width = 12;
    for (const auto &place : places) {
        width = std::max(width, place.name.size() + 2);
    }
    for (uint32_t src = 0; src < count; ++src) {
        for (uint32_t dst = 0; dst < count; ++dst) {
            width = std::max(width, cell_at(src, dst).text.size() + 2);
        }
    }
    // On a narrow terminal the columns come in several blocks.
    const size_t fitting = columns_ > 2 + width ? (columns_ - 2 - width) / width : 1;
    const auto block = static_cast<uint32_t>(
        columns_ == 0 ? count : std::min<size_t>(std::max<size_t>(1, fitting), count));
    std::string text;
    for (uint32_t begin = 0; begin < count; begin += block) {
        const uint32_t end = std::min(count, begin + block);
        // The last column ends its line.
        const auto column_width = [&](uint32_t column) {
            return column + 1 < end ? width : size_t{0};
        };
        text += (begin == 0 ? "  " : "\n\n  ") + padded("", width);
        for (uint32_t dst = begin; dst < end; ++dst) {
            text += styled(Style::title, padded(places[dst].name, column_width(dst)));
        }
        for (uint32_t src = 0; src < count; ++src) {
            text += "\n  " + styled(Style::title, padded(places[src].name, width));
            for (uint32_t dst = begin; dst < end; ++dst) {
                const Cell cell = cell_at(src, dst);
                const bool failed = seen_of(connections, src, dst).verified == PI_VERIFIED_FAILED;
                text += styled(failed ? Style::bad : style_of(cell.access),
                               padded(cell.text, column_width(dst)));
            }
        }
    }
    return text + "\n";
}

std::string Text::connections(const Connections &connections, Contexts contexts) const {
    std::string text = styled(Style::title, "Connections") +
                       " (memory of the row's place, used by the column's; " +
                       (contexts == Contexts::shared ? "devices of a platform share a context"
                                                     : "each device in a context of its own") +
                       ")\n";
    text = fitted(text, columns_) + matrix(connections);
    std::string legend =
        columns_ != 0 && columns_ < 80
            ? "\n"
              "  unified     used in place\n"
              "  migratable  copied by the plugin\n"
              "  none        copied through the host\n"
              "  import/N    in place, aligned to N bytes\n"
              "  mapped      a map is the memory itself\n"
              "  copied      a copy is made\n"
            : "\n"
              "  unified     used in place            import/N  in place, aligned to N bytes\n"
              "  migratable  copied by the plugin     mapped    a map is the memory itself\n"
              "  none        copied through the host  copied    a copy is made\n";
    legend += "  host is plain host memory: its row and column come from each device's own info\n";
    for (const auto &[pair, seen] : connections.seen) {
        if (seen.text.empty()) {
            continue;
        }
        const bool failed = seen.verified == PI_VERIFIED_FAILED;
        legend += "  " +
                  styled(failed ? Style::bad : Style::faint,
                         connections.topology.place(pair.first).name + " -> " +
                             connections.topology.place(pair.second).name +
                             (failed ? " failed verification: " : ": ") + seen.text) +
                  "\n";
    }
    for (const std::string &problem : connections.problems) {
        legend += "  " + styled(Style::bad, problem) + "\n";
    }
    return text + fitted(legend, columns_);
}

std::string Text::variables(const std::vector<Variable> &variables) const {
    std::string text = styled(Style::title, "Environment variables") + "\n";
    for (const Variable &variable : variables) {
        text += "  " + styled(Style::title, column(variable.name, 22)) + variable.type + "\n    " +
                variable.description + "\n    " +
                (variable.value ? "value: " + styled(Style::good, *variable.value)
                                : styled(Style::faint, "not set")) +
                "\n";
    }
    return fitted(text, columns_);
}

} // namespace pi_info
