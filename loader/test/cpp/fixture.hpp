// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common parts of the tests of pi.hpp: a plugin's device with queue, in the variant that throws.
#pragma once

#include <pi/pi.hpp>
#include <pi/pi_native_kernel.h>

#include "one_plugin.hpp"
#include "temporary.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace cpp_test {

inline pi::Loader load(const char *plugin, const std::vector<pi_loader_option> &options = {},
                       const std::vector<const char *> &layers = {}) {
    return pi::Loader::adopt(pi_test::load_one_plugin(plugin, options, {.layers = layers}).take());
}

/// Two simulated devices that copy to each other.
inline constexpr const char *two_devices = R"({"pi_machine": 1, "name": "two devices", "devices": [
    {"name": "a", "type": "gpu", "bandwidth": "10 GB/s",
     "kernel": {"launch_time": 200, "item_time": 2},
     "scopes": [{"name": "global", "capacity": "1 MiB"}]},
    {"name": "b", "type": "gpu", "bandwidth": "10 GB/s",
     "kernel": {"launch_time": 200, "item_time": 2},
     "scopes": [{"name": "global", "capacity": "1 MiB"}]}],
    "links": [
    {"between": ["host", "a"], "bandwidth": "1 GB/s", "latency": 100},
    {"between": ["host", "b"], "bandwidth": "1 GB/s", "latency": 100},
    {"between": ["a", "b"], "connection": "migratable", "bandwidth": "2 GB/s", "latency": 50}]})";

/// All devices of a loader in one context, and a queue of the first. Destroyed in reverse order.
struct Machine {
    explicit Machine(pi::Loader made)
        : loader(std::move(made)), devices(loader.select_devices("*")),
          context(pi::Context::create(device().info<PI_DEVICE_INFO_PLATFORM>(), devices)),
          queue(pi::Queue::create(context, device())) {}
    pi::DeviceRef device(size_t index = 0) const { return devices.at(index); }

    pi::Loader loader;
    std::vector<pi::DeviceRef> devices;
    pi::Context context;
    pi::Queue queue;
};
inline Machine host() {
    return Machine(load(PI_TEST_HOST_PLUGIN));
}
inline Machine sim() {
    const pi_test::TextFile file(two_devices);
    return Machine(load(PI_TEST_SIM_PLUGIN, {{"PI_SIM_MACHINE", file.path().c_str()}}));
}

using Bytes = std::vector<uint8_t>;
inline Bytes some_bytes(size_t size) {
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<uint8_t>(3 + 7 * i);
    return bytes;
}

/// The bytes must stay valid until the event is complete.
inline pi::Event write(pi::QueueRef queue, pi::MemRef mem, const Bytes &bytes,
                       pi::WaitList wait_list = {}) {
    const pi_region all = pi::region(bytes.size());
    auto desc = pi::desc<pi_buffer_write_desc>();
    desc.mem = mem.get();
    desc.host_ptr = bytes.data();
    desc.region_count = 1;
    desc.regions = &all;
    return queue.enqueue(desc, wait_list);
}
inline Bytes read(pi::QueueRef queue, pi::MemRef mem, size_t size, pi::WaitList wait_list = {}) {
    Bytes bytes(size);
    const pi_region all = pi::region(size);
    auto desc = pi::desc<pi_buffer_read_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.mem = mem.get();
    desc.host_ptr = bytes.data();
    desc.region_count = 1;
    desc.regions = &all;
    queue.enqueue(desc, wait_list, pi::no_event);
    return bytes;
}

/// A kernel that adds its second argument to each byte of its first.
inline void PI_CALL add(const pi_native_group *group, void *const *arguments) {
    auto *bytes = static_cast<uint8_t *>(arguments[0]);
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        bytes[i] = static_cast<uint8_t>(bytes[i] + *static_cast<const uint8_t *>(arguments[1]));
}
inline pi::Program make_program(pi::ContextRef context) {
    static const pi_native_kernel kernels[] = {{"add", &add, 2, 0}};
    static const pi_native_program table = {sizeof table, 1, kernels};
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    desc.data = &table;
    desc.size = sizeof table;
    return pi::Program::create(context, desc);
}
inline pi::Kernel make_add(pi::ContextRef context) {
    const pi::Program program = make_program(context);
    program.build();
    return pi::Kernel::create(program, "add");
}

template <class Call>
pi_result code_of(Call call) {
    try {
        call();
    } catch (const pi::Error &error) {
        return error.code();
    }
    return PI_SUCCESS;
}

} // namespace cpp_test
