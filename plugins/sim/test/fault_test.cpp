// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <future>

using namespace sim_test;

namespace {

std::string with_faults(const std::string &faults) {
    return two_gpus(R"("faults": [)" + faults + "]");
}

std::string error_text(pi_event event) {
    return info_text(piEventGetInfo, event, PI_EVENT_INFO_ERROR_TEXT);
}

} // namespace

TEST_CASE("functions of every object can fail, also the plugin's", "[sim]") {
    const Simulation machine(
        with_faults(R"({"function": "piPluginGetExtension", "result": "internal", "call": 2},
                       {"function": "piEventCreateHost", "result": "out_of_host_memory"})"));
    const void *table = nullptr;
    REFUSED(PI_ERROR_INTERNAL, "piPluginGetExtension",
            piPluginGetExtension(machine.plugin, PI_SIM_V1, 8, &table));
    OK(piPluginGetExtension(machine.plugin, PI_SIM_V1, 8, &table));
    Owned<pi_event> event;
    REFUSED(PI_ERROR_OUT_OF_HOST_MEMORY, "call 1",
            piEventCreateHost(machine.context, nullptr, event.out()));
    OK(piEventCreateHost(machine.context, nullptr, event.out()));
}

TEST_CASE("dependents of a command that is cut short have no effect", "[sim]") {
    const Simulation machine(with_faults(R"({"function": "piEnqueueMemBufferWrite", "part": 0})"));
    const auto queue = machine.queue(), other = machine.queue(1);
    const auto a = machine.buffer(0, 400), b = machine.buffer(1, 400);
    const auto failed = write(queue, a, some_bytes(400));
    const auto after = copy(other, a, b, 400, {failed});
    CHECK(piEventWait(after, patience) == PI_ERROR_DEPENDENCY_FAILED);
    CHECK(error_text(after).find("0 of 400 bytes are moved") != std::string::npos);
    CHECK(read(other, b, 400) == Bytes(400));
    // A command behind it in the queue, without a wait list, works.
    CHECK(read(queue, a, 400) == Bytes(400));
}

TEST_CASE("a delayed command takes longer by the delay", "[sim]") {
    const Simulation machine(
        with_faults(R"({"function": "piEnqueueMemBufferWrite", "call": 2, "delay": "1 ms"})"));
    const auto queue = machine.queue();
    const auto mem = machine.buffer(0, 400);
    const Bytes bytes = some_bytes(100);
    const Times first = times_of(write(queue, mem, bytes)),
                second = times_of(write(queue, mem, bytes));
    CHECK(first.end - first.start == 200);
    CHECK(second.end - second.start == 1'000'200);
    CHECK(read(queue, mem, 100) == bytes);
}

TEST_CASE("a device that is lost at a time works until then, and never again", "[sim]") {
    const Simulation machine(R"({"pi_machine": 1, "name": "falling", "devices": [
        {"name": "a", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}],
         "lost_at": "4 us"},
        {"name": "b", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]}],
        "links": [{"from": "host", "to": "a", "bandwidth": "1 GB/s"},
                  {"from": "host", "to": "b", "bandwidth": "1 GB/s"},
                  {"from": "a", "to": "b", "connection": "migratable", "bandwidth": "1 GB/s"}]})");
    const auto queue = machine.queue(0), other = machine.queue(1);
    const auto a = machine.buffer(0, 4000), b = machine.buffer(1, 4000);
    const Bytes bytes = some_bytes(1000);
    REQUIRE(machine.now() < 2000);
    OK(piEventWait(write(queue, a, bytes), patience));
    const auto in_flight = write(queue, a, some_bytes(4000, 9));
    REFUSED(PI_ERROR_DEVICE_LOST, "4000 ns", piEventWait(in_flight, patience));
    CHECK(machine.now() == 4000);
    CHECK(piEventWait(copy(other, a, b, 1000), patience) == PI_ERROR_DEVICE_LOST);
    CHECK(piEventWait(write(queue, a, bytes), patience) == PI_ERROR_DEVICE_LOST);
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.size = 64;
    pi_mem mem = nullptr;
    REFUSED(PI_ERROR_DEVICE_LOST, "loses this device",
            piMemBufferCreate(machine.context, machine.device(0), &d, &mem));
    pi_queue made = nullptr;
    CHECK(piQueueCreate(machine.context, machine.device(0), nullptr, &made) ==
          PI_ERROR_DEVICE_LOST);
    OK(piEventWait(write(other, b, bytes), patience));
    CHECK(read(other, b, 1000) == bytes);
}

