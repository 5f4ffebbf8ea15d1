// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "platform.hpp"

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pi::opencl {

/// One pi_context is one cl_context: the vendor's memory is context-wide.
class Context : public sdk::Object<Context, pi_context> {
public:
    /// Around `vendor`, or, where that is empty, a new one.
    Context(Platform &platform, std::vector<Device *> devices, ContextOwner vendor = {});
    /// What is left of its USM goes with it.
    ~Context() { instance().usm().drop(this); }

    Platform &platform() const { return platform_; }
    const Api &api() const { return platform_.api(); }
    Instance &instance() const { return platform_.instance(); }
    cl_context id() const { return vendor_.get(); }
    const std::vector<Device *> &devices() const { return devices_; }
    /// The context's own object for the device, since a sub-device can be behind several; PI_ERROR_INVALID_DEVICE unless
    /// the device is of the context.
    Device &checked_device(pi_device device, const sdk::ArgumentName &name = "device") const;
    /// For error texts: "context 0x... (device, device on platform)".
    std::string description() const;

    /// Queues of the plugin's own on which nothing ever waits: maps go to one, unmaps to another, so that neither
    /// can end up behind the other or behind a command of the application; timestamps of queues without profiling to a
    /// third.
    enum class Purpose { MAP, UNMAP, TIMESTAMP };
    cl_command_queue private_queue(const Device &device, Purpose purpose);

    /// USM that nobody uses, for lists of the vendor's that must not be empty. Made by the first call.
    void *unused_usm();

private:
    struct PrivateQueues {
        std::array<QueueOwner, 3> queues;
    };

    Platform &platform_;
    const std::vector<Device *> devices_;
    std::vector<sdk::Ref<Device>> kept_; ///< the same: sub-devices are counted
    ContextOwner vendor_;
    std::mutex mutex_;
    std::vector<PrivateQueues> private_queues_; ///< one element a device
    std::optional<SvmMemory> unused_usm_;
};

} // namespace pi::opencl
