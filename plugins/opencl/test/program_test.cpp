// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

using namespace opencl_test;

namespace {

Program create(pi_context context, pi_program_format format, const void *data, uint64_t size) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = format;
    desc.data = data;
    desc.size = size;
    Program program;
    OK(piProgramCreate(context, &desc, program.out()));
    return program;
}

std::string build_text(pi_program program, pi_device device, pi_program_build_info name) {
    uint64_t size = 0;
    OK(piProgramGetBuildInfo(program, device, name, 0, nullptr, &size));
    std::string words(size, '\0');
    OK(piProgramGetBuildInfo(program, device, name, size, words.data(), nullptr));
    return words.c_str();
}
uint32_t build_status(pi_program program, pi_device device) {
    uint32_t status = 99;
    OK(piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_STATUS, sizeof status, &status,
                             nullptr));
    return status;
}

} // namespace

TEST_CASE("a program that does not compile says why, in the error and in the log") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const std::string bad = "kernel void k(global int *p) { *p = undeclared_thing; }";
        const Program program =
            create(place.context, PI_PROGRAM_FORMAT_OPENCL_C, bad.data(), bad.size());
        CHECK(build_status(program, device) == PI_PROGRAM_NOT_BUILT);
        refused(piProgramBuild(program, nullptr), PI_ERROR_BUILD_FAILED, {"undeclared_thing"});
        CHECK(build_status(program, device) == PI_PROGRAM_FAILED);
        CHECK_THAT(build_text(program, device, PI_PROGRAM_BUILD_INFO_LOG),
                   Catch::Contains("undeclared_thing"));
        Kernel kernel;
        refused(piKernelCreate(program, "k", nullptr, kernel.out()), PI_ERROR_INVALID_OPERATION,
                {"not built"});
    }
}

TEST_CASE("a built program reports its kernels, options and binaries") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Program program = build(place.context,
                                      "kernel void first(global int *p) { *p = VALUE; }\n"
                                      "kernel void second(int a, local float *b) {}",
                                      "-DVALUE=41");
        const std::string names =
            info_text(piProgramGetInfo, program, PI_PROGRAM_INFO_KERNEL_NAMES);
        CHECK_THAT(names,
                   Catch::Contains("first") && Catch::Contains(";") && Catch::Contains("second"));
        CHECK(build_text(program, device, PI_PROGRAM_BUILD_INFO_OPTIONS) == "-DVALUE=41");
        CHECK(build_status(program, device) == PI_PROGRAM_BUILT);
        CHECK(info<pi_device>(piProgramGetInfo, program, PI_PROGRAM_INFO_DEVICES) == device);
        Kernel kernel;
        refused(piKernelCreate(program, "third", nullptr, kernel.out()), PI_ERROR_INVALID_NAME,
                {"'third'", "first", "second"});
        const Kernel first = make_kernel(program, "first"), second = make_kernel(program, "second");
        CHECK(info_text(piKernelGetInfo, second, PI_KERNEL_INFO_NAME) == "second");
        CHECK(info<uint32_t>(piKernelGetInfo, second, PI_KERNEL_INFO_ARGUMENT_COUNT) == 2);
        CHECK(info<pi_program>(piKernelGetInfo, second, PI_KERNEL_INFO_PROGRAM) == program.get());

        const auto size = info<uint64_t>(piProgramGetInfo, program, PI_PROGRAM_INFO_BINARY_SIZES);
        REQUIRE(size > 0);
        std::vector<uint8_t> binary(size);
        uint8_t *target = binary.data();
        OK(piProgramGetInfo(program, PI_PROGRAM_INFO_BINARIES, sizeof target, &target, nullptr));
        if (!(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_PROGRAM_FORMATS) &
              1 << PI_PROGRAM_FORMAT_DEVICE_BINARY))
            continue;
        const Program again =
            create(place.context, PI_PROGRAM_FORMAT_DEVICE_BINARY, binary.data(), size);
        OK(piProgramBuild(again, nullptr));
        const Kernel copied = make_kernel(again, "first");
        const Mem out = place.buffer(4);
        int32_t value = 0;
        wait(launch(place.queue, copied, 1, {buffer_argument(out)}));
        wait(read(place.queue, out, &value, {range(0, 0, 4)}));
        CHECK(value == 41);
    }
}

