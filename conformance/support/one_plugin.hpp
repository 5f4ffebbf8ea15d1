// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loader that holds one plugin and looks nowhere else: what tests of a plugin through the public
// interface stand on.
#pragma once

#include "objects.hpp"

#include <pi/pi_loader.h>

#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace pi_test {

struct LoaderSettings {
    pi_log_callback log = nullptr; ///< NULL: the loader's own, to stderr
    void *log_user_data = nullptr;
    std::vector<const char *> layers = {};
    uint32_t teardown_timeout = 20'000; ///< milliseconds
    /// Seconds until the program ends, and fails: a call that never returns (a finish, a blocking
    /// command) is a failure. 0: no limit.
    unsigned limit = 120;
};
inline Owned<pi_loader> load_one_plugin(const char *path,
                                        const std::vector<pi_loader_option> &options = {},
                                        const LoaderSettings &settings = {}) {
    if (settings.limit != 0)
        alarm(settings.limit);
    auto d = pi::desc<pi_loader_desc>();
    d.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    d.plugins = &path;
    d.plugin_count = 1;
    d.layers = settings.layers.data();
    d.layer_count = static_cast<uint32_t>(settings.layers.size());
    d.options = options.data();
    d.option_count = static_cast<uint32_t>(options.size());
    d.log = settings.log;
    d.log_user_data = settings.log_user_data;
    d.teardown_timeout = settings.teardown_timeout;
    Owned<pi_loader> loader;
    OK(piLoaderCreate(&d, loader.out()));
    return loader;
}

/// Discards messages that the test expects from its plugins.
inline void PI_CALL no_log(uint32_t, const char *, void *) {}

/// The warnings of a loader: a leftover instance is one.
class Warnings {
public:
    static void PI_CALL add(uint32_t, const char *message, void *user_data) {
        auto *self = static_cast<Warnings *>(user_data);
        const std::lock_guard lock(self->mutex_); // threads of the plugin may log as well
        self->text_ += std::string(message) + "\n";
    }
    /// All of them, which are then forgotten.
    std::string take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(text_, {});
    }

private:
    std::mutex mutex_;
    std::string text_;
};

/// A loader with one plugin; its destructor checks that no object is left.
class CheckedLoader {
public:
    explicit CheckedLoader(const char *path, const std::vector<pi_loader_option> &options = {},
                           unsigned limit = LoaderSettings().limit)
        : loader_(load_one_plugin(
              path, options, {.log = Warnings::add, .log_user_data = &warnings_, .limit = limit})) {
    }
    ~CheckedLoader() {
        warnings_.take();
        CHECK(piLoaderRelease(loader_.take()) == PI_SUCCESS);
        CHECK(warnings_.take() == "");
    }
    CheckedLoader(const CheckedLoader &) = delete;
    operator pi_loader() const { return loader_; }
    pi_loader get() const { return loader_; }
    /// Those since the last call.
    std::string take_warnings() { return warnings_.take(); }

private:
    Warnings warnings_;
    Owned<pi_loader> loader_;
};

/// The loader's reason for the only plugin, which must be `plugin`.
inline std::string why_unavailable(pi_loader loader, const std::string &plugin) {
    pi_plugin_report report{};
    uint32_t count = 0;
    OK(piLoaderGetReports(loader, 1, &report, &count));
    REQUIRE(count == 1);
    INFO(report.reason);
    REQUIRE(report.name == plugin);
    REQUIRE(report.status == PI_PLUGIN_UNAVAILABLE);
    return report.reason;
}

} // namespace pi_test
