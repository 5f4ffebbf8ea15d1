// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver's context of a PI context, and each of its devices there. Memory, events and command
// lists belong to them.
#pragma once

#include "device.hpp"
#include "watch.hpp"

#include <pi/sdk/staging.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::level_zero {

class DriverContext;

/// A driver event of a context's pools, to which it returns, reset, when nothing waits for it any
/// more.
class PooledEvent {
public:
    PooledEvent(DriverContext &context, bool timed);
    PooledEvent(const PooledEvent &) = delete;
    ~PooledEvent();
    ze_event_handle_t id() const { return id_; }

private:
    DriverContext &context_;
    const bool timed_;
    const ze_event_handle_t id_;
};
using SharedEvent = std::shared_ptr<PooledEvent>;

/// Pinned host memory of a context.
using Staging = sdk::Staging<DriverContext>;

/// A device in a context.
class Place {
public:
    Place(DriverContext &context, Device &device) : context_(context), device_(device) {}
    Place(const Place &) = delete;

    DriverContext &context() const { return context_; }
    Device &device() const { return device_; }
    Instance &instance() const { return device_.instance(); }
    const Api &api() const { return device_.api(); }

    /// Throws unless the code is ZE_RESULT_SUCCESS. Records that the device is lost.
    template <class... Parts>
    void check(ze_result_t code, const char *call, const Parts &...parts) {
        note(code);
        if (code != ZE_RESULT_SUCCESS)
            level_zero::check(code, call, parts..., device_.platform().last_words());
    }
    void note(ze_result_t code) {
        if (code == ZE_RESULT_ERROR_DEVICE_LOST)
            lost_.store(true, std::memory_order_relaxed);
    }
    bool lost() const { return lost_.load(std::memory_order_relaxed); }
    /// PI_ERROR_DEVICE_LOST if it is lost.
    void require_alive() const;

    /// Whether commands here can use memory of `owner` in place; never across contexts.
    PeerAccess access(const Place &owner) const {
        return &owner.context_ == &context_ ? device_.access(owner.device_) : PeerAccess{};
    }
    bool reaches(const Place &owner) const { return access(owner).granted(); }

    /// An immediate list on one of the device's engines.
    ze_command_list_handle_t make_list(ze_command_queue_priority_t priority);
    /// A pooled list; it must be empty when give_list() returns it to the pool.
    ze_command_list_handle_t take_list();
    void give_list(ze_command_list_handle_t list) noexcept;

private:
    friend class DriverContext;
    DriverContext &context_;
    Device &device_;
    std::atomic<bool> lost_{false};
    std::mutex lists_mutex_;
    std::vector<ze_command_list_handle_t> lists_; ///< guarded by lists_mutex_
};

class DriverContext : public std::enable_shared_from_this<DriverContext> {
public:
    /// A new context for these devices.
    DriverContext(Platform &platform, const std::vector<Device *> &devices);
    /// Around the application's context, which is destroyed at the end if *own is true by then: see
    /// ContextHandles.
    DriverContext(Platform &platform, const std::vector<Device *> &devices, ze_context_handle_t id,
                  std::shared_ptr<const bool> own);
    ~DriverContext();
    DriverContext(const DriverContext &) = delete;

    /// To be called when nothing uses it any more: destroys all its driver objects, immediately if
    /// possible. A thread that still watches it may keep the object alive a little longer.
    void retire() noexcept;

    Platform &platform() const { return platform_; }
    Instance &instance() const { return platform_.instance(); }
    const Api &api() const { return platform_.api(); }
    ze_context_handle_t id() const { return id_; }
    /// The place of one of its devices.
    Place &place(const Device &device) const;
    Place &first() const { return *places_.front(); }
    /// Watches the commands in its lists.
    Watch &watch() { return watch_; }
    /// Drops the references of commands that have completed.
    void sweep() { watch_.sweep(); }

    sdk::StagingPool<DriverContext> &staging() { return staging_; }
    std::byte *allocate_staging(uint64_t size);
    void free_staging(std::byte *begin) noexcept;

private:
    friend class PooledEvent;
    ze_event_handle_t take_event(bool timed);
    void give_event(ze_event_handle_t event, bool timed) noexcept;
    void make_events(bool timed);
    void add_places(const std::vector<Device *> &devices);
    void destroy() noexcept;

    Platform &platform_;
    ze_context_handle_t id_ = nullptr;
    std::shared_ptr<ContextHandle> handle_;     ///< the handle of id_, until destroy()
    std::vector<sdk::Ref<Device>> device_refs_; ///< keeps sub-devices alive
    std::vector<std::unique_ptr<Place>> places_;
    std::mutex events_mutex_; ///< guards the pools
    std::vector<ze_event_pool_handle_t> pools_;
    std::vector<ze_event_handle_t> all_events_;
    std::vector<ze_event_handle_t> events_[2]; ///< free ones, [1] with timing
    sdk::StagingPool<DriverContext> staging_;
    Watch watch_;
};

} // namespace pi::level_zero
