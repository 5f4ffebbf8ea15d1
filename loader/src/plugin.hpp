// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One instance of a plugin in one loader.
#pragma once

#include "config.hpp"
#include "error.hpp"
#include "exit_watch.hpp"
#include "fork.hpp"
#include "layer.hpp"
#include "library.hpp"
#include "log.hpp"
#include "stall.hpp"
#include "verified.hpp"

#include <pi/pi_loader.h>
#include <pi/pi_plugin.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace pi::loader {

/// Shared by a loader and its instances, because a parked instance outlives its loader.
struct Services {
    Configuration configuration;
    Log log;
    std::chrono::milliseconds stall_warning_delay;

    // State that layers share between the instances of the loader.
    std::mutex layers_mutex{};
    std::map<const Layer *, std::shared_ptr<void>> layers{};

    VerifiedConnections verified{configuration.verified_file()};
};

/// Created by open_plugin, ended by retire. Its address is stored in handles: it never moves.
class PluginInstance {
public:
    PluginInstance(std::shared_ptr<Services> services, std::string path);
    ~PluginInstance(); ///< tears the plugin down; no object may be left
    PluginInstance(const PluginInstance &) = delete;
    PluginInstance &operator=(const PluginInstance &) = delete;

    const std::string &name() const noexcept { return name_; }
    const std::string &path() const noexcept { return path_; }
    pi_plugin handle() const noexcept { return desc_.instance; }
    const TableChain &chain() const noexcept { return chain_; }
    /// The table in every handle of this instance.
    const pi_dispatch &table() const noexcept { return chain_.tables[0]; }
    Log &log() const noexcept { return services_->log; }
    const Configuration &configuration() const noexcept { return services_->configuration; }
    /// State that a layer shares between all instances of the loader; the first caller creates it.
    template <typename Make>
    std::shared_ptr<void> shared(const Layer &layer, Make &&make) const {
        const std::scoped_lock lock(services_->layers_mutex);
        std::shared_ptr<void> &data = services_->layers[&layer];
        if (data == nullptr)
            data = std::forward<Make>(make)();
        return data;
    }
    VerifiedConnections &verified() const noexcept { return services_->verified; }
    /// The plugin's name and version, and its file's size and time: two builds of one version
    /// differ.
    std::string build() const;
    /// How many callbacks the calling thread is inside, of any loader and plugin.
    static int32_t callback_depth() noexcept { return host_callback_depth(nullptr, 0); }
    /// Held while a command that the host does on a mapped range is enqueued (map_work.hpp).
    std::mutex &map_work_mutex() noexcept { return map_work_mutex_; }
    int64_t object_count() const noexcept { return objects_.load() - (closing_ ? 0 : 1); }

    /// Keeps the instance alive: it counts as an object. Needed by code that uses the instance, or
    /// a layer's data, after a call that may have released the last object.
    class Hold {
    public:
        explicit Hold(PluginInstance &instance) noexcept : instance_(instance) {
            instance_.count_objects(1);
        }
        Hold(const Hold &) = delete;
        Hold &operator=(const Hold &) = delete;
        ~Hold() { instance_.count_objects(-1); }

    private:
        PluginInstance &instance_;
    };

private:
    friend struct PluginOpener;
    friend void retire(std::unique_ptr<PluginInstance>, std::chrono::steady_clock::time_point,
                       StallWatch &);

    /// Waits until no object is left.
    bool drain(std::chrono::steady_clock::time_point deadline);
    void tear_down() noexcept;
    void count_objects(int64_t change) noexcept;
    /// The plugin whose environment variables it may read: by its name or, while piPluginMain runs,
    /// by its file's.
    std::string_view option_name() const noexcept;

    static void PI_CALL host_set_error(const pi_host *host, pi_result code, const char *message);
    static void PI_CALL host_log(const pi_host *host, pi_log_level level, const char *message);
    static void PI_CALL host_object_count(const pi_host *host, int64_t change);
    static const char *PI_CALL host_get_option(const pi_host *host, const char *name);
    static int32_t PI_CALL host_callback_depth(const pi_host *host, int32_t change);

    TableChain chain_{};
    const RefusedInChildren refused_in_children_{chain_};
    pi_host host_{};
    pi_plugin_desc desc_{};
    std::shared_ptr<Services> services_;
    std::string path_;
    std::string name_;
    Library library_;
    ExitWatch *exit_watch_ = nullptr; ///< set once the file is opened

    // One more than there are objects until the loader closes: it is never zero before that, and
    // counting takes no lock.
    std::atomic<int64_t> objects_{1};
    bool closing_ = false;
    std::mutex map_work_mutex_;
    std::mutex mutex_;
    std::condition_variable drained_;
    PluginInstance *next_parked_ = nullptr;
};

/// Calls a plugin: returns "" or the text of its exception.
template <typename Call>
std::string caught(Call &&call) {
    try {
        call();
        return "";
    } catch (const std::exception &exception) {
        return fmt::format("threw an exception: {}", exception.what());
    } catch (...) {
        return "threw an exception";
    }
}

/// The same for a function of the interface: an exception becomes PI_ERROR_INTERNAL, with a text
/// that names the function.
template <typename Call>
pi_result result_of(const char *function, Call &&call) {
    pi_result result = PI_SUCCESS;
    const std::string problem = caught([&] { result = call(); });
    return problem.empty() ? result : fail(PI_ERROR_INTERNAL, "{} {}", function, problem);
}

/// The same for a function that the loader calls for itself; warns if it takes long.
template <typename Call>
pi_result ask(const PluginInstance &instance, StallWatch &watch, const char *function,
              Call &&call) {
    const StallWatch::Call watched(watch, instance.name(), instance.path(), function);
    return result_of(function, std::forward<Call>(call));
}

/// "" if the plugin lists its platforms, else why not. Opens the vendor's libraries.
std::string why_unavailable(const PluginInstance &instance, StallWatch &watch);

/// The result of opening a file.
struct Opened {
    pi_plugin_status status;
    std::string name;
    std::string reason;
    std::unique_ptr<PluginInstance> instance; ///< set if loaded
};

/// Opens a file, calls its piPluginMain and checks the result. No error of the plugin short of a
/// crash gets out of here.
Opened open_plugin(const std::string &path, const std::shared_ptr<Services> &services,
                   std::span<const Layer *const> layers, StallWatch &watch);

/// Tears an instance down once its objects are released. If they are not by the deadline, the
/// instance stays for the life of the process (it is parked), with a warning.
void retire(std::unique_ptr<PluginInstance> instance,
            std::chrono::steady_clock::time_point deadline, StallWatch &watch);

} // namespace pi::loader
