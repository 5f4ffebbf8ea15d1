// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <array>

using namespace sim_test;

TEST_CASE("a link counts its bytes and transfers, and can be reset", "[sim]") {
    const Simulation machine(two_gpus());
    const auto queue = machine.queue();
    const auto a = machine.buffer(0, 4000), same = machine.buffer(0, 4000),
               b = machine.buffer(1, 4000);
    OK(piEventWait(write(queue, a, some_bytes(1000)), patience));
    OK(piEventWait(copy(queue, a, b, 600), patience));
    OK(piEventWait(copy(queue, a, b, 400), patience));
    OK(piEventWait(copy(queue, a, same, 4000), patience)); // over no link
    read(queue, a, 10);
    CHECK(machine.link("host", "a").bytes == 1000);
    CHECK(machine.link("a", "b").bytes == 1000);
    CHECK(machine.link("a", "b").transfers == 2);
    CHECK(machine.link("a", "b").busy == 50 + 300 + 50 + 200);
    CHECK(machine.link("a", "host").bytes == 10);
    CHECK(machine.link("b", "a").bytes == 0);
    const uint64_t now = machine.now();
    OK(machine.sim->reset_links(machine.plugin));
    CHECK(machine.link("a", "b").bytes == 0);
    CHECK(machine.link("a", "b").transfers == 0);
    CHECK(machine.link("a", "b").busy == 0);
    CHECK(machine.now() == now);
}

TEST_CASE("a map of memory that the host cannot address goes over the link, both ways", "[sim]") {
    const Simulation machine(two_gpus());
    const auto queue = machine.queue();
    const auto mem = machine.buffer(0, 4000);
    void *pointer = nullptr;
    const auto map =
        map_desc(mem, 0, 100, &pointer, PI_MAP_READ | PI_MAP_WRITE | PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferMap(queue, &map, 0, nullptr, nullptr));
    CHECK(machine.link("a", "host").bytes == 100);
    const auto unmap = unmap_desc(mem, pointer, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr));
    CHECK(machine.link("host", "a").bytes == 100);
    const auto discard =
        map_desc(mem, 0, 100, &pointer, PI_MAP_WRITE_DISCARD | PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferMap(queue, &discard, 0, nullptr, nullptr));
    CHECK(machine.link("a", "host").bytes == 100);
    const auto back = unmap_desc(mem, pointer, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemUnmap(queue, &back, 0, nullptr, nullptr));
    CHECK(machine.link("host", "a").bytes == 200);
}

TEST_CASE("a copy without a bandwidth uses both links to the host", "[sim]") {
    const Simulation machine(R"({"pi_machine": 1, "name": "staged", "devices": [
        {"name": "a", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]},
        {"name": "b", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]}],
        "links": [{"from": "a", "to": "host", "bandwidth": "1 GB/s", "latency": 10},
                  {"from": "host", "to": "b", "bandwidth": "2 GB/s", "latency": 20},
                  {"from": "a", "to": "b", "connection": "migratable",
                      "path": "staged_by_driver"}]})");
    const auto queue = machine.queue();
    const auto a = machine.buffer(0, 1000), b = machine.buffer(1, 1000);
    const Times times = times_of(copy(queue, a, b, 1000));
    CHECK(times.end - times.start == 10 + 1000 + 20 + 500);
    CHECK(machine.link("a", "host").bytes == 1000);
    CHECK(machine.link("host", "b").bytes == 1000);
    CHECK(machine.link("a", "b").bytes == 0);
}

TEST_CASE("the connection's info is that of the file", "[sim]") {
    const Simulation machine(two_gpus());
    auto answer = pi::desc<pi_memory_connection_info>();
    OK(piGetMemoryConnectionInfo(machine.device(0), machine.context, machine.device(1),
                                 machine.context, nullptr, &answer));
    CHECK(answer.connection == PI_MEMORY_CONNECTION_MIGRATABLE);
    CHECK(answer.bandwidth == 2'000'000'000);
    CHECK(answer.latency == 50);
    CHECK(std::string(answer.reason).find("line ") != std::string::npos);
}

TEST_CASE("the speed of links to the host, maps and callbacks is reported", "[sim]") {
    const Simulation machine(R"({"pi_machine": 1, "name": "speeds",
        "host": {"bandwidth": "3 GB/s", "latency": 30}, "devices": [
        {"name": "a", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]},
        {"name": "b", "type": "gpu", "scopes": [
            {"name": "global", "flags": ["host_visible", "maps_in_place"], "capacity": "1 MiB"}]},
        {"name": "c", "type": "gpu", "scopes": [
            {"name": "global", "flags": ["host_visible", "coherent", "maps_in_place"],
                "capacity": "1 MiB"}]}],
        "links": [{"from": "a", "to": "host", "bandwidth": "1 GB/s", "latency": 10},
                  {"from": "host", "to": "a", "bandwidth": "2 GB/s", "latency": "20.5 ns"},
                  {"from": "c", "to": "host"},
                  {"from": "a", "to": "b", "connection": "migratable",
                      "path": "staged_by_driver"}]})");
    using Speed = std::array<uint64_t, 2>;
    const auto speed = [&](size_t device, pi_device_info name) {
        Speed reported{};
        OK(piDeviceGetInfo(machine.device(device), name, sizeof reported, &reported, nullptr));
        return reported;
    };
    CHECK(speed(0, PI_DEVICE_INFO_HOST_READ_SPEED) == Speed{1'000'000'000, 10});
    CHECK(speed(0, PI_DEVICE_INFO_HOST_WRITE_SPEED) == Speed{2'000'000'000, 21});
    CHECK(speed(1, PI_DEVICE_INFO_HOST_READ_SPEED) == Speed{3'000'000'000, 30});
    CHECK(speed(2, PI_DEVICE_INFO_HOST_READ_SPEED) == Speed{UINT64_MAX, 0}); // at once
    Speed none{};
    REFUSED(
        PI_ERROR_UNSUPPORTED_FEATURE, "maps_in_place",
        piDeviceGetInfo(machine.device(0), PI_DEVICE_INFO_MAP_SPEED, sizeof none, &none, nullptr));
    CHECK(speed(1, PI_DEVICE_INFO_MAP_SPEED) == Speed{3'000'000'000, 30});
    CHECK(speed(2, PI_DEVICE_INFO_MAP_SPEED) == Speed{UINT64_MAX, 0});
    uint64_t latency = 1;
    OK(piDeviceGetInfo(machine.device(), PI_DEVICE_INFO_CALLBACK_LATENCY, sizeof latency, &latency,
                       nullptr));
    CHECK(latency == 0);
    // Over the host, one link after the other: 1 ns and 1/3 ns per byte.
    auto answer = pi::desc<pi_memory_connection_info>();
    OK(piGetMemoryConnectionInfo(machine.device(0), machine.context, machine.device(1),
                                 machine.context, nullptr, &answer));
    CHECK(answer.bandwidth == 750'000'000);
    CHECK(answer.latency == 40);
}

TEST_CASE("the extension has one name and one size", "[sim]") {
    const Simulation machine(two_gpus());
    const void *table = nullptr;
    REFUSED(PI_ERROR_INVALID_NAME, "pi_sim_v1",
            piPluginGetExtension(machine.plugin, "pi_sim_v2", 8, &table));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "min_size",
            piPluginGetExtension(machine.plugin, PI_SIM_V1, sizeof(pi_sim_v1) + 8, &table));
    CHECK(table == nullptr);
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "out_time",
            machine.sim->get_time(machine.plugin, nullptr));
}
