// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one platform of the plugin.
#pragma once

#include "topology.hpp"

#include <pi/sdk/object.hpp>

#include <mutex>
#include <optional>
#include <vector>

namespace pi::host {

class Device;
class Instance;

/// Lives as long as the instance. Devices are looked for when they are first asked for.
class Platform : public sdk::Object<Platform, pi_platform> {
public:
    Platform(const pi_host *host, Instance &instance);
    ~Platform();

    Instance &instance() const { return instance_; }
    /// One for each NUMA node, in the order of hwloc; the same ones each time.
    const std::vector<std::unique_ptr<Device>> &devices();

private:
    Instance &instance_;
    std::mutex mutex_; ///< guards the making of what follows
    std::optional<Topology> topology_;
    std::vector<std::unique_ptr<Device>> devices_;
};

} // namespace pi::host