TEST_CASE("bytes that are not a program are refused") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        auto desc = pi::desc<pi_program_desc>();
        const char noise[] = "no binary of any device";
        desc.data = noise;
        desc.size = sizeof noise;
        Program program;
        desc.format = PI_PROGRAM_FORMAT_DEVICE_BINARY;
        const bool binaries =
            info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_PROGRAM_FORMATS) &
            1 << PI_PROGRAM_FORMAT_DEVICE_BINARY;
        refused(piProgramCreate(place.context, &desc, program.out()),
                binaries ? PI_ERROR_INVALID_BINARY : PI_ERROR_UNSUPPORTED_FEATURE);
        desc.format = PI_PROGRAM_FORMAT_PTX;
        refused(piProgramCreate(place.context, &desc, program.out()), PI_ERROR_UNSUPPORTED_FEATURE,
                {"format is 4"});
        desc.format = 99;
        refused(piProgramCreate(place.context, &desc, program.out()), PI_ERROR_INVALID_ENUMERATION);
        desc.format = PI_PROGRAM_FORMAT_OPENCL_C;
        desc.data = nullptr;
        refused(piProgramCreate(place.context, &desc, program.out()), PI_ERROR_INVALID_NULL_POINTER,
                {"data"});
    }
}

TEST_CASE("parameters of the program's own types are recognised, whatever their names begin with") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Program program = build(place.context, R"(
            typedef struct { uint value; } image_info;
            typedef struct { uint value; } sampler_table;
            kernel void k(global image_info *p, image_info by_value, constant sampler_table *t) {
                p->value = by_value.value + t->value;
            })");
        const Kernel kernel = make_kernel(program, "k");
        const Mem mem = place.buffer(4), table = place.buffer(4);
        set_contents(place.queue, table, {3, 0, 0, 0});
        const uint32_t value = 4;
        const std::vector arguments{buffer_argument(mem), value_argument(value),
                                    buffer_argument(table)};
        wait(launch(place.queue, kernel, 1, arguments));
        CHECK(contents(place.queue, mem) == std::vector<uint8_t>{7, 0, 0, 0});
    }
}

TEST_CASE("variables of programs are refused where the driver gives no access to them") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const auto all = info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_CAPABILITIES);
        REQUIRE(!(all & PI_CAPABILITY_DEVICE_GLOBALS));
        const Place place(device);
        const Program program = build(place.context, "kernel void nothing() {}");
        const std::vector<std::string> why = {"clGetDeviceGlobalVariablePointerINTEL"};
        uint32_t word = 77;
        auto read = pi::desc<pi_device_global_read_desc>();
        read.program = program;
        read.name = "table";
        read.host_ptr = &word;
        read.size = sizeof word;
        refused(piEnqueueDeviceGlobalRead(place.queue, &read, 0, nullptr, nullptr),
                PI_ERROR_UNSUPPORTED_FEATURE, why);
        auto write = pi::desc<pi_device_global_write_desc>();
        write.program = program;
        write.name = "table";
        write.host_ptr = &word;
        write.size = sizeof word;
        refused(piEnqueueDeviceGlobalWrite(place.queue, &write, 0, nullptr, nullptr),
                PI_ERROR_UNSUPPORTED_FEATURE, why);
        uint64_t size = 0;
        refused(piProgramGetGlobalVariablePointer(program, device, "table", nullptr, &size),
                PI_ERROR_UNSUPPORTED_FEATURE, why);
        CHECK(word == 77);
    }
}
