// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "equipment.hpp"

#include <filesystem>
#include <stdexcept>

namespace pi_bench {
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

pi::Loader load_only(const std::vector<std::string> &plugins,
                     const std::vector<const char *> &layers) {
    std::vector<const char *> names;
    names.reserve(plugins.size());
    for (const std::string &plugin : plugins) {
        names.push_back(plugin.c_str());
    }
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = names.data();
    desc.plugin_count = static_cast<uint32_t>(names.size());
    desc.layers = layers.data();
    desc.layer_count = static_cast<uint32_t>(layers.size());
    return pi::Loader::create(&desc);
}

std::string variable(pi::LoaderRef loader, const std::string &name) {
    for (const pi_environment_variable &row : loader.environment()) {
        if (row.name == name) {
            return row.value != nullptr ? row.value : "";
        }
    }
    throw std::logic_error("piLoaderGetEnvironment does not list " + name);
}

std::string plugin_file(pi::LoaderRef loader, const std::string &name) {
    for (const pi_plugin_report &report : loader.reports()) {
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
