// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loader object.
#pragma once

#include "fork.hpp"
#include "plugin.hpp"

#include <pi/pi_loader.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace pi::loader {

/// The result for a candidate; constant once the loader is created.
struct Report {
    std::string name;
    std::string path;
    std::string reason;
    pi_plugin_status status;
    const PluginInstance *instance; ///< when loaded
};

/// piLoaderCreate with a given set of layers.
pi_result create_loader(const pi_loader_desc *desc, std::span<const Layer *const> known_layers,
                        pi_loader *out_loader);

/// Refuses handles that are not a loader.
pi_result check_loader(const char *function, pi_loader loader) noexcept;

} // namespace pi::loader

struct pi_loader_s {
    pi_object_header header{nullptr, PI_KIND_LOADER, 0};
    std::atomic<uint32_t> references{1};
    const uint32_t forks = pi::loader::fork_count(); ///< of the process that created it
    std::chrono::milliseconds teardown_timeout{1000};
    std::shared_ptr<pi::loader::Services> services;
    std::vector<std::unique_ptr<pi::loader::PluginInstance>> instances;
    std::vector<pi::loader::Report> reports;

    // Reasons that piLoaderGetReports has returned, so that the pointers stay valid.
    std::mutex texts_mutex;
    std::set<std::string> texts;

    ~pi_loader_s();
};
