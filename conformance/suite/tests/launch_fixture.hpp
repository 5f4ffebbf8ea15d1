// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels.hpp"
#include "partition.hpp"

#include <numeric>

namespace pi::suite {

/// The built kernels, a queue, and what most launches need.
struct LaunchFixture {
    Fixture &fixture;
    Program program;
    Queue queue;

    explicit LaunchFixture(Fixture &on)
        : fixture(on), program(make_program(on)), queue(on.make_queue()) {}

    std::vector<uint32_t> words(pi_mem mem, uint64_t count) {
        return words_of(fixture.download(queue, mem, count * sizeof(uint32_t)));
    }
};

/// The kernels, built for the second of two devices of a context. Skips the test where the platform
/// has one device, or the second does not run them.
struct BuiltForSecond {
    TwoDevices two;
    Context context;
    Program program;

    explicit BuiltForSecond(Fixture &fixture) : two(fixture) {
        const pi_program_format format = kernel_format(fixture);
        need_program_format(fixture, format, second());
        const pi_program_desc program_desc = kernel_program_desc(format);
        context = fixture.make_context({first(), second()});
        require_success(piProgramCreate(context, &program_desc, program.out()), "piProgramCreate");
        auto desc = pi::desc<pi_program_build_desc>();
        desc.device_count = 1;
        desc.devices = &two.devices[1];
        require_success(piProgramBuild(program, &desc), "building for the second device");
    }
    pi_device first() const { return two.devices[0]; }
    pi_device second() const { return two.devices[1]; }
};

/// Runs "add" of these kernels on a few numbers.
inline void require_runs(Fixture &fixture, pi_program program, const Place &place) {
    const Kernel kernel = make_kernel(program, "add");
    const Mem mem = fixture.make_buffer(place, bytes_of({1, 2, 3, 4}));
    const Queue queue = fixture.make_queue(place);
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{10});
    fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 4)), "a launch of add");
    fixture.require_contents(queue, mem, bytes_of({11, 12, 13, 14}), "what add has made");
}
inline void require_runs(Fixture &fixture, pi_program program) {
    require_runs(fixture, program, fixture.place());
}

/// 0, 1, 2, ...
inline std::vector<uint32_t> counting(uint32_t count) {
    std::vector<uint32_t> values(count);
    std::iota(values.begin(), values.end(), 0u);
    return values;
}

} // namespace pi::suite
