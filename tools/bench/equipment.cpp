// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "equipment.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace pi_bench {

using pi::runtime::check;

namespace {

std::filesystem::path path_of(const std::string &file) {
    const auto folder =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / PI_BENCH_EQUIPMENT;
    return (folder / file).lexically_normal();
}

} // namespace

bool has_equipment(const std::string &file) {
    return std::filesystem::exists(path_of(file));
}

std::string equipment(const std::string &file) {
    const auto path = path_of(file);
    if (!std::filesystem::exists(path)) {
        throw std::runtime_error("cannot find " + path.string() +
                                 ", which is installed with pi-bench");
    }
    return path.string();
}

Loader::Loader() {
    check(piLoaderCreate(nullptr, &loader_), "piLoaderCreate");
}

Loader::Loader(const std::vector<std::string> &plugins, const std::vector<const char *> &layers) {
    std::vector<const char *> names;
    for (const std::string &plugin : plugins) {
        names.push_back(plugin.c_str());
    }
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = names.data();
    desc.plugin_count = static_cast<uint32_t>(names.size());
    desc.layers = layers.data();
    desc.layer_count = static_cast<uint32_t>(layers.size());
    check(piLoaderCreate(&desc, &loader_), "piLoaderCreate");
}

Loader::~Loader() {
    piLoaderRelease(loader_);
}

std::vector<pi_device> Loader::devices(const std::string &selector) const {
    const char *text = selector.empty() ? nullptr : selector.c_str();
    uint32_t count = 0;
    check(piLoaderSelectDevices(loader_, text, 0, nullptr, &count), "piLoaderSelectDevices");
    std::vector<pi_device> devices(count);
    check(piLoaderSelectDevices(loader_, text, count, devices.data(), &count),
          "piLoaderSelectDevices");
    devices.resize(std::min<size_t>(count, devices.size())); // a plugin may have failed since
    return devices;
}

std::string Loader::selector(pi_device device) const {
    char text[128] = "";
    check(piLoaderGetDeviceSelector(loader_, device, sizeof text, text, nullptr),
          "piLoaderGetDeviceSelector");
    return text;
}

std::string Loader::variable(const std::string &name) const {
    uint32_t count = 0;
    check(piLoaderGetEnvironment(loader_, 0, nullptr, &count), "piLoaderGetEnvironment");
    std::vector<pi_environment_variable> rows(count);
    check(piLoaderGetEnvironment(loader_, count, rows.data(), &count), "piLoaderGetEnvironment");
    for (const pi_environment_variable &row : rows) {
        if (row.name == name) {
            return row.value != nullptr ? row.value : "";
        }
    }
    throw std::logic_error("piLoaderGetEnvironment does not list " + name);
}

std::string Loader::plugin_file(const std::string &name) const {
    uint32_t count = 0;
    check(piLoaderGetReports(loader_, 0, nullptr, &count), "piLoaderGetReports");
    std::vector<pi_plugin_report> reports(count);
    check(piLoaderGetReports(loader_, count, reports.data(), &count), "piLoaderGetReports");
    for (const pi_plugin_report &report : reports) {
        if (report.name == name && report.status != PI_PLUGIN_SHADOWED) {
            if (report.status != PI_PLUGIN_LOADED) {
                throw std::runtime_error("plugin " + name + " cannot be used: " + report.reason);
            }
            return report.path;
        }
    }
    throw std::runtime_error("no plugin " + name);
}

} // namespace pi_bench
