// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transfers that run at the same time as kernels, on a simulated machine, whose clock shows the
// overlap.
#include "native_kernel.hpp"
#include "simulated.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace runtime_test;

namespace {

constexpr uint64_t size = 10'000'000;
constexpr uint64_t copy_time = 1'000'000, kernel_time = 1'500'000; // ns

constexpr const char *machine_file = R"({"pi_machine": 1, "name": "a GPU", "devices": [
        {"name": "gpu", "type": "gpu", "kernel": {"item_time": 1500},
         "scopes": [{"name": "global", "capacity": "64 MiB"}]}],
    "links": [{"between": ["host", "gpu"], "bandwidth": "10 GB/s"}]})";

void PI_CALL do_nothing(const pi_native_group *, void *const *) {}

constexpr pi_native_kernel kernels[] = {{"do_nothing", do_nothing, 1, 0}};
constexpr pi_native_program program = {sizeof program, 1, kernels};

/// A kernel of `kernel_time` on the acquired buffer.
pi_test::Owned<pi_event> launch(const Simulated &machine, const Acquisition &use) {
    const auto kernel = pi_test::make_kernel(
        pi_test::make_program(machine.topology()->context(1), program), "do_nothing");
    const pi_kernel_argument argument = pi_test::buffer_argument(use.mem());
    const auto launch = pi_test::launch_desc(kernel, kernel_time / 1500, &argument, 1);
    pi_test::Owned<pi_event> event;
    OK(piEnqueueKernelLaunch(machine.queue(1), &launch, static_cast<uint32_t>(use.events().size()),
                             use.events().data(), event.out()));
    return event;
}

} // namespace

TEST_CASE("a transfer runs at the same time as a kernel that does not use its bytes", "[runtime]") {
    const TextFile file(machine_file);
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    const Storage computed(runtime, {.size = size}), moved(runtime, {.size = size});
    host_write(moved.buffer(), 0, pattern(size, 1));
    const bool to_device = GENERATE(true, false);
    INFO((to_device ? "to the device" : "to the host"));
    if (!to_device) {
        moved.buffer().acquire(1, Access::read_write).release();
    }
    REQUIRE(runtime.finish(patience));

    const uint64_t begin = machine.pass_time();
    Acquisition use = computed.buffer().acquire(1, Access::discard_write);
    const auto launched = launch(machine, use);
    moved.buffer().prefetch(to_device ? 1 : host_place);
    use.release(launched); // only now: a waiter for its end lets the clock advance
    REQUIRE(runtime.finish(patience));
    CHECK(machine.pass_time() - begin == std::max(copy_time, kernel_time));
}

TEST_CASE("over each link the runtime counts what the machine counts", "[runtime]") {
    const Simulated machine(shipped_machine("workstation"));
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = 3 << 20});
    const Buffer buffer = storage.buffer(), part = storage.buffer(1000, 1 << 20);
    host_write(buffer, 0, pattern(buffer.size(), 2));
    for (const PlaceIndex place : {1U, 2U, host_place, 2U, 1U, host_place}) {
        part.acquire(place, place == 2 ? Access::read_write : Access::read).release();
        REQUIRE(runtime.finish(patience));
        buffer.acquire(place, Access::read_write).release();
        REQUIRE(runtime.finish(patience));
    }
    const auto counted = runtime.counters().link_bytes;
    CHECK(counted.size() >= 4);
    for (const auto &[link, bytes] : machine.link_bytes()) {
        INFO("from " << link.first << " to " << link.second);
        const auto found = counted.find(link);
        CHECK((found == counted.end() ? 0 : found->second) == bytes);
    }
}
