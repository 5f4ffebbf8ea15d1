// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Use of sub-devices: in contexts, several at once, and as long as there is a reference.

#include "partition.hpp"

#include "checks.hpp"
#include "kernels.hpp"
#include "registry.hpp"

#include <pi/pi_native_kernel.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <sched.h>
#include <string>
#include <string_view>

namespace pi::suite {
namespace {

// Two sub-devices of one device, as small as can be.
Devices make_siblings(Fixture &fixture) {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    if (units_of(fixture.device()) < 2)
        skip("the device has one compute unit");
    static const std::vector<uint32_t> ones{1, 1};
    Devices siblings = partition(fixture.device(), ways(fixture.device(), ones).front());
    if (siblings.size() < 2)
        skip("the device's only partition has one part");
    siblings.resize(2);
    return siblings;
}

CONFORMANCE_TEST("device",
                 "a sub-device works like any device, alone and together with its siblings") {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const std::vector<uint32_t> one{1};
    for (const pi_device_partition_desc &desc : ways(fixture.device(), one)) {
        const Devices made = partition(fixture.device(), desc);
        std::vector<pi_device> all(made.begin(), made.end());
        const Context shared = fixture.make_context(all);
        for (const pi_device device : all) {
            const Context own = fixture.make_context({device});
            require_works(fixture, {device, own}, "a sub-device in a context of its own");
            require_works(fixture, {device, shared}, "a sub-device in its siblings' context");
        }
    }
}

CONFORMANCE_TEST("device", "a context can have a parent and its sub-device") {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const std::vector<uint32_t> one{1};
    const Devices made = partition(fixture.device(), ways(fixture.device(), one).front());
    const Context context = fixture.make_context({fixture.device(), made[0]});
    require_works(fixture, {fixture.device(), context}, "the parent in its sub-device's context");
    require_works(fixture, {made[0], context}, "the sub-device in its parent's context");
}

// Runs other tests on sub-devices; what they skip is skipped.
void require_test(const ConformanceTest &test, const Setup &setup, const std::string &where) {
    try {
        Fixture fixture(setup);
        test.function(fixture);
    } catch (const Skip &) {
    } catch (const Failure &failure) {
        throw Failure{join(where, ": ", test.name, ": ", failure.text)};
    }
}

// Tests of pairs of devices also hold for pairs of sub-devices.
CONFORMANCE_TEST("connection", "sub-devices of one device pass all tests of pairs") {
    const Devices siblings = make_siblings(fixture);
    for (const ConformanceTest &test : all_tests()) {
        if (!test.of_pairs)
            continue;
        for (const bool one_context : {true, false}) {
            Setup setup = fixture.setup();
            setup.device = siblings[0];
            setup.peer = siblings[1];
            setup.one_context = one_context;
            require_test(test, setup,
                         join("between siblings in ", one_context ? "one context" : "two"));
        }
    }
}

// Drivers name the parent in some answers about a sub-device's program.
CONFORMANCE_TEST(
    "device",
    "a sub-device's programs have binaries and native handles, and are linked, as any device's") {
    const Devices siblings = make_siblings(fixture);
    Setup setup = fixture.setup();
    setup.device = siblings[0];
    static constexpr std::string_view names[] = {
        "a program's binary makes the program again",
        "a program's native handle makes a second program, and both work",
        "a kernel's native handle makes a second kernel, and both work",
        "parts are linked for any of the devices that they are compiled for"};
    size_t found = 0;
    for (const ConformanceTest &test : all_tests()) {
        if (std::find(std::begin(names), std::end(names), test.name) == std::end(names))
            continue;
        require_test(test, setup, "on a sub-device");
        ++found;
    }
    require_equal(found, std::size(names), "how many of these tests there are");
}

CONFORMANCE_TEST(
    "device", "a context has the sub-devices that are listed, and no parent or sibling of theirs") {
    const Devices siblings = make_siblings(fixture);
    const Context of_first = fixture.make_context({siblings[0]});
    const auto refused = [](pi_context context, pi_device device, const std::string &what) {
        require_untouched<pi_queue>(
            "a queue on " + what, {PI_ERROR_INVALID_DEVICE},
            [&](pi_queue *out) { return piQueueCreate(context, device, nullptr, out); });
        require_untouched<pi_mem>("a buffer of " + what, {PI_ERROR_INVALID_DEVICE},
                                  [&](pi_mem *out) {
                                      auto desc = pi::desc<pi_mem_buffer_desc>();
                                      desc.size = 64;
                                      return piMemBufferCreate(context, device, &desc, out);
                                  });
    };
    refused(of_first, fixture.device(), "the parent of the context's device");
    refused(of_first, siblings[1], "a sibling of the context's device");
    refused(fixture.context(), siblings[0], "a sub-device of the context's device");
    require(get_info_list<pi_device>(&piContextGetInfo, of_first.get(), PI_CONTEXT_INFO_DEVICES) ==
                std::vector<pi_device>{siblings[0]},
            "PI_CONTEXT_INFO_DEVICES is not the one sub-device that was listed");
}

constexpr uint32_t processors = CPU_SETSIZE;

// Marks the processors that its thread may run on.
void PI_CALL mark_processors(const pi_native_group *, void *const *arguments) {
    auto *marks = static_cast<uint32_t *>(arguments[0]);
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (uint32_t processor = 0; processor < processors; ++processor)
        if (CPU_ISSET(processor, &allowed))
            std::atomic_ref(marks[processor]).store(1);
}
constexpr pi_native_kernel marking_kernels[] = {{"mark", &mark_processors, 1, 0}};
constexpr pi_native_program marking_program = {sizeof(pi_native_program), 1, marking_kernels};

CONFORMANCE_TEST("device", "native functions of two siblings run on no processor of both") {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    if (kernel_format(fixture) != PI_PROGRAM_FORMAT_NATIVE_TABLE)
        skip("only native functions see their processor");
    const Devices siblings = make_siblings(fixture);
    std::vector<uint32_t> used(processors);
    for (std::size_t i = 0; i < siblings.size(); ++i) {
        const Context context = fixture.make_context({siblings[i]});
        const Place place{siblings[i], context};
        auto desc = pi::desc<pi_program_desc>();
        desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
        desc.data = &marking_program;
        desc.size = sizeof marking_program;
        Program program;
        require_success(piProgramCreate(context, &desc, program.out()), "piProgramCreate");
        require_success(piProgramBuild(program, nullptr), "piProgramBuild");
        const Kernel kernel = make_kernel(program, "mark");
        const Mem mem = fixture.make_buffer(place, Bytes(processors * sizeof(uint32_t)));
        const Queue queue = fixture.make_queue(place);
        Arguments arguments;
        arguments.buffer(mem);
        fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 64, 1)));
        const std::vector<uint32_t> marks =
            words_of(fixture.download(queue, mem, processors * sizeof(uint32_t)));
        for (uint32_t processor = 0; processor < processors; ++processor) {
            require(marks[processor] == 0 || used[processor] == 0, "sibling ", i,
                    " may run on processor ", processor, ", as one before it");
            used[processor] |= marks[processor];
        }
    }
}

