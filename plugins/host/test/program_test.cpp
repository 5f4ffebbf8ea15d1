// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native tables and libraries as programs.
#include "native.hpp"

using namespace pi_test;

TEST_CASE("a program has the kernels of its table") {
    const Host host;
    const Owned<pi_program> program = make_program(host);
    CHECK(info<pi_program_format>(piProgramGetInfo, program, PI_PROGRAM_INFO_FORMAT) ==
          PI_PROGRAM_FORMAT_NATIVE_TABLE);
    const std::string names = info_text(piProgramGetInfo, program, PI_PROGRAM_INFO_KERNEL_NAMES);
    CHECK_THAT(names, Catch::StartsWith("add;"));
    uint64_t size = 0;
    OK(piProgramGetInfo(program, PI_PROGRAM_INFO_DEVICES, 0, nullptr, &size));
    CHECK(size == host.devices.size() * sizeof(pi_device));
    uint32_t status = 99;
    OK(piProgramGetBuildInfo(program, host.device, PI_PROGRAM_BUILD_INFO_STATUS, 4, &status,
                             nullptr));
    CHECK(status == PI_PROGRAM_BUILT);
    OK(piProgramGetBuildInfo(program, host.device, PI_PROGRAM_BUILD_INFO_LOG, 0, nullptr, &size));
    CHECK(size == 1);
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "no binaries",
            piProgramGetInfo(program, PI_PROGRAM_INFO_BINARY_SIZES, 0, nullptr, &size));
    const Owned<pi_kernel> kernel = make_kernel(program, "add");
    CHECK(info_text(piKernelGetInfo, kernel, PI_KERNEL_INFO_NAME) == "add");
    CHECK(info<uint32_t>(piKernelGetInfo, kernel, PI_KERNEL_INFO_ARGUMENT_COUNT) == 2);
    CHECK(info<pi_program>(piKernelGetInfo, kernel, PI_KERNEL_INFO_PROGRAM) == program);
    Owned<pi_kernel> none;
    REFUSED(PI_ERROR_INVALID_NAME, "no kernel \"sub\"; it has add;",
            piKernelCreate(program, "sub", nullptr, none.out()));
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "name",
            piKernelCreate(program, nullptr, nullptr, none.out()));
}

TEST_CASE("a program must be built before its kernels are made") {
    const Host host;
    const Owned<pi_program> program = make_unbuilt(host.context, table);
    Owned<pi_kernel> kernel;
    uint32_t status = 99;
    OK(piProgramGetBuildInfo(program, host.device, PI_PROGRAM_BUILD_INFO_STATUS, 4, &status,
                             nullptr));
    CHECK(status == PI_PROGRAM_NOT_BUILT);
    REFUSED(PI_ERROR_INVALID_OPERATION, "not built",
            piKernelCreate(program, "add", nullptr, kernel.out()));
    auto d = pi::desc<pi_program_build_desc>();
    d.options = "-O2";
    REFUSED(PI_ERROR_INVALID_VALUE, "-O2", piProgramBuild(program, &d));
    d.options = "";
    d.device_count = 1;
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "devices", piProgramBuild(program, &d));
    const pi_device null = nullptr;
    d.devices = &null;
    REFUSED(PI_ERROR_INVALID_DEVICE, "devices[0] is NULL", piProgramBuild(program, &d));
    d.devices = &host.device;
    OK(piProgramBuild(program, &d));
    OK(piKernelCreate(program, "add", nullptr, kernel.out()));
}

