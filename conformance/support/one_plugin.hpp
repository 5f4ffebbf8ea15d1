// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loader that holds one plugin and looks nowhere else: what tests of a plugin through the public
// interface stand on.
#pragma once

#include "objects.hpp"

#include <pi/pi_loader.h>

#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pi_test {

/// `log`: NULL for the loader's own, to stderr.
inline Owned<pi_loader> load_one_plugin(const char *path,
                                        const std::vector<pi_loader_option> &options,
                                        pi_log_callback log = nullptr,
                                        void *log_user_data = nullptr) {
    // A call that never returns (a finish, a blocking command) ends the program, and fails.
    alarm(120);
    auto d = pi::desc<pi_loader_desc>();
    d.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    d.plugins = &path;
    d.plugin_count = 1;
    d.options = options.data();
    d.option_count = static_cast<uint32_t>(options.size());
    d.log = log;
    d.log_user_data = log_user_data;
    d.teardown_timeout = 20'000; // milliseconds
    Owned<pi_loader> loader;
    OK(piLoaderCreate(&d, loader.out()));
    return loader;
}

/// Discards messages that the test expects from its plugins.
inline void PI_CALL no_log(uint32_t, const char *, void *) {}

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
