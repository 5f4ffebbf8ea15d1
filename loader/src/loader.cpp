// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "loader.hpp"

#include "descriptor.hpp"
#include "discovery.hpp"
#include "error.hpp"
#include "functions.hpp"
#include "layers/layers.hpp"
#include "text.hpp"

#include <algorithm>

namespace pi::loader {
namespace {

constexpr const char *create_name = "piLoaderCreate";

std::vector<std::string> copy_strings(const char *const *strings, uint32_t count) {
    return {strings, strings + count};
}

pi_result check_strings(const char *argument, const char *const *strings, uint32_t count) {
    if (count != 0 && strings == nullptr)
        return fail(PI_ERROR_INVALID_NULL_POINTER, "{}: desc->{} is NULL, but its count is {}",
                    create_name, argument, count);
    for (uint32_t i = 0; i < count; ++i) {
        if (strings[i] == nullptr || strings[i][0] == '\0')
            return fail(PI_ERROR_INVALID_NULL_POINTER, "{}: desc->{}[{}] is NULL or empty",
                        create_name, argument, i);
    }
    return PI_SUCCESS;
}

pi_result check_desc(const pi_loader_desc &desc) {
    constexpr uint64_t flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    if (const pi_result result = check_flags(create_name, desc.flags, flags))
        return result;
    if (const pi_result result = check_strings("plugins", desc.plugins, desc.plugin_count))
        return result;
    if (const pi_result result =
            check_strings("directories", desc.directories, desc.directory_count))
        return result;
    if (const pi_result result = check_strings("layers", desc.layers, desc.layer_count))
        return result;
    if (desc.option_count != 0 && desc.options == nullptr)
        return fail(PI_ERROR_INVALID_NULL_POINTER, "{}: desc->options is NULL, but its count is {}",
                    create_name, desc.option_count);
    if (desc.log_level > PI_LOG_OFF)
        return fail(PI_ERROR_INVALID_VALUE,
                    "{}: desc->log_level is {}, should be at most PI_LOG_OFF ({})", create_name,
                    desc.log_level, PI_LOG_OFF);
    return PI_SUCCESS;
}

pi_result read_options(const pi_loader_desc &desc, Configuration &configuration) {
    for (uint32_t i = 0; i < desc.option_count; ++i) {
        const pi_loader_option &option = desc.options[i];
        if (option.name == nullptr || option.name[0] == '\0')
            return fail(PI_ERROR_INVALID_NULL_POINTER,
                        "{}: desc->options[{}].name is NULL or empty", create_name, i);
        const std::string problem =
            configuration.set(option.name, option.value != nullptr ? option.value : "");
        if (!problem.empty())
            return fail(PI_ERROR_INVALID_VALUE, "{}: option {}", create_name, problem);
    }
    return PI_SUCCESS;
}

pi_log_level log_level(const pi_loader_desc &desc, const Configuration &configuration) {
    if (desc.log_level != 0)
        return desc.log_level;
    const char *value = configuration.get("PI_LOG");
    return parse_log_level(value != nullptr ? value : "").value_or(PI_LOG_WARNING);
}

// The first report of the same file, or nullptr.
const Report *find_path(const std::vector<Report> &reports, const std::string &path) {
    const auto found = std::find_if(reports.begin(), reports.end(), [&](const Report &report) {
        return report.path == path && !path.empty();
    });
    return found != reports.end() ? &*found : nullptr;
}

const PluginInstance *find_name(const pi_loader_s &loader, const std::string &name) {
    for (const auto &instance : loader.instances) {
        if (instance->name() == name)
            return instance.get();
    }
    return nullptr;
}

Report shadowed(std::string name, std::string path, const PluginInstance &by, bool same_file) {
    std::string reason =
        same_file ? fmt::format("the same file is already loaded as \"{}\"", by.name())
                  : fmt::format("a plugin \"{}\" is already loaded from {}", by.name(), by.path());
    return {std::move(name), std::move(path), std::move(reason), PI_PLUGIN_SHADOWED, nullptr};
}

// A plugin without its driver or device is replaced by the next one of the same name; no handle of
// it exists yet. It is queried only in that case, because the query opens the vendor's libraries.
bool withdraw_unavailable(pi_loader_s &loader, const PluginInstance &instance, StallWatch &watch) {
    const std::string reason = why_unavailable(instance, watch);
    if (reason.empty())
        return false;
    for (Report &report : loader.reports) {
        if (report.instance != &instance)
            continue;
        report.status = PI_PLUGIN_UNAVAILABLE;
        report.reason = reason;
        report.instance = nullptr;
    }
    const auto found = std::find_if(loader.instances.begin(), loader.instances.end(),
                                    [&](const auto &each) { return each.get() == &instance; });
    std::unique_ptr<PluginInstance> withdrawn = std::move(*found);
    loader.instances.erase(found);
    loader.services->log.write(PI_LOG_INFO,
                               "plugin {} ({}): {}; the next plugin of this name replaces it",
                               withdrawn->name(), withdrawn->path(), reason);
    retire(std::move(withdrawn), std::chrono::steady_clock::now(), watch);
    return true;
}

void load(pi_loader_s &loader, const Candidate &candidate, std::span<const Layer *const> layers,
          StallWatch &watch) {
    Log &log = loader.services->log;
    if (!candidate.reason.empty()) {
        std::string reason = candidate.reason + candidate.origin();
        log.warn("plugin {}: {}", candidate.path.empty() ? candidate.name : candidate.path, reason);
        loader.reports.push_back(
            {candidate.name, candidate.path, std::move(reason), PI_PLUGIN_REFUSED, nullptr});
        return;
    }
    if (const Report *before = find_path(loader.reports, candidate.path)) {
        // A file that failed once is already in the reports.
        if (before->instance != nullptr)
            loader.reports.push_back(
                shadowed(before->name, candidate.path, *before->instance, true));
        return;
    }
    Opened opened = open_plugin(candidate.path, loader.services, layers, watch);
    if (opened.instance == nullptr) {
        std::string reason = opened.reason + candidate.origin();
        log.write(opened.status == PI_PLUGIN_REFUSED ? PI_LOG_WARNING : PI_LOG_INFO,
                  "plugin {}: {}", candidate.path, reason);
        loader.reports.push_back(
            {candidate.name, candidate.path, std::move(reason), opened.status, nullptr});
        return;
    }
    if (const PluginInstance *before = find_name(loader, opened.name)) {
        if (!withdraw_unavailable(loader, *before, watch)) {
            loader.reports.push_back(shadowed(opened.name, candidate.path, *before, false));
            retire(std::move(opened.instance), std::chrono::steady_clock::now(), watch);
            return;
        }
    }
    if (!candidate.name.empty() && candidate.name != opened.name)
        log.warn("plugin {}: requested as \"{}\", but its name is \"{}\"", candidate.path,
                 candidate.name, opened.name);
    log.write(PI_LOG_DEBUG, "plugin {}: loaded from {}", opened.name, candidate.path);
    loader.reports.push_back(
        {opened.name, candidate.path, "", PI_PLUGIN_LOADED, opened.instance.get()});
    loader.instances.push_back(std::move(opened.instance));
}

std::vector<std::string> layer_names(const pi_loader_desc &desc,
                                     const Configuration &configuration) {
    if (desc.layer_count != 0)
        return copy_strings(desc.layers, desc.layer_count);
    return configuration.get_list("PI_LAYERS", ',');
}

} // namespace

pi_result create_loader(const pi_loader_desc *desc, std::span<const Layer *const> known_layers,
                        pi_loader *out_loader) {
    if (out_loader == nullptr)
        return fail(PI_ERROR_INVALID_NULL_POINTER, "{}: out_loader is NULL", create_name);
    pi_loader_desc read{};
    if (desc != nullptr) {
        if (const pi_result result =
                read_descriptor(create_name, "desc", desc, PI_TYPE_LOADER_DESC, read))
            return result;
        if (const pi_result result = check_desc(read))
            return result;
    }
    Configuration configuration;
    if (const pi_result result = read_options(read, configuration))
        return result;
    std::vector<std::string> warnings;
    if ((read.flags & PI_LOADER_IGNORE_ENVIRONMENT) == 0)
        configuration.read_environment(warnings);

    auto loader = std::make_unique<pi_loader_s>();
    const pi_log_level level = log_level(read, configuration);
    // NOLINTNEXTLINE(modernize-make-shared): Services is an aggregate, clang 14 needs its braces
    loader->services = std::shared_ptr<Services>(
        new Services{std::move(configuration),
                     {level, read.log, read.log_user_data},
                     std::chrono::milliseconds(
                         read.stall_warning_delay != 0 ? read.stall_warning_delay : 5000)});
    if (read.teardown_timeout != 0)
        loader->teardown_timeout = std::chrono::milliseconds(read.teardown_timeout);
    Log &log = loader->services->log;
    for (const std::string &warning : warnings)
        log.warn("{}", warning);

    const std::vector<const Layer *> layers =
        find_layers(layer_names(read, loader->services->configuration), known_layers, log);
    if (loader->services->configuration.get("PI_FAULT") != nullptr &&
        std::find(layers.begin(), layers.end(), &fault_layer) == layers.end())
        log.warn("PI_FAULT is set, but the layer \"{}\" is not enabled; enable it in PI_LAYERS",
                 fault_layer.name);
    const SearchRequest request{copy_strings(read.plugins, read.plugin_count),
                                copy_strings(read.directories, read.directory_count),
                                (read.flags & PI_LOADER_NO_DEFAULT_SEARCH) == 0, own_file()};
    StallWatch watch(log, loader->services->stall_warning_delay);
    for (const Candidate &candidate : find_plugins(request, *loader->services))
        load(*loader, candidate, layers, watch);
    *out_loader = loader.release();
    return PI_SUCCESS;
}

pi_result check_loader(const char *function, pi_loader loader) noexcept {
    if (loader == nullptr)
        return fail(PI_ERROR_INVALID_LOADER, "{}: loader is NULL", function);
    if (loader->header.kind != PI_KIND_LOADER)
        return fail(PI_ERROR_INVALID_LOADER, "{}: loader is a {}, should be a loader", function,
                    kind_name(loader->header.kind));
    if (loader->forks != fork_count())
        return fail(PI_ERROR_INVALID_OPERATION,
                    "{}: this process was forked after the loader was created, and its plugins' "
                    "threads stayed in the parent; create a loader in the child",
                    function);
    return PI_SUCCESS;
}

} // namespace pi::loader

