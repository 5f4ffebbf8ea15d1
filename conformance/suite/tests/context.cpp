// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks.hpp"
#include "fixture.hpp"
#include "partition.hpp"
#include "platforms.hpp"
#include "registry.hpp"

#include <set>

namespace pi::suite {
namespace {

pi_context_desc context_desc(const std::vector<pi_device> &devices) {
    auto desc = pi::desc<pi_context_desc>();
    desc.device_count = static_cast<uint32_t>(devices.size());
    desc.devices = devices.data();
    return desc;
}

// A context of these devices is refused, and nothing is written.
void require_refused(Fixture &fixture, const std::string &what,
                     std::initializer_list<pi_result> allowed,
                     const std::vector<pi_device> &devices) {
    const pi_context_desc desc = context_desc(devices);
    require_untouched<pi_context>(what, allowed, [&](pi_context *out) {
        return piContextCreate(fixture.platform(), &desc, out);
    });
}

CONFORMANCE_TEST("context", "a context has the devices that it was made of") {
    const SeveralDevices all(fixture);
    std::vector<std::vector<pi_device>> choices{{fixture.device()}};
    if (all.size() > 1)
        choices.push_back(all);
    for (const auto &devices : choices) {
        const Context context = fixture.make_context(devices);
        const auto reported =
            get_info_list<pi_device>(&piContextGetInfo, context.get(), PI_CONTEXT_INFO_DEVICES);
        require_equal(reported.size(), devices.size(),
                      "the number of devices that the context reports");
        require(std::set<pi_device>(reported.begin(), reported.end()) ==
                    std::set<pi_device>(devices.begin(), devices.end()),
                "the context reports other devices than it was made of");
        require(get_info<pi_platform>(&piContextGetInfo, context.get(), PI_CONTEXT_INFO_PLATFORM) ==
                    fixture.platform(),
                "the context reports another platform");
    }
}

CONFORMANCE_TEST("context", "a context answers every info name by its type") {
    const Context context = fixture.make_context(fixture.devices());
    check_info(
        "piContextGetInfo",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piContextGetInfo(context, name, size, value, out_size);
        },
        context_info_names());
}

CONFORMANCE_TEST("context", "a device listed twice is refused") {
    require_refused(fixture, "a context of the same device twice", {PI_ERROR_INVALID_DEVICE},
                    {fixture.device(), fixture.device()});
    const SeveralDevices devices(fixture);
    for (pi_device other : devices) {
        if (other != fixture.device())
            require_refused(fixture, "a context of the same device twice, with another between",
                            {PI_ERROR_INVALID_DEVICE}, {fixture.device(), other, fixture.device()});
    }
}

CONFORMANCE_TEST("context", "a context of no devices is refused") {
    require_refused(fixture, "a context of no devices", {PI_ERROR_INVALID_SIZE}, {});
    pi_context_desc desc = context_desc({fixture.device()});
    desc.devices = nullptr;
    require_untouched<pi_context>(
        "a context of one device at NULL", {PI_ERROR_INVALID_NULL_POINTER},
        [&](pi_context *out) { return piContextCreate(fixture.platform(), &desc, out); });
}

CONFORMANCE_TEST("context", "a handle that is not a device of the platform is refused") {
    require_refused(fixture, "a context of the device NULL", {PI_ERROR_INVALID_DEVICE}, {nullptr});
    require_refused(fixture, "a context of a device and NULL", {PI_ERROR_INVALID_DEVICE},
                    {fixture.device(), nullptr});
    const auto platform_as_device = reinterpret_cast<pi_device>(fixture.platform());
    require_refused(fixture, "a context of a platform instead of a device",
                    {PI_ERROR_INVALID_DEVICE}, {platform_as_device});
}

CONFORMANCE_TEST("context", "a device of another platform is refused") {
    require_refused(fixture, "a context of another platform's device", {PI_ERROR_INVALID_DEVICE},
                    {need_device_of_another_platform(fixture)});
}

CONFORMANCE_TEST("context", "a context serves only the devices that are listed") {
    const SeveralDevices devices(fixture);
    if (devices.size() < 2)
        skip("the platform has one device, which has no parts");
    const Context context = fixture.make_context({devices[0]});
    require_untouched<pi_queue>(
        "a queue on a device that is not listed", {PI_ERROR_INVALID_DEVICE},
        [&](pi_queue *out) { return piQueueCreate(context, devices[1], nullptr, out); });
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = 64;
    require_untouched<pi_mem>(
        "a buffer on a device that is not listed", {PI_ERROR_INVALID_DEVICE},
        [&](pi_mem *out) { return piMemBufferCreate(context, devices[1], &desc, out); });
    require_untouched<pi_memory_connection>(
        "the connection of a device that is not listed", {PI_ERROR_INVALID_DEVICE},
        [&](pi_memory_connection *out) {
            return piGetMemoryConnection(devices[1], context, devices[0], context, out);
        });
    require_untouched<pi_memory_connection>(
        "the connection to a device that is not listed", {PI_ERROR_INVALID_DEVICE},
        [&](pi_memory_connection *out) {
            return piGetMemoryConnection(devices[0], context, devices[1], context, out);
        });
}

CONFORMANCE_TEST("context", "a context's descriptor obeys the rules of descriptors") {
    const std::vector<pi_device> devices{fixture.device()};
    check_descriptor("piContextCreate", context_desc(devices), offsetof(pi_context_desc, flags),
                     [&](const pi_context_desc *desc) {
                         return try_create<pi_context>([&](pi_context *out) {
                             return piContextCreate(fixture.platform(), desc, out);
                         });
                     });
    const pi_context_desc good = context_desc(devices);
    require_error(piContextCreate(fixture.platform(), &good, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piContextCreate with out_context NULL");
}

CONFORMANCE_TEST("context", "contexts may be made, used and released from many threads at once") {
    const pi_device device = fixture.device();
    fixture.run_threads(6, [&](unsigned thread) {
        for (unsigned round = 0; round < 10; ++round) {
            const Context context = fixture.make_context({device});
            const Place place{device, context};
            const Queue queue = fixture.make_queue(place);
            const Bytes bytes(256, static_cast<std::byte>(thread * 16 + round));
            const Mem mem = fixture.make_buffer(place, bytes.size());
            fixture.upload(queue, mem, bytes);
            fixture.require_contents(queue, mem, bytes, join("thread ", thread, ", round ", round));
        }
    });
}

CONFORMANCE_TEST("context", "contexts of one device have events and memory of their own") {
    const Context one = fixture.make_context({fixture.device()});
    const Context two = fixture.make_context({fixture.device()});
    require(one.get() != two.get(), "two contexts are one object");
    const Mem mem = fixture.make_buffer({fixture.device(), two}, 128);
    require(get_info<pi_context>(&piMemGetInfo, mem.get(), PI_MEM_INFO_CONTEXT) == two.get(),
            "a buffer reports another context than it was made in");
    const Event event = fixture.make_host_event(one);
    require(get_info<pi_context>(&piEventGetInfo, event.get(), PI_EVENT_INFO_CONTEXT) == one.get(),
            "a host event reports another context than it was made in");
    fixture.signal(event);
}

} // namespace
} // namespace pi::suite
