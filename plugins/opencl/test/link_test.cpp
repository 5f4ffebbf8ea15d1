// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties of linked programs that only OpenCL has: libraries, logs, and cl_programs compiled by
// the application.
#include "fixture.hpp"
#include "native.hpp"
#include "skip.hpp"

#include <algorithm>

using namespace opencl_test;

namespace {

constexpr const char *caller =
    "uint twice(uint i); kernel void set(global uint *p) { *p = twice(*p); }";
constexpr const char *callee = "uint twice(uint i) { return 2 * i; }";

Program create(pi_context context, const std::string &text) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_OPENCL_C;
    desc.data = text.data();
    desc.size = text.size();
    Program program;
    OK(piProgramCreate(context, &desc, program.out()));
    return program;
}
Program compile(pi_context context, const std::string &text) {
    Program program = create(context, text);
    OK(piProgramCompile(program, nullptr));
    return program;
}
pi_result link(pi_context context, const std::vector<pi_program> &parts, const char *options,
               pi_program *out) {
    auto desc = pi::desc<pi_program_link_desc>();
    desc.program_count = static_cast<uint32_t>(parts.size());
    desc.programs = parts.data();
    desc.options = options;
    return piProgramLink(context, &desc, out);
}
uint32_t status_of(pi_program program, pi_device device) {
    uint32_t status = 99;
    OK(piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_STATUS, sizeof status, &status,
                             nullptr));
    return status;
}
void check_doubles(const Place &place, pi_program program) {
    const Kernel kernel = make_kernel(program, "set");
    const Mem mem = place.buffer(4);
    set_contents(place.queue, mem, {21, 0, 0, 0});
    wait(launch(place.queue, kernel, 1, {buffer_argument(mem)}));
    CHECK(contents(place.queue, mem)[0] == 42);
}

} // namespace

TEST_CASE("parts are linked to a library, which can be a part") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Program part = compile(place.context, callee), user = compile(place.context, caller);
        Program library, program;
        OK(link(place.context, {part}, "-create-library", library.out()));
        CHECK(status_of(library, device) == PI_PROGRAM_COMPILED);
        refused(piKernelCreate(library, "set", nullptr, Kernel().out()), PI_ERROR_INVALID_OPERATION,
                {"only compiled"});
        refused(piProgramBuild(library, nullptr), PI_ERROR_INVALID_OPERATION, {"linked"});
        OK(link(place.context, {user, library}, nullptr, program.out()));
        check_doubles(place, program);
    }
}

TEST_CASE("a link that fails reports the driver's log, or that there is none") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Program user = compile(place.context, caller);
        Program program;
        refused(link(place.context, {user}, nullptr, program.out()), PI_ERROR_BUILD_FAILED,
                {"CL_LINK_PROGRAM_FAILURE",
                 platform_name_of(device) == "rusticl" ? "twice" : "no log"});
        const Program part = compile(place.context, callee), twin = compile(place.context, callee);
        refused(link(place.context, {user, part, twin}, nullptr, program.out()),
                PI_ERROR_BUILD_FAILED, {"CL_LINK_PROGRAM_FAILURE"});
    }
}

TEST_CASE("a cl_program compiled by the application can be a part") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        cl_int code = CL_SUCCESS;
        const char *text = callee;
        const ClProgram plain(
            clCreateProgramWithSource(vendor_of(place.context), 1, &text, nullptr, &code));
        cl_ok(code);
        cl_ok(clCompileProgram(plain, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
        const pi_native_desc desc = native_desc(plain);
        Program part, program;
        OK(piProgramCreateWithNativeHandle(place.context, &desc, part.out()));
        CHECK(status_of(part, device) == PI_PROGRAM_COMPILED);
        const Program user = compile(place.context, caller);
        OK(link(place.context, {user, part}, nullptr, program.out()));
        check_doubles(place, program);
    }
}

TEST_CASE("an application's cl_program that has kernels is not compiled, and is unchanged") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const char *text = "kernel void set(global uint *p) { *p *= 2; }";
        cl_int code = CL_SUCCESS;
        const ClProgram plain(
            clCreateProgramWithSource(vendor_of(place.context), 1, &text, nullptr, &code));
        cl_ok(code);
        cl_ok(clBuildProgram(plain, 0, nullptr, "-cl-kernel-arg-info", nullptr, nullptr));
        const ClKernel theirs(clCreateKernel(plain, "set", &code));
        cl_ok(code);
        const pi_native_desc desc = native_desc(plain);
        Program program;
        OK(piProgramCreateWithNativeHandle(place.context, &desc, program.out()));
        refused(piProgramCompile(program, nullptr), PI_ERROR_INVALID_OPERATION, {"has kernels"});
        CHECK(status_of(program, device) == PI_PROGRAM_BUILT);
        check_doubles(place, program);
    }
}

TEST_CASE("a program whose native handle has kernels is built as a new cl_program") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Program program =
            build(place.context, "kernel void set(global uint *p) { *p *= 2; }");
        cl_program before = vendor_of(program);
        cl_int code = CL_SUCCESS;
        const ClKernel theirs(clCreateKernel(before, "set", &code));
        cl_ok(code);
        OK(piProgramBuild(program, nullptr));
        CHECK(vendor_of(program) != before);
        check_doubles(place, program);
        cl_program of = nullptr;
        cl_ok(clGetKernelInfo(theirs, CL_KERNEL_PROGRAM, sizeof of, &of, nullptr));
        CHECK(of == before);
    }
}

// QUIRK_LINKS_FOR_ALL: without it the driver aborts.
TEST_CASE("PoCL: parts are linked for the second device, and never where the driver would abort") {
    Loader loader;
    std::vector<pi_device> devices;
    for (pi_device device : loader.devices())
        if (platform_name_of(device) == "Portable Computing Language")
            devices.push_back(device);
    if (devices.size() < 2)
        return pi_test::skip("needs POCL_DEVICES=\"pthread pthread\"");
    const Context context = make_context({devices[0], devices[1]});
    const Program user = compile(context, caller), part = compile(context, callee);
    const std::vector<pi_program> parts{user, part};
    auto desc = pi::desc<pi_program_link_desc>();
    desc.program_count = 2;
    desc.programs = parts.data();
    desc.device_count = 1;
    desc.devices = &devices[1];
    Program program;
    OK(piProgramLink(context, &desc, program.out()));
    CHECK(status_of(program, devices[0]) == PI_PROGRAM_NOT_BUILT);
    CHECK(status_of(program, devices[1]) == PI_PROGRAM_BUILT);
    cl_int code = CL_SUCCESS;
    const char *text = callee;
    const ClProgram plain(clCreateProgramWithSource(vendor_of(context), 1, &text, nullptr, &code));
    cl_ok(code);
    const cl_device_id second = vendor_of(devices[1]);
    cl_ok(clCompileProgram(plain, 1, &second, "", 0, nullptr, nullptr, nullptr, nullptr));
    const pi_native_desc native = native_desc(plain);
    Program another;
    OK(piProgramCreateWithNativeHandle(context, &native, another.out()));
    const std::vector<pi_program> mixed{user, another};
    desc.programs = mixed.data();
    refused(piProgramLink(context, &desc, program.out()), PI_ERROR_UNSUPPORTED_FEATURE,
            {"other devices"});
}