using namespace pi::loader;

pi_loader_s::~pi_loader_s() {
    if (services == nullptr)
        return;
    StallWatch watch(services->log, services->stall_warning_delay);
    const auto deadline = std::chrono::steady_clock::now() + teardown_timeout;
    while (!instances.empty()) {
        std::unique_ptr<PluginInstance> last = std::move(instances.back());
        instances.pop_back();
        retire(std::move(last), deadline, watch);
    }
    services->log.close();
}

pi_result piLoaderCreate(const pi_loader_desc *desc, pi_loader *out_loader) {
    return guarded("piLoaderCreate",
                   [&] { return create_loader(desc, shipped_layers(), out_loader); });
}

pi_result piLoaderRetain(pi_loader loader) {
    if (const pi_result result = check_loader("piLoaderRetain", loader))
        return result;
    loader->references.fetch_add(1);
    return PI_SUCCESS;
}

pi_result piLoaderRelease(pi_loader loader) {
    if (const pi_result result = check_loader("piLoaderRelease", loader))
        return result;
    if (loader->references.fetch_sub(1) != 1)
        return PI_SUCCESS;
    return guarded("piLoaderRelease", [&] {
        delete loader;
        return PI_SUCCESS;
    });
}

pi_result piPluginsGet(pi_loader loader, uint32_t capacity, pi_plugin *out_plugins,
                       uint32_t *out_count) {
    return guarded("piPluginsGet", [&] {
        if (const pi_result result = check_loader("piPluginsGet", loader))
            return result;
        std::vector<pi_plugin> plugins;
        for (const auto &instance : loader->instances)
            plugins.push_back(instance->handle());
        return write_list("piPluginsGet", plugins, capacity, out_plugins, out_count);
    });
}

