// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loaders, their logs and folders for plugins, for the loader's tests.
#pragma once

#include "objects.hpp"
#include "temporary.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/pi_loader.h>
#include <pi/pi_plugin.h>

#include <catch2/catch.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace loader_test {

inline std::string plugin_file(const std::string &name) {
    return std::string(PI_LOADER_TEST_PLUGINS) + "/libpi_plugin_" + name + ".so";
}

using pi_test::last_error;

/// A folder for plugins.
class TemporaryFolder : public pi_test::TemporaryFolder {
public:
    /// Without a trailing '/'.
    std::string path() const { return str(); }
    std::string str(const std::string &file = "") const {
        const std::filesystem::path &folder = pi_test::TemporaryFolder::path();
        return (file.empty() ? folder : folder / file).string();
    }
    /// A copy of a test plugin: a separate file.
    std::string copy_plugin(const std::string &name, const std::string &as = "") const {
        const std::string target = str("libpi_plugin_" + (as.empty() ? name : as) + ".so");
        std::filesystem::copy_file(plugin_file(name), target);
        return target;
    }
    std::string write(const std::string &file, const std::string &text) const {
        std::filesystem::create_directories(std::filesystem::path(str(file)).parent_path());
        std::ofstream(str(file)) << text;
        return str(file);
    }
};

/// Messages of a loader.
class CapturedLog {
public:
    /// Called in each callback; set it while nothing is logged.
    std::function<void()> on_message;

    static void PI_CALL callback(uint32_t level, const char *message, void *user_data) {
        auto *log = static_cast<CapturedLog *>(user_data);
        if (log->on_message)
            log->on_message();
        const std::scoped_lock lock(log->mutex_);
        log->lines_.emplace_back(level, message);
        log->grown_.notify_all();
    }
    /// The messages of at least that level that contain the text.
    std::size_t count(const std::string &text, uint32_t level = PI_LOG_TRACE) const {
        const std::scoped_lock lock(mutex_);
        return find_locked({text}, level).size();
    }
    /// Waits for that many messages that contain all of the texts. Fewer if no more come in 30 s.
    std::vector<std::string> wait_for(const std::vector<std::string> &texts, uint32_t level,
                                      std::size_t times) const {
        std::unique_lock lock(mutex_);
        grown_.wait_for(lock, std::chrono::seconds(30),
                        [&] { return find_locked(texts, level).size() >= times; });
        return find_locked(texts, level);
    }
    std::string all() const {
        const std::scoped_lock lock(mutex_);
        std::string text;
        for (const auto &[level, line] : lines_)
            text += line + "\n";
        return text;
    }

private:
    std::vector<std::string> find_locked(const std::vector<std::string> &texts,
                                         uint32_t level) const {
        std::vector<std::string> found;
        for (const auto &[line_level, line] : lines_) {
            bool all = line_level >= level;
            for (const std::string &text : texts)
                all = all && line.find(text) != std::string::npos;
            if (all)
                found.push_back(line);
        }
        return found;
    }
    mutable std::mutex mutex_;
    mutable std::condition_variable grown_;
    std::vector<std::pair<uint32_t, std::string>> lines_;
};

/// A loader descriptor with its strings; without the environment and the default search.
struct Description {
    std::vector<std::string> plugins;
    std::vector<std::string> directories;
    std::vector<std::string> layers;
    std::vector<std::pair<std::string, std::string>> options;
    uint64_t flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    uint32_t teardown_timeout = 0;
    uint32_t stall_warning_delay = 0;
    CapturedLog *log = nullptr;

