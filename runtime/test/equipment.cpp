// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "equipment.hpp"

#include "fault_sweep.hpp"

#include <cstring>
#include <utility>

namespace runtime_test {

Loader make_layered_loader(const char *layer, const pi_loader_option &option,
                           uint32_t teardown_timeout) {
    auto desc = pi::desc<pi_loader_desc>();
    desc.teardown_timeout = teardown_timeout;
    desc.layers = &layer;
    desc.layer_count = 1;
    desc.options = &option;
    desc.option_count = 1;
    Loader loader;
    check(piLoaderCreate(&desc, loader.out()), "piLoaderCreate");
    return loader;
}

Loader make_loader(const std::string &faults, uint32_t teardown_timeout) {
    if (!faults.empty()) {
        return make_layered_loader("fault", {"PI_FAULT", faults.c_str()}, teardown_timeout);
    }
    Loader loader;
    check(piLoaderCreate(nullptr, loader.out()), "piLoaderCreate");
    return loader;
}

namespace {

std::string selector_of(pi_loader loader, pi_device device) {
    char text[128] = "";
    check(piLoaderGetDeviceSelector(loader, device, sizeof text, text, nullptr),
          "piLoaderGetDeviceSelector");
    return text;
}

} // namespace

pi_device host_device(pi_loader loader) {
    uint32_t count = 0;
    pi_device device = nullptr;
    check(piLoaderSelectDevices(loader, "host", 1, &device, &count), "piLoaderSelectDevices");
    return device;
}

Machine::Machine(uint32_t contexts, const std::string &faults, uint32_t teardown_timeout)
    : Machine(contexts, make_loader(faults, teardown_timeout)) {}

Machine::Machine(uint32_t contexts, Loader loader) : loader_(std::move(loader)) {
    uint32_t count = 0;
    check(piLoaderSelectDevices(loader_, nullptr, 0, nullptr, &count), "piLoaderSelectDevices");
    devices_.resize(count);
    check(piLoaderSelectDevices(loader_, nullptr, count, devices_.data(), &count),
          "piLoaderSelectDevices");
    for (pi_device device : devices_) {
        pi_platform platform = nullptr;
        check(piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, nullptr),
              "piDeviceGetInfo(PLATFORM)");
        pi_plugin plugin = nullptr;
        check(piPlatformGetInfo(platform, PI_PLATFORM_INFO_PLUGIN, sizeof plugin, &plugin, nullptr),
              "piPlatformGetInfo(PLUGIN)");
        plugins_.insert(plugin);
    }
    std::vector<std::string> names;
    for (uint32_t context = 1; context <= contexts; ++context) {
        const std::string number = context == 1 ? "" : " (" + std::to_string(context) + ")";
        for (pi_device device : devices_) {
            names.push_back(selector_of(loader_, device) + number);
        }
    }
    const std::vector<std::vector<pi_device>> groups(contexts, devices_);
    topology_ = Topology::from_groups(groups, names);
    queues_.resize(topology_->size());
    for (PlaceIndex place : places()) {
        queues_[place] = make_queue(place);
    }
}

std::vector<std::map<std::string, uint64_t>> Machine::calls() const {
    std::vector<std::map<std::string, uint64_t>> result;
    for (pi_plugin plugin : plugins_) {
        uint32_t count = 0;
        check(piLoaderGetCallCounts(loader_, plugin, 0, nullptr, &count), "piLoaderGetCallCounts");
        std::vector<pi_call_count> counts(count);
        check(piLoaderGetCallCounts(loader_, plugin, count, counts.data(), &count),
              "piLoaderGetCallCounts");
        std::map<std::string, uint64_t> &named = result.emplace_back();
        for (const pi_call_count &each : counts) {
            named[each.function] = each.count;
        }
    }
    return result;
}

uint64_t Machine::calls_of(const std::string &function) const {
    return pi_test::calls_of(loader_, function);
}

Queue Machine::make_queue(PlaceIndex place) const {
    Queue queue;
    check(piQueueCreate(topology_->context(place), topology_->device(place), nullptr, queue.out()),
          "piQueueCreate");
    return queue;
}

