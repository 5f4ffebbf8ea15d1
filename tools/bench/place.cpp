// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "place.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

#include <stdexcept>
#include <vector>

namespace pi_bench {
namespace {

using pi::runtime::check;

pi_region whole(uint64_t size) {
    pi_region region{};
    region.extent[0] = size;
    return region;
}

void enqueue_write(const Place &place, pi_mem mem, const void *data, uint64_t size,
                   pi_event *out_event) {
    const pi_region region = whole(size);
    auto desc = pi::desc<pi_buffer_write_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.mem = mem;
    desc.host_ptr = data;
    desc.region_count = 1;
    desc.regions = &region;
    check(piEnqueueMemBufferWrite(place.queue.get(), &desc, 0, nullptr, out_event),
          "piEnqueueMemBufferWrite");
}

} // namespace

std::shared_ptr<const pi::runtime::Topology> all_places(pi::LoaderRef loader) {
    std::vector<pi_device> devices;
    std::vector<std::string> names;
    for (const pi::DeviceRef device : loader.select_devices()) {
        devices.push_back(device.get());
        names.push_back(loader.device_selector(device));
    }
    return pi::runtime::Topology::from_devices(devices, names);
}

Place::Place(pi_device the_device) : device(the_device) {
    char text[256] = "";
    check(piDeviceGetInfo(device, PI_DEVICE_INFO_NAME, sizeof text, text, nullptr),
          "piDeviceGetInfo(NAME)");
    name = text;
    pi_platform owner = nullptr;
    check(piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof owner, &owner, nullptr),
          "piDeviceGetInfo(PLATFORM)");
    check(piPlatformGetInfo(owner, PI_PLATFORM_INFO_NAME, sizeof text, text, nullptr),
          "piPlatformGetInfo(NAME)");
    platform = text;
    auto desc = pi::desc<pi_context_desc>();
    desc.device_count = 1;
    desc.devices = &device;
    check(piContextCreate(owner, &desc, context.out()), "piContextCreate");
    check(piQueueCreate(context.get(), device, nullptr, queue.out()), "piQueueCreate");
}

void Place::finish() const {
    check(piQueueFinish(queue.get()), "piQueueFinish");
}

pi::runtime::Mem make_buffer(const Place &place, uint64_t size, unsigned char value) {
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = size;
    pi::runtime::Mem mem;
    check(piMemBufferCreate(place.context.get(), place.device, &desc, mem.out()),
          "piMemBufferCreate");
    const std::vector<unsigned char> bytes(size, value);
    write(place, mem.get(), bytes.data(), size);
    return mem;
}

void write(const Place &place, pi_mem mem, const void *data, uint64_t size) {
    enqueue_write(place, mem, data, size, nullptr);
}

void write_with_event(const Place &place, pi_mem mem, const void *data, uint64_t size) {
    pi_event event = nullptr;
    enqueue_write(place, mem, data, size, &event);
    check(piEventRelease(event), "piEventRelease");
}

void read(const Place &place, pi_mem mem, void *data, uint64_t size) {
    const pi_region region = whole(size);
    auto desc = pi::desc<pi_buffer_read_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.mem = mem;
    desc.host_ptr = data;
    desc.region_count = 1;
    desc.regions = &region;
    check(piEnqueueMemBufferRead(place.queue.get(), &desc, 0, nullptr, nullptr),
          "piEnqueueMemBufferRead");
}

void copy(const Place &place, pi_mem src, pi_mem dst, uint64_t size) {
    const pi_region region = whole(size);
    copy(place, src, dst, {&region, 1});
}

void fill(const Place &place, pi_mem mem, uint64_t size) {
    enqueue_fill(place, mem, size, PI_COMMAND_BLOCKING);
}

void enqueue_copy(const Place &place, pi_mem src, pi_mem dst, uint64_t size) {
    const pi_region region = whole(size);
    enqueue_copy(place, src, dst, {&region, 1}, 0);
}

void enqueue_fill(const Place &place, pi_mem mem, uint64_t size, uint64_t flags) {
    const uint32_t word = 7;
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.flags = flags;
    desc.mem = mem;
    desc.size = size;
    desc.pattern = &word;
    desc.pattern_size = sizeof word;
    check(piEnqueueMemBufferFill(place.queue.get(), &desc, 0, nullptr, nullptr),
          "piEnqueueMemBufferFill");
}

void copy(const Place &place, pi_mem src, pi_mem dst, std::span<const pi_region> regions) {
    enqueue_copy(place, src, dst, regions, PI_COMMAND_BLOCKING);
}

void enqueue_copy(const Place &place, pi_mem src, pi_mem dst, std::span<const pi_region> regions,
                  uint64_t flags) {
    auto desc = pi::desc<pi_buffer_copy_desc>();
    desc.flags = flags;
    desc.src = src;
    desc.dst = dst;
    desc.region_count = static_cast<uint32_t>(regions.size());
    desc.regions = regions.data();
    check(piEnqueueMemBufferCopy(place.queue.get(), &desc, 0, nullptr, nullptr),
          "piEnqueueMemBufferCopy");
}

void check_copy(const Place &place, pi_mem src, pi_mem dst, uint64_t size) {
    copy(place, src, dst, size);
    std::vector<unsigned char> expected(size, 0);
    std::vector<unsigned char> arrived(size, 1);
    read(place, src, expected.data(), size);
    read(place, dst, arrived.data(), size);
    if (arrived != expected) {
        throw std::runtime_error("a copy of " + std::to_string(size) + " bytes on " + place.name +
                                 " lost bytes");
    }
}

} // namespace pi_bench
