// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels on ranges at any offset: on devices that add the offset, that need it aligned, and that
// make a vendor's sub-buffer of it.
#include "equipment.hpp"
#include "native_kernel.hpp"
#include "skip.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <utility>

using namespace runtime_test;
using Catch::Matchers::Contains;

namespace {

constexpr uint64_t size = 5000;

void PI_CALL add_one(const pi_native_group *group, void *const *arguments) {
    auto *const bytes = static_cast<uint8_t *>(arguments[0]);
    uint64_t lead = 0;
    std::memcpy(&lead, arguments[1], sizeof lead);
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i) {
        ++bytes[lead + i];
    }
}

constexpr pi_native_kernel kernels[] = {{"add_one", add_one, 2, 0}};
constexpr pi_native_program native = {sizeof native, 1, kernels};
constexpr const char source[] = "kernel void add_one(global uchar *bytes, ulong lead) {"
                                "    ++bytes[lead + get_global_id(0)]; }";

template <class Value>
Value info_of(pi_device device, pi_device_info name) {
    Value value{};
    OK(piDeviceGetInfo(device, name, sizeof value, &value, nullptr));
    return value;
}

/// Empty if the device accepts neither the native table nor the source.
pi_test::Owned<pi_kernel> make_kernel(const Topology &topology, PlaceIndex place) {
    const auto formats = info_of<uint32_t>(topology.device(place), PI_DEVICE_INFO_PROGRAM_FORMATS);
    auto desc = pi::desc<pi_program_desc>();
    if (formats & 1U << PI_PROGRAM_FORMAT_NATIVE_TABLE) {
        desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
        desc.data = &native;
        desc.size = sizeof native;
    } else if (formats & 1U << PI_PROGRAM_FORMAT_OPENCL_C) {
        desc.format = PI_PROGRAM_FORMAT_OPENCL_C;
        desc.data = source;
        desc.size = sizeof source - 1;
    } else {
        return {};
    }
    pi_test::Owned<pi_program> program;
    OK(piProgramCreate(topology.context(place), &desc, program.out()));
    OK(piProgramBuild(program, nullptr));
    return pi_test::make_kernel(program, "add_one");
}

void add_one_to(const Machine &machine, pi_kernel kernel, const Buffer &buffer, PlaceIndex place,
                const Range &range, pi_queue queue = nullptr) {
    Acquisition use = buffer.acquire(place, Access::read_write, range.begin, range.size());
    const uint64_t lead = use.lead();
    pi_kernel_argument arguments[2] = {use.argument(), {}};
    CHECK(arguments[0].offset + lead == range.begin);
    CHECK(arguments[0].size == lead + range.size());
    arguments[1].kind = PI_ARGUMENT_VALUE;
    arguments[1].value = &lead;
    arguments[1].size = sizeof lead;
    const auto desc = pi_test::launch_desc(kernel, range.size(), arguments, 2);
    Event done;
    OK(piEnqueueKernelLaunch(queue != nullptr ? queue : machine.queue(place), &desc,
                             static_cast<uint32_t>(use.events().size()), use.events().data(),
                             done.out()));
    use.release(done.get());
}

} // namespace

TEST_CASE("a kernel uses a range that begins anywhere, and no byte outside it", "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Topology &topology = *machine.topology();
    uint64_t launches = 0;
    for (const bool shared : {true, false}) {
        const Storage storage(runtime, {.size = size,
                                        .routes = shared ? all_routes
                                                         : mask_of(RouteKind::migrate) |
                                                               mask_of(RouteKind::host_bounce)});
        const Buffer buffer = storage.buffer();
        std::vector<uint8_t> expected = pattern(size, 1);
        host_write(buffer, 0, expected);
        for (const PlaceIndex place : machine.places()) {
            const auto kernel = make_kernel(topology, place);
            for (const Range &range :
                 {Range{0, 7}, Range{1, 1000}, Range{129, 130}, Range{4096, 4999}}) {
                if (!kernel) {
                    continue;
                }
                INFO(topology.info(place).name << " " << to_string(range));
                add_one_to(machine, kernel, buffer, place, range);
                ++launches;
                for (uint64_t i = range.begin; i < range.end; ++i) {
                    ++expected[i];
                }
            }
        }
        CHECK(host_read(buffer) == expected);
    }
    if (launches == 0) {
        pi_test::skip("no device takes native kernels or OpenCL C");
    }
}

TEST_CASE("an argument begins at a multiple of the device's alignment, its lead is smaller",
          "[runtime]") {
    const Machine machine;
    const Runtime runtime(machine.topology());
    const Storage storage(runtime, {.size = size});
    for (const PlaceIndex place : machine.places()) {
        const uint64_t needed =
            std::max<uint64_t>(1, machine.topology()->info(place).scopes[0].offset_alignment);
        for (const uint64_t begin :
             {uint64_t{0}, uint64_t{1}, uint64_t{1000}, needed, 2 * needed}) {
            const Acquisition use = storage.buffer().acquire(place, Access::read, begin, 1);
            CHECK(use.argument().mem == use.mem());
            CHECK(use.argument().offset % needed == 0);
            CHECK(use.argument().offset + use.lead() == use.offset());
            CHECK(use.lead() < begin + 1);
        }
    }
    const Acquisition at_host = storage.buffer().acquire(host_place, Access::read);
    CHECK_THROWS_WITH(at_host.argument(), Contains("at the host"));
}

TEST_CASE("the layer race reports no race of kernels on neighbouring ranges", "[runtime]") {
    std::atomic<int> races = 0;
    const char *const layer = "race";
    auto desc = pi::desc<pi_loader_desc>();
    desc.layers = &layer;
    desc.layer_count = 1;
    desc.log_level = PI_LOG_WARNING;
    desc.log_user_data = &races;
    desc.log = [](uint32_t, const char *message, void *data) {
        *static_cast<std::atomic<int> *>(data) +=
            std::string_view(message).find("race on ") != std::string_view::npos;
    };
    Loader loader;
    check(piLoaderCreate(&desc, loader.out()), "piLoaderCreate");
    const Machine machine(1, std::move(loader));
    const Runtime runtime(machine.topology());
    uint64_t launches = 0;
    for (const PlaceIndex place : machine.places()) {
        const auto kernel = make_kernel(*machine.topology(), place);
        if (!kernel) {
            continue;
        }
        INFO(machine.topology()->info(place).name);
        const Storage storage(runtime, {.size = size});
        const Buffer buffer = storage.buffer();
        std::vector<uint8_t> bytes(size, 5);
        host_write(buffer, 0, bytes);
        buffer.prefetch(place);
        REQUIRE(runtime.finish(patience));
        // Two queues, so that nothing orders the commands.
        const Queue other = machine.make_queue(place);
        add_one_to(machine, kernel, buffer, place, {1000, 1100});
        add_one_to(machine, kernel, buffer, place, {1100, 1300}, other.get());
        add_one_to(machine, kernel, buffer, place, {1300, 1301});
        ++launches;
        REQUIRE(runtime.finish(patience));
        CHECK(races == 0);
        std::fill_n(bytes.begin() + 1000, 301, uint8_t{6});
        CHECK(host_read(buffer) == bytes);
    }
    if (launches == 0) {
        pi_test::skip("no device takes native kernels or OpenCL C");
    }
}
