// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs in SPIR-V: tests that other formats do not have, or have in another form. A device that
// runs only SPIR-V runs all other tests of programs and kernels with it.

#include "checks.hpp"
#include "fixture.hpp"
#include "launch_fixture.hpp"
#include "registry.hpp"
#include "spirv.hpp"

#include <cstring>

namespace pi::suite {
namespace {

pi_program_desc spirv_desc(const std::vector<uint32_t> &words) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_SPIRV;
    desc.data = words.data();
    desc.size = words.size() * sizeof words[0];
    return desc;
}

std::vector<uint32_t> words_of_module(Embedded module) {
    std::vector<uint32_t> words(module.size() / sizeof(uint32_t));
    std::memcpy(words.data(), module.data(), module.size());
    return words;
}

CONFORMANCE_TEST("program", "a program in SPIR-V runs, reports its format, and is made of a copy") {
    need_spirv(fixture);
    std::vector<uint32_t> words = words_of_module(spirv::kernels());
    const pi_program_desc desc = spirv_desc(words);
    Program program;
    require_success(piProgramCreate(fixture.context(), &desc, program.out()), "piProgramCreate");
    std::fill(words.begin(), words.end(), 0u);
    require_equal(
        get_info<pi_program_format>(&piProgramGetInfo, program.get(), PI_PROGRAM_INFO_FORMAT),
        pi_program_format{PI_PROGRAM_FORMAT_SPIRV}, "the program's format");
    require_success(piProgramBuild(program, nullptr), "piProgramBuild");
    require_runs(fixture, program);
}

CONFORMANCE_TEST("program", "bytes that are not SPIR-V, or only a part of it, make no program") {
    need_spirv(fixture);
    const std::vector<uint32_t> good = words_of_module(spirv::kernels());
    const auto refused = [&](const std::string &what, const pi_program_desc &desc) {
        require_untouched<pi_program>(what, {PI_ERROR_INVALID_BINARY}, [&](pi_program *out) {
            return piProgramCreate(fixture.context(), &desc, out);
        });
    };
    std::vector<uint32_t> words(100, 0x2e2e2e2e);
    refused("text", spirv_desc(words));
    words = good;
    words[0] = 0x07230204;
    refused("another magic number", spirv_desc(words));
    words = good;
    words[5] = 0xffff0000 | (words[5] & 0xffff);
    refused("an instruction that is longer than all of it", spirv_desc(words));
    words[5] &= 0xffff;
    refused("an instruction of no words", spirv_desc(words));
    pi_program_desc desc = spirv_desc(good);
    for (const uint64_t size : {uint64_t{1}, uint64_t{4}, uint64_t{19}, desc.size - 1}) {
        desc.size = size;
        refused(join("the first ", size, " bytes"), desc);
    }
}

CONFORMANCE_TEST("program", "SPIR-V that calls an unknown function fails to build, with a log") {
    need_spirv(fixture);
    const Program program = create_spirv(fixture.context(), spirv::broken());
    require_error(piProgramBuild(program, nullptr), PI_ERROR_BUILD_FAILED,
                  "building a module without a function that it calls");
    require(std::strstr(last_error_text().c_str(), "nowhere_to_be_found") != nullptr,
            "the error's text does not name the missing function: \"", last_error_text(), "\"");
    require_untouched<pi_kernel>(
        "a kernel of a program that failed to build", {PI_ERROR_INVALID_OPERATION},
        [&](pi_kernel *out) { return piKernelCreate(program, "broken", nullptr, out); });
}

CONFORMANCE_TEST("program", "a group size that SPIR-V requires is reported and honoured") {
    need_spirv(fixture);
    const Program program = create_spirv(fixture.context(), spirv::groups());
    require_success(piProgramBuild(program, nullptr), "piProgramBuild");
    const Kernel kernel = make_kernel(program, "fours");
    Size3 size{};
    const pi_result reported =
        piKernelGetGroupInfo(kernel, fixture.device(), PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE,
                             sizeof size, &size, nullptr);
    if (reported != PI_ERROR_UNSUPPORTED_FEATURE) {
        require_success(reported, "PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE");
        require(size == Size3{4, 1, 1}, "the group size that is demanded is not 4, 1, 1");
    }
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of({1, 2, 3, 4, 5, 6, 7, 8}));
    Arguments arguments;
    arguments.buffer(mem);
    fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 8)));
    fixture.require_contents(queue, mem, bytes_of({4, 3, 2, 1, 8, 7, 6, 5}),
                             "what groups of four have turned");
    const pi_kernel_launch_desc eight = launch_desc(kernel, arguments, 8, 8);
    require_untouched<pi_event>("a group of 8 where 4 is demanded", {PI_ERROR_INVALID_WORK_SIZE},
                                [&](pi_event *out) { return try_enqueue(queue, eight, {}, out); });
}

