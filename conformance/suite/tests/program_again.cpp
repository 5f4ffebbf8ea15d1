// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that are built, compiled or linked again, or otherwise than before.

#include "checks.hpp"
#include "launch_fixture.hpp"
#include "native.hpp"
#include "part_texts.hpp"
#include "registry.hpp"

#include <cstring>

namespace pi::suite {
namespace {

std::vector<pi_device> devices_of(pi_program program) {
    return get_info_list<pi_device>(&piProgramGetInfo, program, PI_PROGRAM_INFO_DEVICES);
}

CONFORMANCE_TEST("program", "a program is built for the devices of its newest build") {
    const BuiltForSecond built(fixture);
    need_program_format(fixture, kernel_format(fixture), built.first());
    auto desc = pi::desc<pi_program_build_desc>();
    desc.device_count = 1;
    const auto build_for = [&](pi_device device) {
        desc.devices = &device;
        require_success(piProgramBuild(built.program, &desc), "building for another device");
        require(devices_of(built.program) == std::vector<pi_device>{device},
                "PI_PROGRAM_INFO_DEVICES is not the device of the newest build");
        require_runs(fixture, built.program, {device, built.context});
    };
    const Kernel kernel = make_kernel(built.program, "add");
    build_for(built.first());
    build_for(built.second());
    build_for(built.first());
    // A kernel keeps the code that it was created from.
    const Place second{built.second(), built.context};
    const Mem mem = fixture.make_buffer(second, bytes_of({1, 2, 3, 4}));
    const Queue queue = fixture.make_queue(second);
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{10});
    fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 4)));
    fixture.require_contents(queue, mem, bytes_of({11, 12, 13, 14}),
                             "what a kernel of an earlier build has made");
    require_success(piProgramBuild(built.program, nullptr), "building for all devices");
    require_equal(devices_of(built.program).size(), std::size_t{2}, "the devices of a program");
}

// The program around the handle; skips the test where there is none.
Program make_second(Fixture &fixture, pi_program program) {
    need_native(fixture);
    const pi_native_handle handle =
        check_handle("piProgramGetNativeHandle", [&](pi_native_handle *out) {
            return piProgramGetNativeHandle(program, fixture.device(), out);
        });
    return make_around<pi_program>(
        "piProgramCreateWithNativeHandle", native_desc(handle, fixture.device()),
        [&](const pi_native_desc *one, pi_program *out) {
            return piProgramCreateWithNativeHandle(fixture.context(), one, out);
        });
}

CONFORMANCE_TEST("program", "a program's native handle is that of its newest build") {
    const Program program = create_valued(fixture);
    const Queue queue = fixture.make_queue();
    std::vector<Kernel> kernels; // a program is built again while it has some
    for (const uint32_t value : {41u, 42u, 43u}) {
        auto build = pi::desc<pi_program_build_desc>();
        const std::string options = join("-DVALUE=", value);
        build.options = options.c_str();
        require_success(piProgramBuild(program, &build), "piProgramBuild");
        kernels.push_back(make_kernel(program, "set"));
        const Program second = make_second(fixture, program);
        const Kernel kernel = make_kernel(second, "set");
        const Mem mem = fixture.make_buffer(fixture.place(), bytes_of({0}));
        Arguments arguments;
        arguments.buffer(mem);
        fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 1)));
        fixture.require_contents(queue, mem, bytes_of({value}),
                                 "what a kernel of the native handle has made");
    }
}

CONFORMANCE_TEST("program", "a program around a native handle reports what it is, and keeps its "
                            "kernels where it is built again") {
    const LaunchFixture setup(fixture);
    const Program second = make_second(fixture, setup.program);
    check_info(
        "piProgramGetInfo of a program around a native handle",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piProgramGetInfo(second, name, size, value, out_size);
        },
        program_info_names());
    require(get_info<pi_context>(&piProgramGetInfo, second.get(), PI_PROGRAM_INFO_CONTEXT) ==
                fixture.context(),
            "a program around a native handle reports another context");
    const Kernel kernel = make_kernel(second, "add");
    const pi_result again = piProgramBuild(second, nullptr);
    if (again != PI_SUCCESS)
        require_error(again, PI_ERROR_INVALID_OPERATION,
                      "building a program around a native handle again");
    require_runs(fixture, second);
    require_runs(fixture, setup.program);
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of({1, 2}));
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{3});
    fixture.wait(fixture.enqueue(setup.queue, launch_desc(kernel, arguments, 2)));
    fixture.require_contents(setup.queue, mem, bytes_of({4, 5}),
                             "what a kernel has made whose program was built again");
}

