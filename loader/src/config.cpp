// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "config.hpp"

#include "layers/fault/specification.hpp"
#include "text.hpp"

#include <algorithm>
#include <sys/auxv.h>
#include <unistd.h>

namespace pi::loader {
namespace {

constexpr const char *log_levels[] = {"trace", "debug", "info", "warning", "error", "off"};

bool is_log_level(std::string_view value) {
    return parse_log_level(value).has_value();
}

bool is_thread_count(std::string_view value) {
    const std::optional<uint32_t> count = parse_number(value);
    return count.has_value() && *count >= 1 && *count <= 4096;
}

bool is_race_level(std::string_view value) {
    return value == "warning" || value == "error";
}

std::string fault_problem(std::string_view value) {
    std::vector<fault::Fault> faults;
    return fault::parse(value, faults);
}

constexpr Variable rows[] = {
    {"PI_PLUGINS", "list of names or paths, separated by ','",
     "Plugins to load before those that the search finds.", nullptr, ""},
    {"PI_PLUGIN_PATH", "list of directories, separated by ':'",
     "Directories to search for plugin files (libpi_plugin_*.so) before the default ones.", nullptr,
     ""},
    {"PI_DEVICE_SELECTOR", "selector",
     "Devices for a program that names none: a list of plugin[:platform[:device]] separated by "
     "','; numbers count from 0, '*' means any.",
     nullptr, ""},
    {"PI_LAYERS", "list of names, separated by ','", "Layers to enable, outermost first.", nullptr,
     ""},
    {"PI_FAULT", "list of faults, separated by ';'",
     "Faults that the layer fault injects, for example "
     "piMemBufferCreate:2..5=fail(OUT_OF_DEVICE_MEMORY); also fail_event(RESULT), short and "
     "delay(10ms).",
     nullptr, "", fault_problem},
    {"PI_RACE", "level",
     "Log level of the layer race's reports: warning or error; not set: warning.", is_race_level,
     "one of warning, error"},
    {"PI_TRACE_FILE", "path",
     "Output file of the layer trace; %p stands for the process ID; not set: pi_trace_%p.json.",
     nullptr, ""},
    {"PI_RECORD_FILE", "path",
     "Output file of the layer record; %p stands for the process ID; not set: pi_record_%p.jsonl.",
     nullptr, ""},
    {"PI_VERIFIED_FILE", "path",
     "Cache file for the results of verified connections; set but empty: none; not set: "
     "pi/verified.json in XDG_CACHE_HOME or ~/.cache.",
     nullptr, ""},
    {"PI_LOG", "level", "Lowest level that is logged: trace, debug, info, warning, error or off.",
     is_log_level, "one of trace, debug, info, warning, error, off"},
    {"PI_HOST_THREADS", "number", "Worker threads of the host plugin; not set: one per core.",
     is_thread_count, "a number from 1 to 4096"},
    {"PI_CUDA_LIBRARY", "path", "CUDA driver library for the cuda plugin; not set: libcuda.so.1.",
     nullptr, ""},
    {"PI_NVRTC_LIBRARY", "path",
     "NVRTC library, which compiles CUDA C++ for the cuda plugin; not set: libnvrtc.so of the "
     "driver's version or an older one.",
     nullptr, ""},
    {"PI_NVML_LIBRARY", "path",
     "NVML library, from which the cuda plugin reads the links between devices; not set: "
     "libnvidia-ml.so.1. Without it the links are unknown.",
     nullptr, ""},
    {"PI_LEVEL_ZERO_LIBRARY", "path",
     "Level Zero loader library for the level_zero plugin; not set: libze_loader.so.1.", nullptr,
     ""},
    {"PI_OPENCL_LIBRARY", "path",
     "OpenCL ICD loader library for the opencl plugin; not set: libOpenCL.so.1.", nullptr, ""},
    {"PI_OPENCL_PLATFORMS", "list of texts, separated by ','",
     "OpenCL platforms to use, each given as a part of its name; not set: all.", nullptr, ""},
    {"PI_SIM_MACHINE", "path", "Machine file for the sim plugin; not set: no simulated devices.",
     nullptr, ""},
};

const Variable *find(std::string_view name) {
    for (const Variable &row : rows) {
        if (name == row.name)
            return &row;
    }
    return nullptr;
}

std::string check(std::string_view name, std::string_view value) {
    const Variable *row = find(name);
    if (!value.empty() && row != nullptr && row->problem != nullptr) {
        const std::string problem = row->problem(value);
        return problem.empty() ? "" : fmt::format("{}: {}", name, problem);
    }
    if (value.empty() || row == nullptr || row->valid == nullptr || row->valid(value))
        return "";
    return fmt::format("{} is \"{}\", should be {}", name, value, row->allowed);
}

/// Whether the variable belongs to the plugin: "PI_ACME_LOG" belongs to "acme".
bool is_of_plugin(std::string_view plugin, std::string_view name) {
    constexpr std::string_view prefix = "PI_";
    if (plugin.empty() || name.size() <= prefix.size() + plugin.size() + 1 ||
        !name.starts_with(prefix))
        return false;
    name.remove_prefix(prefix.size());
    const auto capital = [](char letter) {
        return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    };
    return name[plugin.size()] == '_' &&
           std::equal(plugin.begin(), plugin.end(), name.begin(),
                      [&](char ours, char given) { return capital(ours) == given; });
}

} // namespace

std::span<const Variable> variables() noexcept {
    return rows;
}

std::string Configuration::set(std::string_view name, std::string_view value) {
    std::string problem = check(name, value);
    if (problem.empty())
        values_.insert_or_assign(std::string(name), std::string(value));
    return problem;
}

void Configuration::read_environment(std::vector<std::string> &warnings) {
    if (::getauxval(AT_SECURE) != 0)
        return;
    // Copied in one pass, so that later code cannot race with setenv in another thread. Unlisted
    // variables are copied, too: any of them may belong to a plugin that is not loaded yet.
    std::string cache, home;
    for (char **entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::size_t end = text.find('=');
        if (end == std::string_view::npos)
            continue;
        const std::string_view name = text.substr(0, end), value = text.substr(end + 1);
        if (name.starts_with("PI_"))
            unlisted_.emplace(name, value);
        else if (name == "XDG_CACHE_HOME")
            cache = value;
        else if (name == "HOME")
            home = value;
    }
    // Data that programs can compute again (XDG base directory specification).
    if (cache.starts_with('/'))
        cache_folder_ = cache;
    else if (home.starts_with('/'))
        cache_folder_ = home + "/.cache";
    for (const Variable &row : rows) {
        const auto variable = unlisted_.extract(row.name);
        if (variable.empty() || values_.find(row.name) != values_.end())
            continue;
        std::string problem = set(row.name, variable.mapped());
        if (!problem.empty())
            warnings.push_back(fmt::format("environment variable {}: ignored", problem));
    }
}

std::string Configuration::verified_file() const {
    const auto given = values_.find("PI_VERIFIED_FILE");
    if (given != values_.end())
        return given->second;
    return cache_folder_.empty() ? "" : cache_folder_ + "/pi/verified.json";
}

const char *Configuration::get(std::string_view name) const noexcept {
    const auto found = values_.find(name);
    if (found == values_.end() || found->second.empty())
        return nullptr;
    return found->second.c_str();
}

const char *Configuration::get_for(std::string_view plugin, std::string_view name) const noexcept {
    if (values_.find(name) != values_.end() || !is_of_plugin(plugin, name))
        return get(name);
    const auto found = unlisted_.find(name);
    return found != unlisted_.end() && !found->second.empty() ? found->second.c_str() : nullptr;
}

std::vector<std::string> Configuration::get_list(std::string_view name, char separator) const {
    const char *value = get(name);
    return value != nullptr ? split_list(value, separator) : std::vector<std::string>{};
}

std::optional<pi_log_level> parse_log_level(std::string_view text) noexcept {
    for (pi_log_level level = PI_LOG_TRACE; level <= PI_LOG_OFF; ++level) {
        if (text == log_levels[level - PI_LOG_TRACE])
            return level;
    }
    return std::nullopt;
}

} // namespace pi::loader
