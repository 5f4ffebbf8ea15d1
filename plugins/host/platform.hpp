// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's only platform.
#pragma once

#include "topology.hpp"

#include <pi/sdk/object.hpp>

#include <mutex>
#include <optional>
#include <vector>

namespace pi::host {

class Device;
class Instance;

/// Lives as long as the instance. Devices are enumerated by the first query.
class Platform : public sdk::Object<Platform, pi_platform> {
public:
    Platform(const pi_host *host, Instance &instance);
    ~Platform();

    Instance &instance() const { return instance_; }
    /// One for each NUMA node, in hwloc's order; always the same ones.
    const std::vector<std::unique_ptr<Device>> &devices();

private:
    Instance &instance_;
    std::mutex mutex_; ///< guards the creation of the devices
    std::optional<Topology> topology_;
    std::vector<std::unique_ptr<Device>> devices_;
};

} // namespace pi::host