CONFORMANCE_TEST("kernel", "a sub-group size that SPIR-V requires is reported") {
    need_spirv(fixture);
    std::vector<uint32_t> sizes(64);
    uint64_t bytes = 0;
    if (piDeviceGetInfo(fixture.device(), PI_DEVICE_INFO_SUB_GROUP_SIZES, sizes.size() * 4,
                        sizes.data(), &bytes) != PI_SUCCESS)
        skip("the device does not report its sizes of sub-groups");
    sizes.resize(bytes / 4);
    if (std::find(sizes.begin(), sizes.end(), 16u) == sizes.end())
        skip("the device has no sub-groups of 16, which the suite's kernel demands");
    const Program program = create_spirv(fixture.context(), spirv::sub_groups());
    require_success(piProgramBuild(program, nullptr), "piProgramBuild");
    const Kernel kernel = make_kernel(program, "sixteens");
    for (const pi_kernel_sub_group_info name :
         {PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE, PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE}) {
        uint32_t reported = poison<uint32_t>();
        require_success(piKernelGetSubGroupInfo(kernel, fixture.device(), name, sizeof reported,
                                                &reported, nullptr),
                        "sub-group info ", name);
        require_equal(reported, 16u, join("sub-group info ", name, " where 16 are demanded"));
    }
}

// ----- Parts -----

void need_link(Fixture &fixture) {
    need_spirv(fixture);
    fixture.need(PI_CAPABILITY_PROGRAM_LINK, "PI_CAPABILITY_PROGRAM_LINK");
}

Program link(pi_context context, const std::vector<pi_program> &parts) {
    auto desc = pi::desc<pi_program_link_desc>();
    desc.program_count = static_cast<uint32_t>(parts.size());
    desc.programs = parts.data();
    Program program;
    require_success(piProgramLink(context, &desc, program.out()), "piProgramLink");
    return program;
}

// Compiled, with this factor or, if it is 0, the default.
Program make_callee(Fixture &fixture, uint32_t factor) {
    Program callee = create_spirv(fixture.context(), spirv::callee());
    const pi_specialization_constant constant{1, 0, sizeof factor, &factor};
    if (factor != 0)
        require_success(piProgramSetSpecializationConstants(callee, 1, &constant),
                        "piProgramSetSpecializationConstants");
    require_success(piProgramCompile(callee, nullptr), "piProgramCompile of SPIR-V");
    return callee;
}

void require_changes(Fixture &fixture, pi_program program, uint32_t factor) {
    const Kernel kernel = make_kernel(program, "change");
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of({1, 2, 3, 4}));
    const Queue queue = fixture.make_queue();
    Arguments arguments;
    arguments.buffer(mem);
    fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 4)), "a launch of change");
    fixture.require_contents(queue, mem,
                             bytes_of({factor + 1, factor * 2 + 1, factor * 3 + 1, factor * 4 + 1}),
                             "what a linked kernel has made");
}

