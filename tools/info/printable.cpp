// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "inventory.hpp"

#include <pi/describe/printable.hpp>

#include <algorithm>
#include <cstring>

namespace pi_info {
namespace {

void make_printable(std::string &text) {
    text = pi::printable_line(text);
}

} // namespace

void make_printable(std::vector<Plugin> &plugins) {
    for (Plugin &plugin : plugins) {
        make_printable(plugin.name);
        make_printable(plugin.path);
        make_printable(plugin.reason);
        make_printable(plugin.version);
    }
}

void make_printable(std::vector<Device> &devices) {
    for (Device &device : devices) {
        for (std::string *text : {&device.selector, &device.plugin, &device.platform,
                                  &device.platform_version, &device.name, &device.vendor,
                                  &device.version, &device.driver_version, &device.pci_address}) {
            make_printable(*text);
        }
        for (pi_memory_scope &scope : device.scopes) {
            const std::string name =
                pi::printable_line({scope.name, strnlen(scope.name, sizeof scope.name)});
            std::memset(scope.name, 0, sizeof scope.name);
            std::memcpy(scope.name, name.data(), std::min(name.size(), sizeof scope.name - 1));
        }
    }
}

void make_printable(std::vector<Variable> &variables) {
    for (Variable &variable : variables) {
        if (variable.value) {
            make_printable(*variable.value);
        }
    }
}

void make_printable(Connections &connections) {
    for (pi::runtime::PlaceInfo &place : connections.topology.places) {
        make_printable(place.name);
    }
    for (std::string &problem : connections.problems) {
        make_printable(problem);
    }
}

} // namespace pi_info
