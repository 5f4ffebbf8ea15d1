// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "plugin.hpp"

#include "check.hpp"
#include "defaults.hpp"
#include "error.hpp"

#include <algorithm>
#include <utility>

#include <sys/stat.h>

namespace pi::loader {
namespace {

// Instances that outlived their loader: leaked on purpose, and reachable from here for leak
// checkers. One list per process; entries are never removed.
constinit std::atomic<PluginInstance *> parked{nullptr};

PluginInstance &instance_of(const pi_host *host) {
    return *static_cast<PluginInstance *>(host->context);
}

} // namespace

PluginInstance::PluginInstance(std::shared_ptr<Services> services, std::string path)
    : services_(std::move(services)), path_(std::move(path)),
      name_(path_.substr(path_.rfind('/') + 1)) {
    chain_.instance = this;
    host_ = {sizeof host_,
             PI_VERSION_MAJOR,
             PI_VERSION_MINOR,
             chain_.tables,
             this,
             &host_set_error,
             &host_log,
             &host_object_count,
             &host_get_option,
             &host_callback_depth};
}

PluginInstance::~PluginInstance() {
    tear_down();
    detach_layers(chain_);
}

void PluginInstance::tear_down() noexcept {
    const auto teardown = std::exchange(desc_.teardown, nullptr);
    if (teardown == nullptr || desc_.instance == nullptr)
        return;
    const ErrorScope scope;
    const std::string problem = caught([&] { teardown(desc_.instance); });
    if (!problem.empty())
        log().write(PI_LOG_ERROR, "plugin {}: teardown {}", name_, problem);
}

void PluginInstance::host_set_error(const pi_host *, pi_result code, const char *message) {
    fail_text(code, message != nullptr ? message : "");
}

void PluginInstance::host_log(const pi_host *host, pi_log_level level, const char *message) {
    PluginInstance &instance = instance_of(host);
    if (message != nullptr)
        instance.log().write(std::clamp<pi_log_level>(level, PI_LOG_TRACE, PI_LOG_ERROR), "{}: {}",
                             instance.name_, message);
}

void PluginInstance::host_object_count(const pi_host *host, int64_t change) {
    PluginInstance &instance = instance_of(host);
    instance.count_objects(change);
    if (change > 0 && instance.handle() != nullptr) // otherwise piPluginMain still runs
        instance.exit_watch_->see_objects(instance.objects_, instance.name_, instance.path_);
}

const char *PluginInstance::host_get_option(const pi_host *host, const char *name) {
    const PluginInstance &instance = instance_of(host);
    return name != nullptr ? instance.configuration().get_for(instance.option_name(), name)
                           : nullptr;
}

int32_t PluginInstance::host_callback_depth(const pi_host *, int32_t change) {
    // Per thread, for all loaders and plugins.
    static constinit thread_local int32_t depth = 0;
    // A plugin that decrements too often must not hide a later callback of another plugin.
    depth = static_cast<int32_t>(std::clamp<int64_t>(int64_t{depth} + change, 0, INT32_MAX));
    return depth;
}

std::string PluginInstance::build() const {
    struct stat file {};
    ::stat(path_.c_str(), &file);
    return fmt::format("{} {}, {} bytes of {}.{:09}", name_,
                       desc_.version != nullptr ? desc_.version : "", file.st_size,
                       file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

std::string_view PluginInstance::option_name() const noexcept {
    constexpr std::string_view prefix = "libpi_plugin_";
    std::string_view name = name_;
    if (name.starts_with(prefix)) // its name is not known yet
        name = name.substr(prefix.size(), name.find('.') - prefix.size());
    return name;
}

void PluginInstance::count_objects(int64_t change) noexcept {
    int64_t count = objects_.load();
    while (count + change != 0) {
        if (objects_.compare_exchange_weak(count, count + change))
            return;
    }
    // The last decrement takes the lock: the waiting thread frees this object once it has seen it
    // and holds the lock.
    const std::scoped_lock lock(mutex_);
    if (objects_.fetch_add(change) + change == 0)
        drained_.notify_all();
}

bool PluginInstance::drain(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (!closing_) {
        closing_ = true;
        objects_.fetch_sub(1);
    }
    return drained_.wait_until(lock, deadline, [&] { return objects_.load() == 0; });
}

void retire(std::unique_ptr<PluginInstance> instance,
            std::chrono::steady_clock::time_point deadline, StallWatch &watch) {
    close_layers(instance->chain_);
    const bool drained = instance->drain(deadline);
    report_layers(instance->chain_);
    if (drained) {
        const StallWatch::Call call(watch, instance->name(), instance->path(), "teardown");
        instance->tear_down();
        return;
    }
    instance->log().warn("plugin {} ({}): {} of its objects are still alive, so it stays loaded "
                         "until the process ends",
                         instance->name(), instance->path(), instance->object_count());
    PluginInstance *leaked = instance.release();
    leaked->next_parked_ = parked.load();
    while (!parked.compare_exchange_weak(leaked->next_parked_, leaked)) {
    }
}

/// The steps of opening; each returns "" or why the plugin is refused.
struct PluginOpener {
    PluginInstance &instance;
    StallWatch &watch;
    pi_dispatch functions{};
    pi_result main_result = PI_SUCCESS;

    std::string call_main() {
        std::string reason;
        instance.exit_watch_ = &ExitWatch::of(instance.path_);
        {
            const StallWatch::Call call(watch, instance.name_, instance.path_, "dlopen");
            instance.library_ = Library::open(instance.path_, reason);
        }
        if (!reason.empty())
            return reason;
        const auto plugin_main =
            reinterpret_cast<pi_plugin_main>(instance.library_.symbol("piPluginMain"));
        if (plugin_main == nullptr)
            return "not a plugin: it has no symbol piPluginMain";

        const ErrorScope scope;
        pi_plugin_desc desc{};
        desc.struct_size = sizeof desc;
        const std::string problem = caught([&] {
            const StallWatch::Call call(watch, instance.name_, instance.path_, "piPluginMain");
            main_result = plugin_main(&instance.host_, &desc);
        });
        if (!problem.empty())
            return "piPluginMain " + problem;
        if (main_result != PI_SUCCESS)
            return ErrorScope::text(main_result);
        return adopt(desc);
    }

    // From here on the loader tears the instance down, unless its descriptor is unusable.
    std::string adopt(const pi_plugin_desc &desc) {
        uint16_t minor = 0;
        std::string reason = check_version(desc, minor);
        if (!reason.empty())
            return reason;
        instance.desc_ = desc;
        reason = read_table(desc, minor, functions);
        if (reason.empty())
            reason = check_slots(desc, minor, functions);
        if (reason.empty())
            reason = check_instance(desc, instance.chain_.tables);
        if (reason.empty())
            instance.name_ = desc.name;
        return reason;
    }

    void complete(std::span<const Layer *const> layers) {
        fill_defaults(functions);
        attach_layers(instance.chain_, layers, functions);
    }
};

std::string why_unavailable(const PluginInstance &instance, StallWatch &watch) {
    const ErrorScope scope;
    uint32_t platforms = 0;
    const pi_result result = ask(instance, watch, "piPlatformsGet", [&] {
        return instance.table().piPlatformsGet(instance.handle(), 0, nullptr, &platforms);
    });
    return result == PI_SUCCESS ? "" : ErrorScope::text(result);
}

Opened open_plugin(const std::string &path, const std::shared_ptr<Services> &services,
                   std::span<const Layer *const> layers, StallWatch &watch) {
    auto instance = std::make_unique<PluginInstance>(services, path);
    PluginOpener opener{*instance, watch};
    std::string reason = opener.call_main();
    if (reason.empty())
        reason = caught([&] { opener.complete(layers); });
    if (reason.empty()) {
        std::string name = instance->name();
        return {PI_PLUGIN_LOADED, std::move(name), "", std::move(instance)};
    }
    const bool unavailable = opener.main_result == PI_ERROR_UNAVAILABLE;
    // No handle exists yet: objects that are left are the plugin's own error.
    retire(std::move(instance), std::chrono::steady_clock::now(), watch);
    return {unavailable ? PI_PLUGIN_UNAVAILABLE : PI_PLUGIN_REFUSED, "", std::move(reason),
            nullptr};
}

} // namespace pi::loader
