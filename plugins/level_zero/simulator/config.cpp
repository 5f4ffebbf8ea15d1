// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "config.hpp"

#include <cstdlib>
#include <sstream>

namespace pi::level_zero::simulated {

namespace {

std::string variable(const std::string &number, const std::string &name) {
    const char *value = std::getenv(("PI_SIMULATED_LEVEL_ZERO" + number + "_" + name).c_str());
    if (!value && !number.empty())
        return variable("", name);
    return value ? value : "";
}

/// "zeMemAllocDevice:3:0x70000003,...": a function's name, the number of the call, and the code.
std::vector<Fault> read_faults(const std::string &text) {
    std::vector<Fault> faults;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        std::istringstream fields(part);
        std::string name, call, code;
        std::getline(fields, name, ':');
        std::getline(fields, call, ':');
        std::getline(fields, code, ':');
        faults.push_back({name, static_cast<unsigned>(std::strtoul(call.c_str(), nullptr, 0)),
                          static_cast<unsigned>(std::strtoul(code.c_str(), nullptr, 0))});
    }
    return faults;
}

} // namespace

Config read_config(const std::string &number) {
    Config config;
    config.machine = variable(number, "MACHINE");
    config.kernels = variable(number, "KERNELS");
    if (const std::string seed = variable(number, "REORDER"); !seed.empty())
        config.reorder = std::strtoull(seed.c_str(), nullptr, 10);
    config.peers_disagree = variable(number, "PEERS") == "disagree";
    config.units_of_one_tile = variable(number, "UNITS") == "one_tile";
    config.image_pitches = variable(number, "IMAGE_PITCHES") != "0";
    config.faults = read_faults(variable(number, "FAIL"));
    config.strict = variable(number, "STRICT") == "1";
    return config;
}

} // namespace pi::level_zero::simulated