Machine::~Machine() = default;

std::vector<PlaceIndex> Machine::places() const {
    std::vector<PlaceIndex> result;
    for (PlaceIndex place = 1; place < topology_->size(); ++place) {
        result.push_back(place);
    }
    return result;
}

namespace {

uint32_t wait_count(const std::vector<pi_event> &events) {
    return static_cast<uint32_t>(events.size());
}
const pi_event *wait_list(const std::vector<pi_event> &events) {
    return events.empty() ? nullptr : events.data();
}

} // namespace

Event Machine::write(const Acquisition &acquisition, const void *bytes, pi_queue other) const {
    pi_region region{};
    region.dst_offset = acquisition.offset();
    region.extent[0] = acquisition.range().size();
    auto desc = pi::desc<pi_buffer_write_desc>();
    desc.mem = acquisition.mem();
    desc.host_ptr = bytes;
    desc.region_count = 1;
    desc.regions = &region;
    Event event;
    const pi_queue queue = other != nullptr ? other : this->queue(acquisition.place());
    const std::vector<pi_event> &waits = acquisition.events(queue);
    check(piEnqueueMemBufferWrite(queue, &desc, wait_count(waits), wait_list(waits), event.out()),
          "piEnqueueMemBufferWrite");
    return event;
}

Event Machine::read(const Acquisition &acquisition, void *bytes, pi_queue other) const {
    return enqueue_read(other != nullptr ? other : queue(acquisition.place()), acquisition, bytes);
}

Event Machine::fill(const Acquisition &acquisition, uint8_t value) const {
    return enqueue_fill(queue(acquisition.place()), acquisition, value, acquisition.events());
}

Event enqueue_read(pi_queue queue, const Acquisition &acquisition, void *bytes) {
    pi_region region{};
    region.src_offset = acquisition.offset();
    region.extent[0] = acquisition.range().size();
    auto desc = pi::desc<pi_buffer_read_desc>();
    desc.mem = acquisition.mem();
    desc.host_ptr = bytes;
    desc.region_count = 1;
    desc.regions = &region;
    Event event;
    const std::vector<pi_event> &waits = acquisition.events(queue);
    check(piEnqueueMemBufferRead(queue, &desc, wait_count(waits), wait_list(waits), event.out()),
          "piEnqueueMemBufferRead");
    return event;
}

Event enqueue_fill(pi_queue queue, const Acquisition &acquisition, uint8_t value,
                   const std::vector<pi_event> &waits) {
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.mem = acquisition.mem();
    desc.pattern = &value;
    desc.pattern_size = 1;
    desc.offset = acquisition.offset();
    desc.size = acquisition.range().size();
    Event event;
    check(piEnqueueMemBufferFill(queue, &desc, wait_count(waits), wait_list(waits), event.out()),
          "piEnqueueMemBufferFill");
    return event;
}

pi_result wait(const Event &event) {
    return piEventWait(event.get(), std::chrono::nanoseconds(patience).count());
}

void host_write(const Buffer &buffer, uint64_t offset, const std::vector<uint8_t> &bytes) {
    Acquisition host = buffer.acquire(host_place, Access::discard_write, offset, bytes.size());
    host.wait(patience);
    std::memcpy(host.pointer(), bytes.data(), bytes.size());
    host.release();
}

std::vector<uint8_t> host_read(const Buffer &buffer, uint64_t offset, uint64_t size) {
    std::vector<uint8_t> bytes(size);
    Acquisition host = buffer.acquire(host_place, Access::read, offset, size);
    host.wait(patience);
    std::memcpy(bytes.data(), host.pointer(), size);
    host.release();
    return bytes;
}

std::vector<uint8_t> pattern(uint64_t size, uint32_t seed) {
    std::vector<uint8_t> bytes(size);
    uint32_t state = seed * 2654435761U + 1;
    for (uint8_t &byte : bytes) {
        state = state * 1664525U + 1013904223U;
        byte = static_cast<uint8_t>(state >> 24);
    }
    return bytes;
}

} // namespace runtime_test
