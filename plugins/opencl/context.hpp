// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "platform.hpp"

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pi::opencl {

/// One pi_context is one cl_context: memory belongs to the context.
class Context : public sdk::Object<Context, pi_context> {
public:
    /// Around `vendor`, or a new one if that is empty.
    Context(Platform &platform, std::vector<Device *> devices, ContextOwner vendor = {});
    /// USM that was not freed goes with it.
    ~Context() { instance().usm().drop(this); }

    Platform &platform() const { return platform_; }
    const Api &api() const { return platform_.api(); }
    Instance &instance() const { return platform_.instance(); }
    cl_context id() const { return vendor_.get(); }
    const std::vector<Device *> &devices() const { return devices_; }
    /// The context's object for the device (a sub-device may have several handles);
    /// PI_ERROR_INVALID_DEVICE unless the device is one of the context's.
    Device &checked_device(pi_device device, const sdk::ArgumentName &name = "device") const;
    /// For messages: "context 0x... (device, device on platform)".
    std::string description() const;

    /// The plugin's own queues, in which no command ever waits. Maps go to one, unmaps to another,
    /// so that neither is queued behind the other or behind a command of the application;
    /// timestamps of queues without profiling go to a third.
    enum class Purpose { MAP, UNMAP, TIMESTAMP };
    cl_command_queue private_queue(const Device &device, Purpose purpose);

    /// An unused USM allocation, for driver lists that must not be empty. The first call allocates
    /// it.
    void *unused_usm();

private:
    struct PrivateQueues {
        std::array<QueueOwner, 3> queues;
    };

    Platform &platform_;
    const std::vector<Device *> devices_;
    std::vector<sdk::Ref<Device>> device_refs_; ///< keeps sub-devices, which are counted, alive
    ContextOwner vendor_;
    std::mutex mutex_;
    std::vector<PrivateQueues> private_queues_; ///< one element for each device
    std::optional<UsmMemory> unused_usm_;
};

} // namespace pi::opencl