TEST_CASE("a bad table is refused") {
    const Host host;
    Owned<pi_program> out;
    const pi_native_function function = table_kernels[0].function;
    pi_native_kernel kernels[] = {{"one", function, 0, 0}, {"two", function, 0, 0}};
    pi_native_program program = {sizeof program, 2, kernels};
    auto d = pi::desc<pi_program_desc>();
    d.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    d.data = &program;
    d.size = sizeof program;
    const auto create = [&] { return piProgramCreate(host.context, &d, out.out()); };
    OK(create());
    kernels[1].name = "one";
    REFUSED(PI_ERROR_INVALID_BINARY, "kernels[1] \"one\" has the name", create());
    kernels[1].name = nullptr;
    REFUSED(PI_ERROR_INVALID_BINARY, "kernels[1] has no name", create());
    kernels[1].name = "";
    REFUSED(PI_ERROR_INVALID_BINARY, "has no name", create());
    kernels[1].name = "a;b";
    REFUSED(PI_ERROR_INVALID_BINARY, "';'", create());
    kernels[1] = {"two", nullptr, 0, 0};
    REFUSED(PI_ERROR_INVALID_BINARY, "kernels[1] \"two\" has no function", create());
    kernels[1] = {"two", function, 0, 1};
    REFUSED(PI_ERROR_INVALID_BINARY, "reserved", create());
    kernels[1] = {"two", function, 0, 0};
    for (uint64_t &word : kernels[1].reserved_words) {
        word = 1;
        REFUSED(PI_ERROR_INVALID_BINARY, "reserved", create());
        word = 0;
    }
    program.kernel_count = 0;
    REFUSED(PI_ERROR_INVALID_BINARY, "kernel_count 0", create());
    program.kernel_count = 2;
    program.kernels = nullptr;
    REFUSED(PI_ERROR_INVALID_BINARY, "kernels NULL", create());
    program.kernels = kernels;
    program.struct_size = 8;
    REFUSED(PI_ERROR_INVALID_SIZE, "struct_size", create());
    d.size = 8;
    REFUSED(PI_ERROR_INVALID_BINARY, "struct_size 8", create());
    d.size = 0;
    REFUSED(PI_ERROR_INVALID_SIZE, "size is 0", create());
    d.size = sizeof program;
    program.struct_size = sizeof program;
    d.data = nullptr;
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "data", create());
    d.data = &program;
    d.format = PI_PROGRAM_FORMAT_SPIRV;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "NATIVE_TABLE", create());
    d.format = 99;
    REFUSED(PI_ERROR_INVALID_ENUMERATION, "format is 99", create());
    d.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    OK(create());
}

TEST_CASE("a native library is a program") {
    const Host host;
    Owned<pi_program> program;
    auto d = pi::desc<pi_program_desc>();
    d.format = PI_PROGRAM_FORMAT_NATIVE_LIBRARY;
    const std::string path = PI_TEST_KERNELS;
    d.data = path.data();
    d.size = path.size();
    OK(piProgramCreate(host.context, &d, program.out()));
    OK(piProgramBuild(program, nullptr));
    Owned<pi_kernel> kernel = make_kernel(program, "scale");
    program.reset(); // the kernel keeps it, and its library open
    std::vector<uint32_t> data(1000);
    for (uint32_t i = 0; i < 1000; ++i)
        data[i] = i;
    const Owned<pi_mem> mem = host.make_import(data.data(), data.size() * 4);
    const uint32_t factor = 3;
    const pi_kernel_argument arguments[] = {buffer_argument(mem), value_argument(factor)};
    const auto launch = launch_desc(kernel, 1000, arguments, 2);
    const Owned<pi_queue> queue = host.make_queue();
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
    kernel.reset();
    OK(piQueueFinish(queue));
    CHECK(data[999] == 2997);
}

namespace {

Owned<pi_program> make_library(const Host &host) {
    auto d = pi::desc<pi_program_desc>();
    d.format = PI_PROGRAM_FORMAT_NATIVE_LIBRARY;
    const std::string path = PI_TEST_KERNELS;
    d.data = path.data();
    d.size = path.size();
    Owned<pi_program> program;
    OK(piProgramCreate(host.context, &d, program.out()));
    return program;
}

template <class Desc>
Desc global_desc(pi_program program, const char *name, void *host_ptr, uint64_t offset,
                 uint64_t size) {
    auto d = pi::desc<Desc>();
    d.program = program;
    d.name = name;
    d.host_ptr = host_ptr;
    d.offset = offset;
    d.size = size;
    return d;
}

} // namespace

TEST_CASE("a kernel's address is that of its function") {
    const Host host;
    const Owned<pi_program> program = make_unbuilt(host.context, table);
    uint64_t address = 0;
    REFUSED(PI_ERROR_INVALID_OPERATION, "not built",
            piProgramGetFunctionPointer(program, host.device, "add", &address));
    OK(piProgramBuild(program, nullptr));
    OK(piProgramGetFunctionPointer(program, host.device, "add", &address));
    CHECK(address == reinterpret_cast<uintptr_t>(table_kernels[0].function));
    REFUSED(PI_ERROR_INVALID_NAME, "no kernel \"sub\"",
            piProgramGetFunctionPointer(program, host.device, "sub", &address));
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "name",
            piProgramGetFunctionPointer(program, host.device, nullptr, &address));
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "out_address",
            piProgramGetFunctionPointer(program, host.device, "add", nullptr));
    void *pointer = nullptr;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "table of functions",
            piProgramGetGlobalVariablePointer(program, host.device, "add", &pointer, nullptr));
}

