// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/device_query.hpp"
#include "facade/keep_until.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/facade.hpp>

#include <algorithm>

namespace pi::runtime::facade {
namespace {

std::vector<pi_device> devices_of(pi_context context) {
    uint64_t size = 0;
    check(piContextGetInfo(context, PI_CONTEXT_INFO_DEVICES, 0, nullptr, &size),
          "piContextGetInfo(DEVICES)");
    std::vector<pi_device> devices(size / sizeof(pi_device));
    check(piContextGetInfo(context, PI_CONTEXT_INFO_DEVICES, size, devices.data(), nullptr),
          "piContextGetInfo(DEVICES)");
    return devices;
}

/// The contexts of the process.
struct Contexts {
    std::shared_mutex mutex;
    std::vector<Context *> all;
};
Contexts &contexts() {
    // Never destroyed: contexts may be left when the process ends.
    static Contexts *const contexts = new Contexts;
    return *contexts;
}
void list(Context &context) {
    const std::unique_lock lock(contexts().mutex);
    contexts().all.push_back(&context);
}

} // namespace

Context::Context(std::span<const pi_device> devices, ContextOptions options)
    : devices_(devices.begin(), devices.end()), always_storages_(options.always_storages),
      options_(std::move(options.runtime)) {
    if (devices_.empty()) {
        throw Error(PI_ERROR_INVALID_SIZE, "a context needs at least one device");
    }
    for (const pi_device device : devices_) {
        if (device == nullptr || std::count(devices_.begin(), devices_.end(), device) > 1) {
            throw Error(PI_ERROR_INVALID_DEVICE, "a context's devices must not be NULL, and each "
                                                 "may be listed once");
        }
        references_.push_back(runtime::Device::share(device));
        const pi_platform platform = platform_of(device);
        const auto same = std::find_if(parts_.begin(), parts_.end(),
                                       [&](const Part &part) { return part.platform == platform; });
        if (same == parts_.end()) {
            parts_.push_back({{}, platform, plugin_of(platform), {device}});
        } else {
            same->devices.push_back(device);
        }
    }
    for (Part &part : parts_) {
        auto desc = pi::desc<pi_context_desc>();
        desc.device_count = static_cast<uint32_t>(part.devices.size());
        desc.devices = part.devices.data();
        check(piContextCreate(part.platform, &desc, part.context.out()), "piContextCreate");
    }
    list(*this);
}

Context::Context(runtime::Context context, ContextOptions options)
    : devices_(devices_of(context.get())), always_storages_(options.always_storages),
      options_(std::move(options.runtime)) {
    for (const pi_device device : devices_) {
        references_.push_back(runtime::Device::share(device));
    }
    const pi_platform platform = platform_of(context.get());
    parts_.push_back({std::move(context), platform, plugin_of(platform), devices_});
    list(*this);
}

Context::~Context() {
    const std::unique_lock lock(contexts().mutex);
    std::erase(contexts().all, this);
}

std::optional<UsmOwner> Context::find_usm(const void *address) {
    const std::shared_lock lock(contexts().mutex);
    for (Context *context : contexts().all) {
        if (const auto range = context->usm_.find(address)) {
            // Empty if the context is being destroyed.
            if (auto owner = context->weak_from_this().lock()) {
                return UsmOwner{std::move(owner), *range};
            }
        }
    }
    return std::nullopt;
}

void Context::QueueState::finish() {
    const uint64_t count = enqueued.load();
    check(piQueueFinish(queue.get()), "piQueueFinish");
    set_finished(count);
}

void Context::QueueState::set_finished(uint64_t count) {
    uint64_t known = finished.load();
    while (known < count && !finished.compare_exchange_weak(known, count)) {
    }
}

bool Context::QueueState::is_empty() {
    const uint64_t count = enqueued.load();
    if (finished >= count) {
        return true;
    }
    const std::lock_guard lock(mutex_);
    if (marked_ < count) {
        check(piEnqueueEventsWait(queue.get(), nullptr, 0, nullptr, marker_.out()),
              "piEnqueueEventsWait");
        marked_ = count;
        check(piQueueFlush(queue.get()), "piQueueFlush");
    }
    if (!Event(marker_, nullptr).is_complete()) {
        return false;
    }
    set_finished(marked_);
    return finished >= enqueued;
}

bool Context::QueueState::is_busy() noexcept {
    try {
        return destroyed ? !is_empty() : finished < enqueued;
    } catch (const std::exception &) {
        return true;
    }
}

std::vector<std::shared_ptr<Context::QueueState>> Context::busy_queues() const {
    std::vector<std::shared_ptr<QueueState>> busy;
    const std::lock_guard lock(queues_mutex_);
    busy.reserve(queues_.size());
    std::erase_if(queues_, [&busy](const auto &each) {
        const bool is_busy = each->is_busy();
        if (is_busy) {
            busy.push_back(each);
        }
        return each->destroyed && !is_busy;
    });
    return busy;
}

bool Context::finish_queues() const {
    bool all = true;
    for (const auto &each : busy_queues()) {
        try {
            each->finish();
        } catch (const Error &error) {
            all = all && error.code() != PI_ERROR_WOULD_BLOCK;
        }
    }
    return all;
}

void Context::after_queues(std::function<void()> function) const {
    // Each queue's last command keeps it; the end of the last one calls.
    const std::shared_ptr<void> call(nullptr,
                                     [function = std::move(function)](void *) { function(); });
    for (const auto &each : busy_queues()) {
        runtime::Event last;
        check(piEnqueueEventsWait(each->queue.get(), nullptr, 0, nullptr, last.out()),
              "piEnqueueEventsWait");
        check(piQueueFlush(each->queue.get()), "piQueueFlush");
        keep_until({std::move(last), nullptr}, call);
    }
}

bool Context::has(pi_device device) const noexcept {
    return std::find(devices_.begin(), devices_.end(), device) != devices_.end();
}

std::size_t Context::part_index(pi_device device) const {
    const auto found = std::find_if(parts_.begin(), parts_.end(),
                                    [device](const Part &part) { return part.has(device); });
    if (found == parts_.end()) {
        throw Error(PI_ERROR_INVALID_DEVICE,
                    "the device is not one of the context's " + std::to_string(devices_.size()));
    }
    return static_cast<std::size_t>(found - parts_.begin());
}

const Runtime &Context::runtime() const {
    std::call_once(runtime_made_, [this] {
        std::vector<Place> places;
        for (const pi_device device : devices_) {
            places.push_back({device, part_of(device).context.get(), {}});
        }
        runtime_ = std::make_unique<Runtime>(Topology::from_places(places), options_);
    });
    return *runtime_;
}

PlaceIndex Context::place_of(pi_device device) const {
    const auto found = std::find(devices_.begin(), devices_.end(), device);
    if (found == devices_.end()) {
        part_index(device); // throws
    }
    return static_cast<PlaceIndex>(found - devices_.begin()) + 1; // 0 is the host
}

namespace {

runtime::Queue make_queue(const Context &context, pi_device device, uint64_t flags) {
    auto desc = pi::desc<pi_queue_desc>();
    desc.flags = flags;
    runtime::Queue queue;
    check(piQueueCreate(context.part_of(device).context.get(), device, &desc, queue.out()),
          "piQueueCreate");
    return queue;
}

} // namespace

Queue::Queue(std::shared_ptr<Context> context, pi_device device, uint64_t flags)
    : Queue(context, device, make_queue(*context, device, flags)) {}

Queue::Queue(std::shared_ptr<Context> context, pi_device device, runtime::Queue queue)
    : context_(std::move(context)), device_(device), part_(&context_->part_of(device)),
      state_(std::make_shared<Context::QueueState>()) {
    state_->queue = std::move(queue);
    const std::lock_guard lock(context_->queues_mutex_);
    context_->queues_.push_back(state_);
}

Queue::~Queue() {
    // Its commands may still be running: a later finish_queues() waits for them.
    state_->destroyed = true;
    state_->is_busy(); // enqueues what later polls ask for, before the lock
    try {
        context_->busy_queues();
    } catch (const std::exception &) {
        // Without memory the queue stays known.
    }
}

} // namespace pi::runtime::facade