TEST_CASE("calls that create objects on a lost device, or sync its memory, report the loss",
          "[sim]") {
    const Simulation machine(R"({"pi_machine": 1, "name": "falling", "devices": [
        {"name": "a", "type": "gpu", "host_pointer_import": true, "lost_at": "4 us",
         "scopes": [{"name": "global", "capacity": "1 MiB", "flags": ["host_visible"]}]}],
        "links": [{"from": "host", "to": "a", "bandwidth": "1 GB/s"}]})");
    const auto queue = machine.queue();
    const auto mem = machine.buffer(0, 4000);
    OK(piMemFlush(mem, 0, 4000));
    OK(piMemInvalidate(mem, 0, 4000));
    CHECK(piEventWait(write(queue, mem, some_bytes(4000)), patience) == PI_ERROR_DEVICE_LOST);
    REFUSED(PI_ERROR_DEVICE_LOST, "loses this device", piMemFlush(mem, 0, 4000));
    REFUSED(PI_ERROR_DEVICE_LOST, "loses this device", piMemInvalidate(mem, 0, 4000));
    auto part = pi::desc<pi_mem_partition_desc>();
    part.size = 64;
    pi_mem made = nullptr;
    REFUSED(PI_ERROR_DEVICE_LOST, "loses this device", piMemBufferPartition(mem, &part, &made));
    // Its queries still work, and it can be released.
    CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_SIZE) == 4000);
    CHECK(info_text(piDeviceGetInfo, machine.device(), PI_DEVICE_INFO_NAME) == "a");
}

TEST_CASE("a kernel that uses memory of a lost device fails", "[sim]") {
    const Simulation machine(R"({"pi_machine": 1, "name": "falling", "devices": [
        {"name": "a", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}],
         "lost_at": "4 us"},
        {"name": "b", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]}],
        "links": [{"from": "host", "to": "a", "bandwidth": "1 GB/s"},
                  {"from": "a", "to": "b", "connection": "unified", "coherence": "coherent",
                   "residency": "remote_access"}]})");
    const auto queue = machine.queue(1);
    const auto a = machine.buffer(0, 4000), b = machine.buffer(1, 4000);
    const auto kernel = make_add_one(machine.context);
    OK(piEventWait(launch(queue, kernel, a, 1), patience));
    CHECK(piEventWait(write(machine.queue(0), a, some_bytes(4000)), patience) ==
          PI_ERROR_DEVICE_LOST);
    CHECK(piEventWait(launch(queue, kernel, a, 1), patience) == PI_ERROR_DEVICE_LOST);
    OK(piEventWait(launch(queue, kernel, b, 1), patience));
}

TEST_CASE("a device whose loss a callback has shown is lost on every thread", "[sim]") {
    const Simulation machine(R"({"pi_machine": 1, "name": "falling", "devices": [
        {"name": "a", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}],
         "lost_at": "4 us"}],
        "links": [{"from": "host", "to": "a", "bandwidth": "1 GB/s"}]})");
    const auto queue = machine.queue(0);
    const auto written = write(queue, machine.buffer(0, 4000), some_bytes(4000));
    std::promise<pi_result> seen;
    OK(piEventSetCallback(
        written,
        [](pi_event, pi_result result, void *user_data) {
            static_cast<std::promise<pi_result> *>(user_data)->set_value(result);
        },
        &seen));
    CHECK(seen.get_future().get() == PI_ERROR_DEVICE_LOST);
    pi_queue made = nullptr;
    CHECK(piQueueCreate(machine.context, machine.device(0), nullptr, &made) ==
          PI_ERROR_DEVICE_LOST);
}