CONFORMANCE_TEST("lifetime", "a sub-device lives until its last reference is released") {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const std::vector<uint32_t> one{1};
    Devices made = partition(fixture.device(), ways(fixture.device(), one).front());
    const pi_device device = made[0];
    const auto references = [&] {
        return info_or(&piDeviceGetInfo, device, PI_DEVICE_INFO_REFERENCE_COUNT, 1u);
    };
    const uint32_t before = references(), units = units_of(device);
    require(before >= 1, "the reference count of a sub-device is 0");
    for (int round = 0; round < 5; ++round)
        require_success(piDeviceRetain(device), "piDeviceRetain of a sub-device");
    for (int round = 0; round < 5; ++round) {
        require_success(piDeviceRelease(device), "piDeviceRelease of a sub-device");
        require_equal(units_of(device), units,
                      "the compute units of a sub-device that is still held");
    }
    require(references() >= 1, "the reference count of a sub-device that is still held is 0");
    fixture.run_threads(4, [&](unsigned) {
        for (int i = 0; i < 1000; ++i) {
            require_success(piDeviceRetain(device), "piDeviceRetain");
            require_success(piDeviceRelease(device), "piDeviceRelease");
        }
    });
    const Context context = fixture.make_context({device});
    require_works(fixture, {device, context}, "a sub-device that was retained and released");
}

CONFORMANCE_TEST("lifetime",
                 "a context keeps its sub-devices alive, and its objects go on working") {
    const Devices siblings = make_siblings(fixture);
    std::vector<pi_device> handles;
    Context context;
    {
        const std::vector<uint32_t> one{1};
        Devices made = partition(fixture.device(), ways(fixture.device(), one).front());
        handles.assign(made.begin(), made.end());
        context = fixture.make_context(handles);
    }
    for (const pi_device device : handles)
        require_works(fixture, {device, context}, "a sub-device that only its context holds");
    // Commands keep the queue, and with it the context and the sub-device.
    const Bytes bytes = fixture.random_bytes(4096);
    const Event gate = fixture.make_host_event(fixture.context());
    Bytes read(bytes.size());
    Event last;
    {
        const Place place{handles[0], context};
        const Queue queue = fixture.make_queue(place);
        const Mem mem = fixture.make_buffer(place, bytes.size());
        fixture.write(queue, mem, 0, bytes, {gate});
        last = fixture.read(queue, mem, 0, read);
    }
    context.reset();
    fixture.signal(gate);
    fixture.wait(last);
    require_same_bytes(read.data(), bytes.data(), bytes.size(),
                       "what went through a sub-device that only commands hold");
}

CONFORMANCE_TEST("device", "a device may be partitioned from many threads at once") {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const std::vector<uint32_t> one{1};
    const auto all = ways(fixture.device(), one);
    fixture.run_threads(4, [&](unsigned id) {
        for (unsigned round = 0; round < 20; ++round) {
            const Devices made = partition(fixture.device(), all[(id + round) % all.size()]);
            const Context context = fixture.make_context({made.back()});
            const Place place{made.back(), context};
            const Mem mem = fixture.make_buffer(place, 256);
            const Queue queue = fixture.make_queue(place);
            const Bytes bytes(256, static_cast<std::byte>(16 * id + round));
            fixture.upload(queue, mem, bytes);
            fixture.require_contents(queue, mem, bytes, "a sub-device's buffer");
        }
    });
}

} // namespace
} // namespace pi::suite
