// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "place.hpp"

#include <pi/sdk/bytes.hpp>

#include <algorithm>

namespace pi::level_zero {

using namespace sdk;

void Place::require_alive() const {
    if (lost())
        fail(PI_ERROR_DEVICE_LOST, device_.name(),
             " is lost for this context: ", error_name(ZE_RESULT_ERROR_DEVICE_LOST));
}

ze_command_list_handle_t Place::make_list(ze_command_queue_priority_t priority) {
    auto desc = typed<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
    desc.ordinal = device_.engines().ordinal;
    desc.index = device_.next_engine();
    desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    desc.priority = priority;
    ze_command_list_handle_t list = nullptr;
    check(api().zeCommandListCreateImmediate(context_.id(), device_.id(), &desc, &list),
          "zeCommandListCreateImmediate", "on ", device_.name());
    return list;
}

ze_command_list_handle_t Place::take_list() {
    {
        std::lock_guard lock(lists_mutex_);
        if (!lists_.empty()) {
            const ze_command_list_handle_t list = lists_.back();
            lists_.pop_back();
            return list;
        }
    }
    return make_list(ZE_COMMAND_QUEUE_PRIORITY_NORMAL);
}

void Place::give_list(ze_command_list_handle_t list) noexcept {
    try {
        std::lock_guard lock(lists_mutex_);
        lists_.push_back(list);
    } catch (...) {
        api().zeCommandListDestroy(list);
    }
}

// ----- DriverContext -----------------------------------------------------------------------------

DriverContext::DriverContext(Platform &platform, const std::vector<Device *> &devices)
    : platform_(platform), watch_(*this) {
    add_places(devices);
    std::vector<ze_device_handle_t> ids;
    ids.reserve(devices.size());
    for (const Device *device : devices)
        ids.push_back(device->id());
    const auto desc = typed<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
    const Api &ze = api();
    if (ze.zeContextCreateEx)
        check(ze.zeContextCreateEx(platform.id(), &desc, static_cast<uint32_t>(ids.size()),
                                   ids.data(), &id_),
              "zeContextCreateEx", ids.size(), " devices");
    else
        check(ze.zeContextCreate(platform.id(), &desc, &id_), "zeContextCreate");
    try {
        handle_ = platform.context_handles().share(id_, nullptr);
    } catch (...) {
        ze.zeContextDestroy(id_);
        throw;
    }
}

DriverContext::DriverContext(Platform &platform, const std::vector<Device *> &devices,
                             ze_context_handle_t id, std::shared_ptr<const bool> own)
    : platform_(platform), id_(id), handle_(platform.context_handles().share(id, std::move(own))),
      watch_(*this) {
    add_places(devices);
}

void DriverContext::add_places(const std::vector<Device *> &devices) {
    for (Device *device : devices) {
        device_refs_.emplace_back(*device);
        places_.push_back(std::make_unique<Place>(*this, *device));
    }
}

DriverContext::~DriverContext() {
    destroy();
}

void DriverContext::retire() noexcept {
    if (watch_.settle())
        destroy();
}

void DriverContext::destroy() noexcept {
    const Api &ze = api();
    for (const auto &place : places_) {
        for (const ze_command_list_handle_t list : place->lists_)
            ze.zeCommandListDestroy(list);
        place->lists_.clear();
    }
    for (const ze_event_handle_t event : all_events_)
        ze.zeEventDestroy(event);
    all_events_.clear();
    for (const ze_event_pool_handle_t pool : pools_)
        ze.zeEventPoolDestroy(pool);
    pools_.clear();
    staging_.clear([&](std::byte *block) { ze.zeMemFree(id_, block); });
    handle_.reset();
    id_ = nullptr;
}

Place &DriverContext::place(const Device &device) const {
    const auto found = std::find_if(places_.begin(), places_.end(), [&](const auto &place) {
        return place->device().id() == device.id();
    });
    return **found;
}

// ----- events ------------------------------------------------------------------------------------

PooledEvent::PooledEvent(DriverContext &context, bool timed)
    : context_(context), timed_(timed), id_(context.take_event(timed)) {}

PooledEvent::~PooledEvent() {
    context_.give_event(id_, timed_);
}

void DriverContext::make_events(bool timed) {
    constexpr uint32_t at_once = 128;
    const Api &ze = api();
    auto desc = typed<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
    desc.flags =
        ZE_EVENT_POOL_FLAG_HOST_VISIBLE | (timed ? ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP : 0);
    desc.count = at_once;
    std::vector<ze_device_handle_t> ids;
    for (const auto &place : places_)
        ids.push_back(place->device().id());
    // Reserve first: a failure below must not leave created objects unrecorded.
    pools_.reserve(pools_.size() + 1);
    all_events_.reserve(all_events_.size() + at_once);
    events_[timed].reserve(all_events_.size() + at_once);
    ze_event_pool_handle_t pool = nullptr;
    check(ze.zeEventPoolCreate(id_, &desc, static_cast<uint32_t>(ids.size()), ids.data(), &pool),
          "zeEventPoolCreate", at_once, " events");
    pools_.push_back(pool);
    for (uint32_t i = 0; i < at_once; ++i) {
        auto one = typed<ze_event_desc_t>(ZE_STRUCTURE_TYPE_EVENT_DESC);
        one.index = i;
        // Host scope: the host and other devices read results, and wrote inputs.
        one.signal = one.wait = ZE_EVENT_SCOPE_FLAG_HOST;
        ze_event_handle_t event = nullptr;
        check(ze.zeEventCreate(pool, &one, &event), "zeEventCreate", "number ", i);
        all_events_.push_back(event);
        events_[timed].push_back(event);
    }
}

ze_event_handle_t DriverContext::take_event(bool timed) {
    std::lock_guard lock(events_mutex_);
    std::vector<ze_event_handle_t> &free = events_[timed];
    if (free.empty())
        make_events(timed);
    const ze_event_handle_t event = free.back();
    free.pop_back();
    return event;
}

void DriverContext::give_event(ze_event_handle_t event, bool timed) noexcept {
    // An event that cannot be reset is not reused; it is destroyed with its pool.
    if (api().zeEventHostReset(event) != ZE_RESULT_SUCCESS)
        return;
    std::lock_guard lock(events_mutex_);
    events_[timed].push_back(event); // cannot throw: capacity was reserved
}

// ----- staging -----------------------------------------------------------------------------------

std::byte *DriverContext::allocate_staging(uint64_t size) {
    const auto desc = typed<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
    void *begin = nullptr;
    const ze_result_t code = api().zeMemAllocHost(id_, &desc, size, min_alignment, &begin);
    check(code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : code,
          "zeMemAllocHost", Bytes(size), " of staging requested");
    return static_cast<std::byte *>(begin);
}

void DriverContext::free_staging(std::byte *begin) noexcept {
    api().zeMemFree(id_, begin);
}

} // namespace pi::level_zero