pi_result piLoaderGetReports(pi_loader loader, uint32_t capacity, pi_plugin_report *out_reports,
                             uint32_t *out_count) {
    return guarded("piLoaderGetReports", [&] {
        if (const pi_result result = check_loader("piLoaderGetReports", loader))
            return result;
        std::vector<pi_plugin_report> reports;
        StallWatch watch(loader->services->log, loader->services->stall_warning_delay);
        for (const Report &report : loader->reports) {
            pi_plugin_report row{report.name.c_str(),
                                 report.path.c_str(),
                                 report.reason.c_str(),
                                 report.status,
                                 0,
                                 nullptr,
                                 {}};
            if (report.instance != nullptr) {
                row.plugin = report.instance->handle();
                std::string reason = why_unavailable(*report.instance, watch);
                if (!reason.empty()) {
                    const std::scoped_lock lock(loader->texts_mutex);
                    row.status = PI_PLUGIN_UNAVAILABLE;
                    row.reason = loader->texts.insert(std::move(reason)).first->c_str();
                }
            }
            reports.push_back(row);
        }
        return write_list("piLoaderGetReports", reports, capacity, out_reports, out_count);
    });
}

pi_result piLoaderGetEnvironment(pi_loader loader, uint32_t capacity,
                                 pi_environment_variable *out_variables, uint32_t *out_count) {
    return guarded("piLoaderGetEnvironment", [&] {
        if (const pi_result result = check_loader("piLoaderGetEnvironment", loader))
            return result;
        std::vector<pi_environment_variable> rows;
        for (const Variable &row : variables())
            rows.push_back({row.name,
                            row.type,
                            row.description,
                            loader->services->configuration.get(row.name),
                            {}});
        return write_list("piLoaderGetEnvironment", rows, capacity, out_variables, out_count);
    });
}