    /// Without assertions, for any thread.
    template <typename Create>
    pi_result try_create(Create &&create, pi_loader *out_loader) const {
        const auto pointers = [](const std::vector<std::string> &strings) {
            std::vector<const char *> list;
            for (const std::string &string : strings)
                list.push_back(string.c_str());
            return list;
        };
        const auto plugin_list = pointers(plugins);
        const auto directory_list = pointers(directories);
        const auto layer_list = pointers(layers);
        std::vector<pi_loader_option> option_list;
        for (const auto &[name, value] : options)
            option_list.push_back({name.c_str(), value.c_str()});
        auto desc = pi::desc<pi_loader_desc>();
        desc.flags = flags;
        desc.plugins = plugin_list.data();
        desc.plugin_count = static_cast<uint32_t>(plugin_list.size());
        desc.directories = directory_list.data();
        desc.directory_count = static_cast<uint32_t>(directory_list.size());
        desc.layers = layer_list.data();
        desc.layer_count = static_cast<uint32_t>(layer_list.size());
        desc.options = option_list.data();
        desc.option_count = static_cast<uint32_t>(option_list.size());
        desc.teardown_timeout = teardown_timeout;
        desc.stall_warning_delay = stall_warning_delay;
        if (log != nullptr) {
            desc.log = CapturedLog::callback;
            desc.log_user_data = log;
            desc.log_level = PI_LOG_TRACE;
        }
        return create(&desc, out_loader);
    }
    template <typename Create>
    pi_loader create_with(Create &&create) const {
        pi_loader loader = nullptr;
        const pi_result result = try_create(create, &loader);
        INFO(last_error());
        REQUIRE(result == PI_SUCCESS);
        return loader;
    }
    pi_loader create() const { return create_with(piLoaderCreate); }
};

struct Report {
    std::string name;
    std::string path;
    std::string reason;
    pi_plugin_status status;
    pi_plugin plugin;
};

/// A loader, with queries for tests.
class Loader {
public:
    explicit Loader(const Description &description) : loader_(description.create()) {}
    explicit Loader(pi_loader loader) : loader_(loader) {}
    ~Loader() { reset(); }
    Loader(const Loader &) = delete;
    Loader &operator=(const Loader &) = delete;

    void reset() {
        if (loader_ != nullptr)
            piLoaderRelease(std::exchange(loader_, nullptr));
    }
    pi_loader get() const { return loader_; }

    std::vector<pi_plugin> plugins() const {
        uint32_t count = 0;
        REQUIRE(piPluginsGet(loader_, 0, nullptr, &count) == PI_SUCCESS);
        std::vector<pi_plugin> list(count);
        REQUIRE(piPluginsGet(loader_, count, list.data(), &count) == PI_SUCCESS);
        return list;
    }
    std::vector<Report> reports() const {
        uint32_t count = 0;
        REQUIRE(piLoaderGetReports(loader_, 0, nullptr, &count) == PI_SUCCESS);
        std::vector<pi_plugin_report> list(count);
        REQUIRE(piLoaderGetReports(loader_, count, list.data(), &count) == PI_SUCCESS);
        std::vector<Report> reports;
        for (const pi_plugin_report &row : list)
            reports.push_back({row.name, row.path, row.reason, row.status, row.plugin});
        return reports;
    }
    /// The only report.
    Report report() const {
        const std::vector<Report> list = reports();
        REQUIRE(list.size() == 1);
        return list[0];
    }
    pi_platform platform(std::size_t plugin = 0) const {
        pi_platform platform = nullptr;
        REQUIRE(piPlatformsGet(plugins().at(plugin), 1, &platform, nullptr) == PI_SUCCESS);
        return platform;
    }
    pi_device device(std::size_t plugin = 0) const {
        pi_device device = nullptr;
        REQUIRE(piDevicesGet(platform(plugin), PI_DEVICE_TYPE_ALL, 1, &device, nullptr) ==
                PI_SUCCESS);
        return device;
    }
    pi_context context(std::size_t plugin = 0) const {
        pi_context context = nullptr;
        REQUIRE(piContextCreate(platform(plugin), nullptr, &context) == PI_SUCCESS);
        return context;
    }

private:
    pi_loader loader_;
};

inline std::string plugin_name(pi_plugin plugin) {
    char name[64] = {};
    REQUIRE(piPluginGetInfo(plugin, PI_PLUGIN_INFO_NAME, sizeof name, name, nullptr) == PI_SUCCESS);
    return name;
}

/// A bad plugin must not affect others: this one's devices are found, and it creates objects.
inline void check_works(const Loader &loader, pi_plugin plugin) {
    const std::string name = plugin_name(plugin);
    INFO("plugin " << name);
    pi_device devices[4] = {};
    uint32_t count = 0;
    CHECK(piLoaderSelectDevices(loader.get(), name.c_str(), 4, devices, &count) == PI_SUCCESS);
    REQUIRE(count == 2);
    pi_platform platform = nullptr;
    REQUIRE(piPlatformsGet(plugin, 1, &platform, nullptr) == PI_SUCCESS);
    pi_context context = nullptr;
    REQUIRE(piContextCreate(platform, nullptr, &context) == PI_SUCCESS);
    CHECK(piContextRelease(context) == PI_SUCCESS);
}

} // namespace loader_test