TEST_CASE("a library's variables are written, used by its kernels, and read") {
    const Host host;
    const Owned<pi_program> program = make_library(host);
    OK(piProgramBuild(program, nullptr));
    void *pointer = nullptr;
    uint64_t size = 0;
    OK(piProgramGetGlobalVariablePointer(program, host.device, "table", &pointer, &size));
    CHECK(size == 16);
    CHECK(static_cast<uint32_t *>(pointer)[3] == 4);

    const Owned<pi_queue> queue = host.make_queue();
    Owned<pi_event> gate, written, launched, read;
    OK(piEventCreateHost(host.context, nullptr, gate.out()));
    uint32_t fresh[2] = {50, 60};
    const auto write =
        global_desc<pi_device_global_write_desc>(program, "table", fresh, 4, sizeof fresh);
    const pi_event held = gate;
    OK(piEnqueueDeviceGlobalWrite(queue, &write, 1, &held, written.out()));
    const Owned<pi_kernel> kernel = make_kernel(program, "scale_by_table");
    uint32_t data[4] = {1, 1, 1, 1};
    const Owned<pi_mem> mem = host.make_import(data, sizeof data);
    const pi_kernel_argument arguments[] = {buffer_argument(mem)};
    const auto launch = launch_desc(kernel, 4, arguments, 1);
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, launched.out()));
    uint32_t seen[3] = {};
    const auto get =
        global_desc<pi_device_global_read_desc>(program, "table", seen, 4, sizeof seen);
    OK(piEnqueueDeviceGlobalRead(queue, &get, 0, nullptr, read.out()));
    CHECK(static_cast<uint32_t *>(pointer)[1] == 2); // nothing before the gate
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piEventWait(read, patience));
    CHECK((data[0] == 1 && data[1] == 50 && data[2] == 60 && data[3] == 4));
    CHECK((seen[0] == 50 && seen[1] == 60 && seen[2] == 4));
    uint32_t before[2] = {2, 3};
    auto restore = write;
    restore.host_ptr = before;
    restore.flags = PI_COMMAND_BLOCKING;
    OK(piEnqueueDeviceGlobalWrite(queue, &restore, 0, nullptr, nullptr));
}

TEST_CASE("a symbol that is not a variable of the library is refused by its name") {
    const Host host;
    const Owned<pi_program> program = make_library(host);
    OK(piProgramBuild(program, nullptr));
    const Owned<pi_queue> queue = host.make_queue();
    uint32_t word = 0;
    const auto read = [&](const char *name, uint64_t offset, uint64_t size) {
        const auto d = global_desc<pi_device_global_read_desc>(program, name, &word, offset, size);
        return piEnqueueDeviceGlobalRead(queue, &d, 0, nullptr, nullptr);
    };
    REFUSED(PI_ERROR_INVALID_NAME, "\"nothing\"", read("nothing", 0, 4));
    REFUSED(PI_ERROR_INVALID_NAME, "\"piNativeProgram\"", read("piNativeProgram", 0, 4));
    REFUSED(PI_ERROR_INVALID_NAME, "\"environ\"", read("environ", 0, 4)); // of another library
    REFUSED(PI_ERROR_INVALID_SIZE, "the variable, which has 16", read("table", 13, 4));
    REFUSED(PI_ERROR_INVALID_SIZE, "size is 0", read("table", 0, 0));
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "name", read(nullptr, 0, 4));
    OK(read("version", 0, 4));
    OK(piQueueFinish(queue));
    CHECK(word == 7);
    auto d = global_desc<pi_device_global_write_desc>(program, "version", &word, 0, 4);
    REFUSED(PI_ERROR_INVALID_OPERATION, "\"version\" is constant",
            piEnqueueDeviceGlobalWrite(queue, &d, 0, nullptr, nullptr));
    d.name = "table";
    d.host_ptr = nullptr;
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "host_ptr",
            piEnqueueDeviceGlobalWrite(queue, &d, 0, nullptr, nullptr));
}

TEST_CASE("a bad library is refused with the system's reason") {
    const Host host;
    Owned<pi_program> program;
    const auto load = [&](const std::string &path) {
        auto d = pi::desc<pi_program_desc>();
        d.format = PI_PROGRAM_FORMAT_NATIVE_LIBRARY;
        d.data = path.data();
        d.size = path.size();
        return piProgramCreate(host.context, &d, program.out());
    };
    REFUSED(PI_ERROR_INVALID_BINARY, "No such file", load("/nowhere/libkernels.so"));
    REFUSED(PI_ERROR_INVALID_BINARY, "invalid ELF header", load("/etc/passwd"));
    REFUSED(PI_ERROR_INVALID_BINARY, "exports no function piNativeProgram",
            load(PI_TEST_NO_KERNELS));
    REFUSED(PI_ERROR_INVALID_VALUE, "0 inside", load(std::string("a\0b", 3)));
}
