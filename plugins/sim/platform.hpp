// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's only platform: the machine.
#pragma once

#include <pi/sdk/object.hpp>

#include <memory>
#include <vector>

namespace pi::sim {

class Device;
class Instance;
struct Machine;

/// Lives as long as the instance.
class Platform : public sdk::Object<Platform, pi_platform> {
public:
    Platform(const pi_host *host, Instance &instance, const Machine &machine);
    ~Platform();

    Instance &instance() const { return instance_; }
    /// In the file's order.
    const std::vector<std::unique_ptr<Device>> &devices() const { return devices_; }

private:
    Instance &instance_;
    std::vector<std::unique_ptr<Device>> devices_;
};

} // namespace pi::sim