CONFORMANCE_TEST("program", "two parts in SPIR-V are compiled and linked to one program") {
    need_link(fixture);
    Program caller = create_spirv(fixture.context(), spirv::caller());
    require_equal(build_status(caller, fixture.device()), uint32_t{PI_PROGRAM_NOT_BUILT},
                  "the build status before compiling");
    require_success(piProgramCompile(caller, nullptr), "piProgramCompile of SPIR-V");
    Program callee = make_callee(fixture, 0);
    for (pi_program part : {caller.get(), callee.get()}) {
        require_equal(build_status(part, fixture.device()), uint32_t{PI_PROGRAM_COMPILED},
                      "the build status of a part");
        require_equal(
            get_info_list<pi_device>(&piProgramGetInfo, part, PI_PROGRAM_INFO_DEVICES).size(),
            std::size_t{0}, "the devices that a part is built for");
    }
    require_untouched<pi_kernel>(
        "a kernel of a part", {PI_ERROR_INVALID_OPERATION},
        [&](pi_kernel *out) { return piKernelCreate(caller, "change", nullptr, out); });
    const Program linked = link(fixture.context(), {caller, callee});
    require_equal(build_status(linked, fixture.device()), uint32_t{PI_PROGRAM_BUILT},
                  "the build status of what is linked");
    require_equal(
        get_info<pi_program_format>(&piProgramGetInfo, linked.get(), PI_PROGRAM_INFO_FORMAT),
        pi_program_format{PI_PROGRAM_FORMAT_SPIRV}, "the linked program's format");
    caller.reset();
    callee.reset();
    require_changes(fixture, linked, 3);
    require_error(piProgramCompile(linked, nullptr), PI_ERROR_INVALID_OPERATION,
                  "compiling what is linked");
    require_error(piProgramBuild(linked, nullptr), PI_ERROR_INVALID_OPERATION,
                  "building what is linked");
}

CONFORMANCE_TEST("program", "linking a part without a function that it calls fails") {
    need_link(fixture);
    const Program caller = create_spirv(fixture.context(), spirv::caller());
    require_success(piProgramCompile(caller, nullptr), "piProgramCompile of SPIR-V");
    const pi_program part = caller;
    auto desc = pi::desc<pi_program_link_desc>();
    desc.program_count = 1;
    desc.programs = &part;
    require_untouched<pi_program>(
        "linking without a function that is called", {PI_ERROR_BUILD_FAILED},
        [&](pi_program *out) { return piProgramLink(fixture.context(), &desc, out); });
    const Program callee = make_callee(fixture, 0);
    require_changes(fixture, link(fixture.context(), {caller, callee}), 3);
}

CONFORMANCE_TEST("program",
                 "a part is linked with the specialization constants that it was compiled with") {
    need_link(fixture);
    fixture.need(PI_CAPABILITY_SPECIALIZATION, "PI_CAPABILITY_SPECIALIZATION");
    const Program caller = create_spirv(fixture.context(), spirv::caller());
    require_success(piProgramCompile(caller, nullptr), "piProgramCompile of SPIR-V");
    const Program callee = make_callee(fixture, 7);
    const uint32_t late = 9;
    const pi_specialization_constant constant{1, 0, sizeof late, &late};
    require_success(piProgramSetSpecializationConstants(callee, 1, &constant),
                    "setting a constant after compiling");
    const Program first = link(fixture.context(), {caller, callee});
    require_changes(fixture, first, 7);
    require_error(piProgramSetSpecializationConstants(first, 1, &constant),
                  PI_ERROR_INVALID_OPERATION, "constants of what is linked");
    require_success(piProgramCompile(callee, nullptr), "compiling again");
    const Program second = link(fixture.context(), {callee, caller});
    require_changes(fixture, second, 9);
    require_changes(fixture, first, 7);
}

} // namespace
} // namespace pi::suite