CONFORMANCE_TEST("program", "a program that is not built answers every info name by its type") {
    const pi_program_desc desc = kernel_program_desc(kernel_format(fixture));
    Program program;
    require_success(piProgramCreate(fixture.context(), &desc, program.out()), "piProgramCreate");
    check_info(
        "piProgramGetBuildInfo of a program that is not built",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piProgramGetBuildInfo(program, fixture.device(), name, size, value, out_size);
        },
        program_build_info_names());
    for (const pi_program_info name :
         {PI_PROGRAM_INFO_CONTEXT, PI_PROGRAM_INFO_DEVICES, PI_PROGRAM_INFO_FORMAT}) {
        uint64_t size = 0;
        require_success(piProgramGetInfo(program, name, 0, nullptr, &size),
                        "the size of a required info of a program that is not built");
    }
}

// ----- Parts -----

Program create_part(Fixture &fixture, const Text &text) {
    return create_program(fixture.context(), text.format, text.text.data(), text.text.size());
}

void compile(pi_program program, const char *options) {
    auto desc = pi::desc<pi_program_build_desc>();
    desc.options = options;
    require_success(piProgramCompile(program, &desc), "piProgramCompile");
}

pi_program_link_desc link_desc(const std::vector<pi_program> &parts, const char *options) {
    auto desc = pi::desc<pi_program_link_desc>();
    desc.program_count = static_cast<uint32_t>(parts.size());
    desc.programs = parts.data();
    desc.options = options;
    return desc;
}

CONFORMANCE_TEST("program", "a program may be compiled while its kernel runs, and a linked one "
                            "answers every info name by its type") {
    const PartTexts texts = part_texts(fixture);
    const Program caller = create_part(fixture, texts.caller);
    const Program callee = create_part(fixture, texts.callee);
    compile(caller, nullptr);
    compile(callee, "-DFACTOR=3");
    const std::vector<pi_program> parts{caller, callee};
    const pi_program_link_desc desc = link_desc(parts, "");
    Program linked;
    require_success(piProgramLink(fixture.context(), &desc, linked.out()), "piProgramLink");
    check_info(
        "piProgramGetInfo of a linked program",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piProgramGetInfo(linked, name, size, value, out_size);
        },
        program_info_names());
    check_info(
        "piProgramGetBuildInfo of a linked program",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piProgramGetBuildInfo(linked, fixture.device(), name, size, value, out_size);
        },
        program_build_info_names());
    require_options(linked, fixture.device(), "", "the options of a linked program");

    const Program whole = create_part(fixture, texts.whole);
    auto build = pi::desc<pi_program_build_desc>();
    build.options = "-DFACTOR=5";
    require_success(piProgramBuild(whole, &build), "piProgramBuild");
    const Kernel kernel = make_kernel(whole, "change");
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of({1, 2}));
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    Arguments arguments;
    arguments.buffer(mem);
    const Event event = fixture.enqueue(queue, launch_desc(kernel, arguments, 2), {gate});
    fixture.signal_after(gate, [&] {
        compile(whole, "-DFACTOR=7");
        require_equal(build_status(whole, fixture.device()), uint32_t{PI_PROGRAM_COMPILED},
                      "the status of a program that is compiled after its build");
    });
    fixture.wait(event, "a launch whose program is compiled again");
    fixture.require_contents(queue, mem, bytes_of({6, 11}),
                             "what a kernel has made whose program is compiled again");
}

} // namespace
} // namespace pi::suite
