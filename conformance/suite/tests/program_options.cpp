// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the options with which programs are built.

#include "checks.hpp"
#include "fixture.hpp"
#include "launch_fixture.hpp"
#include "registry.hpp"

#include <cstring>

namespace pi::suite {
namespace {

pi_result build(pi_program program, const char *options) {
    auto desc = pi::desc<pi_program_build_desc>();
    desc.options = options;
    return piProgramBuild(program, &desc);
}

CONFORMANCE_TEST("program", "a program is built with its options, and reports them") {
    for (const uint32_t value : {41u, 42u}) {
        const Program program = create_valued(fixture);
        require_error(build(program, nullptr), PI_ERROR_BUILD_FAILED,
                      "building without a definition");
        std::string options = join("-DVALUE=", value);
        require_success(build(program, options.c_str()), "building with ", options);
        options.replace(0, options.size(), options.size(), '?'); // it was copied
        require_options(program, fixture.device(), join("-DVALUE=", value),
                        "the options that the program reports");
        const Kernel kernel = make_kernel(program, "set");
        const Queue queue = fixture.make_queue();
        const Mem mem = fixture.make_buffer(fixture.place(), bytes_of({0}));
        Arguments arguments;
        arguments.buffer(mem);
        fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 1)));
        fixture.require_contents(queue, mem, bytes_of({value}), "what the option says");
    }
}

CONFORMANCE_TEST("program", "existing kernels keep the options that they were built with") {
    const Program program = create_valued(fixture);
    const Queue queue = fixture.make_queue();
    const auto require_value = [&](pi_kernel kernel, uint32_t value) {
        const Mem mem = fixture.make_buffer(fixture.place(), bytes_of({0}));
        Arguments arguments;
        arguments.buffer(mem);
        fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 1)));
        fixture.require_contents(queue, mem, bytes_of({value}),
                                 join("what VALUE=", value, " makes"));
    };
    require_success(build(program, "-DVALUE=41"), "building");
    const Kernel first = make_kernel(program, "set");
    require_error(build(program, nullptr), PI_ERROR_BUILD_FAILED,
                  "building without a definition what has a kernel");
    require_untouched<pi_kernel>(
        "a kernel of what was built once, and then failed to", {PI_ERROR_INVALID_OPERATION},
        [&](pi_kernel *out) { return piKernelCreate(program, "set", nullptr, out); });
    uint32_t status = 0;
    require_success(piProgramGetBuildInfo(program, fixture.device(), PI_PROGRAM_BUILD_INFO_STATUS,
                                          sizeof status, &status, nullptr),
                    "PI_PROGRAM_BUILD_INFO_STATUS");
    require_equal(status, uint32_t{PI_PROGRAM_FAILED}, "the status after a build that failed");
    require_value(first, 41);
    require_error(build(program, "-DOTHER=1"), PI_ERROR_BUILD_FAILED,
                  "building with another definition");
    require_options(program, fixture.device(), "-DOTHER=1", "the options of a build that failed");
    require_success(build(program, "-DVALUE=42"), "building again, after a failure");
    const Kernel second = make_kernel(program, "set");
    require_value(second, 42);
    require_value(first, 41);
    if (fixture.can(PI_CAPABILITY_PROGRAM_LINK)) {
        auto desc = pi::desc<pi_program_build_desc>();
        desc.options = "-DVALUE=43";
        require_success(piProgramCompile(program, &desc), "compiling what has kernels");
        require_value(second, 42);
    }
}

CONFORMANCE_TEST("program", "an unknown option fails the build or is ignored") {
    const pi_program_desc desc = kernel_program_desc(kernel_format(fixture));
    Program program;
    require_success(piProgramCreate(fixture.context(), &desc, program.out()), "piProgramCreate");
    const pi_result result = build(program, "--no-such-option");
    if (result == PI_SUCCESS) {
        require_runs(fixture, program);
    } else {
        require_error(result, {PI_ERROR_INVALID_VALUE, PI_ERROR_BUILD_FAILED},
                      "building with an option that there is not");
        require_untouched<pi_kernel>(
            "a kernel of a program that failed to build", {PI_ERROR_INVALID_OPERATION},
            [&](pi_kernel *out) { return piKernelCreate(program, "add", nullptr, out); });
    }
    require_success(build(program, ""), "building with the options \"\"");
    require_options(program, fixture.device(), "", "the options after a build with none");
}

CONFORMANCE_TEST(
    "program", "a build accepts the backend's words for a front end's options, and reports them") {
    const pi_program_desc desc = kernel_program_desc(kernel_format(fixture));
    Program program;
    require_success(piProgramCreate(fixture.context(), &desc, program.out()), "piProgramCreate");
    bool any = false;
    for (const char *option : {"-O0", "-O1", "-O2", "-O3", "-g"}) {
        char words[256] = "";
        const pi_result result =
            piPlatformGetBackendOption(fixture.platform(), option, sizeof words, words, nullptr);
        if (result == PI_ERROR_UNSUPPORTED_FEATURE)
            skip("the plugin does not have piPlatformGetBackendOption");
        require_success(result, "piPlatformGetBackendOption of ", option);
        if (*words == '\0')
            continue;
        any = true;
        require_success(build(program, words), "building with ", words, ", which is ", option);
        require_options(program, fixture.device(), words, "the options of the build");
        const Kernel kernel = make_kernel(program, "add");
        const Queue queue = fixture.make_queue();
        const Mem mem = fixture.make_buffer(fixture.place(), bytes_of({1, 2, 3, 4}));
        Arguments arguments;
        arguments.buffer(mem).value(uint32_t{10});
        fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 4)));
        fixture.require_contents(queue, mem, bytes_of({11, 12, 13, 14}),
                                 join("what a kernel that was built with ", words, " has made"));
    }
    if (!any)
        skip("the backend has no words for the options -O0 to -O3 and -g");
}

} // namespace
} // namespace pi::suite
