// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "discovery.hpp"

#include "ownership.hpp"
#include "text.hpp"

#include <pi/describe/printable.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace pi::loader {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_prefix = "libpi_plugin_";
constexpr std::string_view file_suffix = ".so";
constexpr std::uintmax_t max_manifest_size = 1 << 20;

// Absolute and without links if the file exists, so that one file has one path.
std::string canonical_path(const fs::path &path) {
    std::error_code error;
    fs::path found = fs::canonical(path, error);
    if (error)
        found = fs::absolute(path, error).lexically_normal();
    return error ? path.string() : found.string();
}

// A file that a search found: a candidate, or the reason to refuse it.
Candidate found_by_search(const std::string &name, const fs::path &file) {
    Resolved resolved = resolve(file.string());
    return {name, std::move(resolved.path), std::move(resolved.reason)};
}

std::vector<fs::path> list_directory(const std::string &directory, std::string_view prefix,
                                     std::string_view suffix, std::error_code &error) {
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (name.size() >= prefix.size() + suffix.size() && name.starts_with(prefix) &&
            name.ends_with(suffix))
            files.push_back(entry->path());
    }
    // Directory order depends on the file system.
    std::sort(files.begin(), files.end());
    return files;
}

// {"name": "opencl", "path": "../../../lib/libpi_plugin_opencl.so"}
Candidate read_manifest(const fs::path &file) {
    Candidate candidate{"", file.string(), ""};
    const Resolved resolved = resolve(file.string());
    candidate.reason = check_regular_file(resolved.path);
    if (candidate.reason.empty())
        candidate.reason = resolved.reason;
    if (!candidate.reason.empty())
        return candidate;
    std::error_code error;
    if (fs::file_size(resolved.path, error) > max_manifest_size || error) {
        candidate.reason = "manifest: larger than 1 MiB";
        return candidate;
    }
    try {
        std::ifstream stream(resolved.path, std::ios::binary);
        const nlohmann::json manifest = nlohmann::json::parse(stream);
        const auto name = manifest.at("name").get<std::string>();
        const auto path = manifest.at("path").get<std::string>();
        if (!is_plugin_name(name)) {
            candidate.reason =
                fmt::format("manifest: name is \"{}\", should have only a-z, 0-9 and '_'",
                            printable_line(name));
            return candidate;
        }
        candidate.name = name;
        if (path.find('\0') != std::string::npos) {
            candidate.reason = fmt::format(
                "manifest: path is \"{}\", which contains a NUL character", printable_line(path));
            return candidate;
        }
        const fs::path plugin = file.parent_path() / path;
        if (plugin.native().size() >= PATH_MAX) {
            candidate.reason = fmt::format("manifest: path has {} bytes, should have at most {}",
                                           plugin.native().size(), PATH_MAX - 1);
            return candidate;
        }
        Resolved leads_to = resolve(plugin.string());
        if (leads_to.missing) {
            candidate.reason =
                fmt::format("manifest: path leads to \"{}\": {}", leads_to.path, leads_to.reason);
            return candidate;
        }
        return {name, std::move(leads_to.path), std::move(leads_to.reason), file.string()};
    } catch (const nlohmann::json::exception &exception) {
        candidate.reason = fmt::format("manifest: {}", exception.what());
    }
    return candidate;
}

class Search {
public:
    Search(const SearchRequest &request, Services &services)
        : request_(request), log_(services.log),
          environment_directories_(services.configuration.get_list("PI_PLUGIN_PATH", ':')),
          environment_plugins_(services.configuration.get_list("PI_PLUGINS", ',')) {
        if (!request.loader_file.empty()) {
            own_directory_ = fs::path(request.loader_file).parent_path().string();
            // A loader in /usr also uses what the administrator installed in /usr/local.
            const std::string prefix = install_prefix(request.loader_file);
            read_manifests(prefix + "/local/share/pi/plugins.d");
            read_manifests(prefix + "/share/pi/plugins.d");
        }
    }

    std::vector<Candidate> run() {
        for (const std::string &plugin : request_.plugins)
            add_named(plugin);
        for (const std::string &directory : request_.directories)
            add_directory(directory, true);
        if (!request_.default_search)
            return std::move(found_);
        for (const std::string &plugin : environment_plugins_)
            add_named(plugin);
        for (const std::string &directory : environment_directories_)
            add_directory(directory, true);
        found_.insert(found_.end(), manifests_.begin(), manifests_.end());
        if (!own_directory_.empty())
            add_directory(own_directory_, false);
        return std::move(found_);
    }

private:
    void read_manifests(const std::string &directory) {
        std::error_code error; // an installation without manifests is usual
        const auto files = list_directory(directory, "", ".json", error);
        for (const fs::path &file : files)
            manifests_.push_back(read_manifest(file));
        log_.write(PI_LOG_DEBUG, "\"{1}\": {0} manifests", files.size(), directory);
    }

    void add_directory(const std::string &directory, bool asked_for) {
        std::error_code error;
        const auto files = list_directory(directory, file_prefix, file_suffix, error);
        // No ownership check: who can write here can also replace the loader itself.
        for (const fs::path &file : files)
            found_.push_back(asked_for ? found_by_search("", file)
                                       : Candidate{"", canonical_path(file), ""});
        log_.write(PI_LOG_DEBUG, "\"{1}\": {0} plugin files", files.size(), directory);
        if (error && asked_for)
            found_.push_back({"", directory, "plugin directory: " + error.message()});
    }

    void add_named(const std::string &plugin) {
        if (is_plugin_name(plugin))
            found_.push_back(look_up(plugin));
        else
            found_.push_back({"", canonical_path(plugin), ""});
    }

    Candidate look_up(const std::string &name) const {
        std::string tried;
        const auto try_directory = [&](const std::string &directory) {
            fs::path file =
                fs::path(directory) / fmt::format("{}{}{}", file_prefix, name, file_suffix);
            std::error_code error;
            if (fs::exists(file, error))
                return file;
            tried += (tried.empty() ? "" : ", ") + directory;
            return fs::path();
        };
        for (const auto *list : {&request_.directories, &environment_directories_}) {
            for (const std::string &directory : *list) {
                if (const fs::path file = try_directory(directory); !file.empty())
                    return found_by_search(name, file);
            }
        }
        for (const Candidate &manifest : manifests_) {
            if (manifest.name == name)
                return manifest;
        }
        if (!own_directory_.empty()) {
            if (const fs::path file = try_directory(own_directory_); !file.empty())
                return {name, canonical_path(file), ""};
        }
        return {name, "",
                fmt::format("no manifest has this name, and no directory has a file {}{}{}: {}",
                            file_prefix, name, file_suffix,
                            tried.empty() ? "none was given" : "tried " + tried)};
    }

    const SearchRequest &request_;
    Log &log_;
    std::vector<std::string> environment_directories_;
    std::vector<std::string> environment_plugins_;
    std::string own_directory_;
    std::vector<Candidate> manifests_;
    std::vector<Candidate> found_;
};

} // namespace

std::vector<Candidate> find_plugins(const SearchRequest &request, Services &services) {
    return Search(request, services).run();
}

std::string install_prefix(const std::string &file) {
    const fs::path folder = fs::path(file).parent_path();
    for (fs::path path = folder; path.has_relative_path(); path = path.parent_path()) {
        const std::string name = path.filename().string();
        if (name == "lib" || name == "lib32" || name == "lib64")
            return path.parent_path().string();
    }
    return folder.parent_path().string();
}

} // namespace pi::loader
