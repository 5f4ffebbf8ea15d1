// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks.hpp"
#include "fixture.hpp"
#include "kernels.hpp"
#include "launch_fixture.hpp"
#include "library.hpp"
#include "native_kernels.hpp"
#include "partition.hpp"
#include "registry.hpp"

#include <cstring>
#include <set>

namespace pi::suite {
namespace {

std::string build_log(pi_program program, pi_device device) {
    uint64_t size = 0;
    require_success(
        piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_LOG, 0, nullptr, &size),
        "the size of the build log");
    std::string log(size, '\0');
    require_success(piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_LOG, size,
                                          log.data(), nullptr),
                    "the build log");
    return log.c_str();
}

Program create_program(pi_context context, const pi_program_desc &desc) {
    Program program;
    require_success(piProgramCreate(context, &desc, program.out()), "piProgramCreate");
    return program;
}
Program create_program(Fixture &fixture, const pi_program_desc &desc) {
    return create_program(fixture.context(), desc);
}

// The size of each of its binaries; skips the test where the plugin gives none.
std::vector<uint64_t> need_binary_sizes(pi_program program) {
    uint64_t size = 0;
    const pi_result asked =
        piProgramGetInfo(program, PI_PROGRAM_INFO_BINARY_SIZES, 0, nullptr, &size);
    if (asked == PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the plugin has no binaries");
    require_success(asked, "piProgramGetInfo(BINARY_SIZES)");
    return get_info_list<uint64_t>(&piProgramGetInfo, program, PI_PROGRAM_INFO_BINARY_SIZES);
}

bool takes_binaries(pi_device device) {
    return get_info<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_PROGRAM_FORMATS) >>
               PI_PROGRAM_FORMAT_DEVICE_BINARY &
           1;
}

pi_program_desc binary_desc(const Bytes &binary) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_DEVICE_BINARY;
    desc.data = binary.data();
    desc.size = binary.size();
    return desc;
}

// Builds again what has a kernel, and a launch of it under way.
void require_builds_again(Fixture &fixture, pi_program program) {
    const Kernel kernel = make_kernel(program, "add");
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of({1, 2, 3, 4}));
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{10});
    const pi_kernel_launch_desc launch = launch_desc(kernel, arguments, 4);
    const Event event = fixture.enqueue(queue, launch, {gate});
    fixture.signal_after(gate, [&] {
        for (int i = 0; i < 2; ++i) {
            require_success(piProgramBuild(program, nullptr), "building a program with a kernel");
            require_equal(build_status(program, fixture.device()), uint32_t{PI_PROGRAM_BUILT},
                          "the build status of a program that was built again");
            require_runs(fixture, program);
        }
    });
    fixture.wait(event, "a launch that was enqueued before its program was built again");
    fixture.wait(fixture.enqueue(queue, launch), "a launch of a kernel from before");
    fixture.require_contents(queue, mem, bytes_of({21, 22, 23, 24}),
                             "what two launches of a kernel from before have made");
    require(get_info<pi_program>(&piKernelGetInfo, kernel.get(), PI_KERNEL_INFO_PROGRAM) == program,
            "a kernel from before reports another program");
}

CONFORMANCE_TEST("program", "a program can be built again while it has kernels, which still run") {
    const Program program = make_program(fixture);
    require_builds_again(fixture, program);
}

CONFORMANCE_TEST("program", "a built program answers every info name by its type") {
    const Program program = make_program(fixture);
    check_info(
        "piProgramGetInfo",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piProgramGetInfo(program, name, size, value, out_size);
        },
        program_info_names());
}

CONFORMANCE_TEST("program", "a built program answers every build info name by its type") {
    const Program program = make_program(fixture);
    check_info(
        "piProgramGetBuildInfo",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piProgramGetBuildInfo(program, fixture.device(), name, size, value, out_size);
        },
        program_build_info_names());
}

CONFORMANCE_TEST("program",
                 "a program reports its context, its format and the devices that it is built for") {
    const pi_program_format format = kernel_format(fixture);
    const Program program = make_program(fixture);
    require(get_info<pi_context>(&piProgramGetInfo, program.get(), PI_PROGRAM_INFO_CONTEXT) ==
                fixture.context(),
            "the program reports another context");
    require_equal(
        get_info<pi_program_format>(&piProgramGetInfo, program.get(), PI_PROGRAM_INFO_FORMAT),
        format, "the program's format");
    const auto devices =
        get_info_list<pi_device>(&piProgramGetInfo, program.get(), PI_PROGRAM_INFO_DEVICES);
    require(devices == std::vector<pi_device>{fixture.device()},
            "the program is built for other devices than the context's one");
}

CONFORMANCE_TEST("program", "a program reports that it is built after its build, and not before") {
    const Program program = create_program(fixture, kernel_program_desc(kernel_format(fixture)));
    require_equal(build_status(program, fixture.device()), uint32_t{PI_PROGRAM_NOT_BUILT},
                  "the build status before the build");
    require_untouched<pi_kernel>(
        "a kernel of a program that is not built", {PI_ERROR_INVALID_OPERATION},
        [&](pi_kernel *out) { return piKernelCreate(program, "add", nullptr, out); });
    require_success(piProgramBuild(program, nullptr), "piProgramBuild");
    require_equal(build_status(program, fixture.device()), uint32_t{PI_PROGRAM_BUILT},
                  "the build status after the build");
    require_runs(fixture, program);
}

CONFORMANCE_TEST(
    "program", "a kernel's address is always the same, and that of an unknown kernel is refused") {
    const Program unbuilt = create_program(fixture, kernel_program_desc(kernel_format(fixture)));
    const Program program = make_program(fixture);
    uint64_t address = 0;
    const pi_result asked = piProgramGetFunctionPointer(program, fixture.device(), "add", &address);
    if (asked == PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the device has no addresses of functions");
    require_success(asked, "piProgramGetFunctionPointer");
    const auto ask = [&](pi_program of, const char *name) {
        uint64_t found = 0;
        require_success(piProgramGetFunctionPointer(of, fixture.device(), name, &found),
                        "the address of kernel ", name);
        require(found != 0, "the address of kernel ", name, " is 0");
        return found;
    };
    require_equal(ask(program, "add"), address, "the address of a kernel, asked again");
    require(ask(program, "visit") != address, "two kernels have one address");
    if (kernel_format(fixture) == PI_PROGRAM_FORMAT_NATIVE_TABLE)
        for (uint32_t i = 0; i < native_program.kernel_count; ++i)
            require_equal(ask(program, native_program.kernels[i].name),
                          reinterpret_cast<uintptr_t>(native_program.kernels[i].function),
                          join("the address of the function ", native_program.kernels[i].name));
    require_error(piProgramGetFunctionPointer(program, fixture.device(), "add", nullptr),
                  PI_ERROR_INVALID_NULL_POINTER,
                  "piProgramGetFunctionPointer with out_address NULL");
    const auto refused = [&](const char *what, pi_result error, pi_program of, pi_device device,
                             const char *name) {
        require_untouched<uint64_t>(what, {error}, [&](uint64_t *out) {
            return piProgramGetFunctionPointer(of, device, name, out);
        });
    };
    refused("the address of a kernel that there is not", PI_ERROR_INVALID_NAME, program,
            fixture.device(), "no_such_kernel");
    refused("the address of a kernel without a name", PI_ERROR_INVALID_NULL_POINTER, program,
            fixture.device(), nullptr);
    refused("the address of a kernel on no device", PI_ERROR_INVALID_DEVICE, program, nullptr,
            "add");
    refused("the address of a kernel of a program that is not built", PI_ERROR_INVALID_OPERATION,
            unbuilt, fixture.device(), "add");
}

CONFORMANCE_TEST("program", "a built program names its kernels") {
    const Program program = make_program(fixture);
    uint64_t size = 0;
    if (piProgramGetInfo(program, PI_PROGRAM_INFO_KERNEL_NAMES, 0, nullptr, &size) ==
        PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the plugin does not report the names of kernels");
    const auto names =
        get_info_list<char>(&piProgramGetInfo, program.get(), PI_PROGRAM_INFO_KERNEL_NAMES);
    std::set<std::string> reported;
    std::string name;
    for (const char c : names) {
        if (c != ';' && c != '\0') {
            name += c;
            continue;
        }
        require(reported.insert(name).second, "the kernel \"", name, "\" is named twice");
        name.clear();
    }
    require(reported == std::set<std::string>{"add", "butterfly", "combine", "follow", "is_null",
                                              "reverse", "visit"},
            "the kernel names are \"", names.data(),
            "\", should be add, butterfly, combine, follow, is_null, reverse and visit with ';' "
            "between");
}

CONFORMANCE_TEST("program", "a program that does not compile fails to build, with a log") {
    const pi_program_format format = kernel_format(fixture);
    if (format == PI_PROGRAM_FORMAT_NATIVE_TABLE)
        skip("the device compiles no text");
    const Program program = create_program(fixture, broken_program_desc(format));
    require_error(piProgramBuild(program, nullptr), PI_ERROR_BUILD_FAILED,
                  "building a program that is no C");
    require_equal(build_status(program, fixture.device()), uint32_t{PI_PROGRAM_FAILED},
                  "the build status after a failed build");
    require(build_log(program, fixture.device()).size() > 10, "the log of a failed build is \"",
            build_log(program, fixture.device()), "\"");
    require_untouched<pi_kernel>(
        "a kernel of a program that failed to build",
        {PI_ERROR_INVALID_OPERATION, PI_ERROR_INVALID_PROGRAM, PI_ERROR_BUILD_FAILED},
        [&](pi_kernel *out) { return piKernelCreate(program, "broken", nullptr, out); });
}

CONFORMANCE_TEST("program", "an invalid native table is an invalid binary") {
    fixture.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM");
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_PROGRAM_FORMATS);
    if ((formats & (1u << PI_PROGRAM_FORMAT_NATIVE_TABLE)) == 0)
        skip("the device does not run native tables");
    const pi_program_desc broken = broken_program_desc(PI_PROGRAM_FORMAT_NATIVE_TABLE);
    require_untouched<pi_program>(
        "a native table whose struct_size is 4", {PI_ERROR_INVALID_BINARY, PI_ERROR_INVALID_SIZE},
        [&](pi_program *out) { return piProgramCreate(fixture.context(), &broken, out); });
    pi_program_desc wrong_size = kernel_program_desc(PI_PROGRAM_FORMAT_NATIVE_TABLE);
    wrong_size.size -= 1;
    require_untouched<pi_program>(
        "a native table whose size is not its struct_size",
        {PI_ERROR_INVALID_BINARY, PI_ERROR_INVALID_SIZE},
        [&](pi_program *out) { return piProgramCreate(fixture.context(), &wrong_size, out); });
}

// Refused when the program is created, or at the latest when it is built.
void require_invalid_binary(Fixture &fixture, const std::string &what, pi_program_format format,
                            const void *data, uint64_t size) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = format;
    desc.data = data;
    desc.size = size;
    const std::string text = join("a program of format ", format, ", of ", what);
    Program program;
    const pi_result created = piProgramCreate(fixture.context(), &desc, program.out());
    if (created != PI_SUCCESS)
        return require_error(created, PI_ERROR_INVALID_BINARY, text);
    require_error(piProgramBuild(program, nullptr),
                  {PI_ERROR_INVALID_BINARY, PI_ERROR_BUILD_FAILED}, "building ", text);
}

CONFORMANCE_TEST("program", "bytes that are not of their format make no program that is built") {
    fixture.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM");
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_PROGRAM_FORMATS);
    Bytes random = fixture.random_bytes(256);
    for (std::byte &byte : random)
        byte |= std::byte{1}; // a path has no 0
    const std::string words = "these words are no program";
    bool any = false;
    for (const pi_program_format format :
         {PI_PROGRAM_FORMAT_OPENCL_C, PI_PROGRAM_FORMAT_SPIRV, PI_PROGRAM_FORMAT_PTX,
          PI_PROGRAM_FORMAT_CUBIN, PI_PROGRAM_FORMAT_CUDA_C, PI_PROGRAM_FORMAT_DEVICE_BINARY,
          PI_PROGRAM_FORMAT_NATIVE_LIBRARY}) {
        if ((formats >> format & 1) == 0)
            continue;
        any = true;
        require_invalid_binary(fixture, "random bytes", format, random.data(), random.size());
        require_invalid_binary(fixture, "words", format, words.data(), words.size());
        require_invalid_binary(fixture, "one byte", format, words.data(), 1);
    }
    if (!any)
        skip("the device runs native tables only");
}

CONFORMANCE_TEST("program", "the path of a native library is copied, and ends at its size") {
    fixture.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM");
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_PROGRAM_FORMATS);
    if ((formats >> PI_PROGRAM_FORMAT_NATIVE_LIBRARY & 1) == 0)
        skip("the device runs no native libraries");
    const std::string path = suite_library(PI_SUITE_KERNELS_LIBRARY);
    std::string text = path + ".behind";
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_NATIVE_LIBRARY;
    desc.data = text.data();
    desc.size = path.size();
    const Program program = create_program(fixture, desc);
    std::fill(text.begin(), text.end(), '?');
    require_success(piProgramBuild(program, nullptr), "building a native library");
    require_runs(fixture, program);
    const std::string no_file = path + ".none";
    require_invalid_binary(fixture, "a path at which there is no file",
                           PI_PROGRAM_FORMAT_NATIVE_LIBRARY, no_file.data(), no_file.size());
    // Any library without piNativeProgram, and a file that is no library.
    for (const std::string file : {"libm.so.6", "/etc/passwd"})
        require_invalid_binary(fixture, "the path " + file, PI_PROGRAM_FORMAT_NATIVE_LIBRARY,
                               file.data(), file.size());
}

CONFORMANCE_TEST("program",
                 "a program that is not built, or failed to build, reports what it is made of") {
    const pi_program_format format = kernel_format(fixture);
    const auto require_reported = [&](pi_program program, const std::string &what) {
        require(get_info<pi_context>(&piProgramGetInfo, program, PI_PROGRAM_INFO_CONTEXT) ==
                    fixture.context(),
                what, " reports another context");
        require_equal(
            get_info<pi_program_format>(&piProgramGetInfo, program, PI_PROGRAM_INFO_FORMAT), format,
            what + ": its format");
        require_equal(
            get_info_list<pi_device>(&piProgramGetInfo, program, PI_PROGRAM_INFO_DEVICES).size(),
            std::size_t{0}, what + ": the number of devices that it is built for");
        build_log(program, fixture.device());
    };
    const Program unbuilt = create_program(fixture, kernel_program_desc(format));
    require_reported(unbuilt, "a program that is not built");
    if (fixture.can(PI_CAPABILITY_PROGRAM_LINK) && piProgramCompile(unbuilt, nullptr) == PI_SUCCESS)
        require_reported(unbuilt, "a program that is compiled");
    if (format == PI_PROGRAM_FORMAT_NATIVE_TABLE)
        return; // compiles no text
    const Program failed = create_program(fixture, broken_program_desc(format));
    require_error(piProgramBuild(failed, nullptr), PI_ERROR_BUILD_FAILED,
                  "building a program that is no C");
    require_reported(failed, "a program that failed to build");
}

CONFORMANCE_TEST("program",
                 "unknown formats, and formats that the device does not run, are refused") {
    fixture.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM");
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_PROGRAM_FORMATS);
    const Bytes data(64);
    auto desc = pi::desc<pi_program_desc>();
    desc.data = data.data();
    desc.size = data.size();
    const auto create = [&](pi_program *out) {
        return piProgramCreate(fixture.context(), &desc, out);
    };
    for (desc.format = PI_PROGRAM_FORMAT_OPENCL_C; desc.format <= PI_PROGRAM_FORMAT_NATIVE_LIBRARY;
         ++desc.format) {
        if ((formats & (1u << desc.format)) == 0)
            require_untouched<pi_program>(
                join("a program of format ", desc.format, ", which the device does not run"),
                {PI_ERROR_UNSUPPORTED_FEATURE}, create);
    }
    for (const uint32_t unknown : {0u, 1000u}) {
        desc.format = unknown;
        require_untouched<pi_program>(join("a program of the format ", unknown),
                                      {PI_ERROR_INVALID_ENUMERATION}, create);
    }
}

CONFORMANCE_TEST("program",
                 "a format that the device reports is accepted, or the bytes are invalid") {
    fixture.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM");
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_PROGRAM_FORMATS);
    static constexpr pi_native_program no_kernels = {sizeof no_kernels, 0, nullptr};
    constexpr char text[] = "these are no bytes of any format";
    for (pi_program_format format = PI_PROGRAM_FORMAT_OPENCL_C;
         format <= PI_PROGRAM_FORMAT_NATIVE_LIBRARY; ++format) {
        if ((formats & (1u << format)) == 0)
            continue;
        auto desc = pi::desc<pi_program_desc>();
        desc.format = format;
        desc.data = text;
        desc.size = sizeof text - 1;
        if (format == PI_PROGRAM_FORMAT_NATIVE_TABLE) {
            desc.data = &no_kernels;
            desc.size = sizeof no_kernels;
        }
        const pi_result result = try_create<pi_program>(
            [&](pi_program *out) { return piProgramCreate(fixture.context(), &desc, out); });
        if (result != PI_SUCCESS)
            require_error(result, {PI_ERROR_INVALID_BINARY, PI_ERROR_BUILD_FAILED},
                          "a program of format ", format, ", which the device reports");
    }
}

CONFORMANCE_TEST("program", "a program without bytes is refused") {
    pi_program_desc desc = kernel_program_desc(kernel_format(fixture));
    const auto create = [&](pi_program *out) {
        return piProgramCreate(fixture.context(), &desc, out);
    };
    const void *data = std::exchange(desc.data, nullptr);
    require_untouched<pi_program>("a program with data NULL", {PI_ERROR_INVALID_NULL_POINTER},
                                  create);
    desc.data = data;
    desc.size = 0;
    require_untouched<pi_program>("a program with size 0",
                                  {PI_ERROR_INVALID_SIZE, PI_ERROR_INVALID_BINARY}, create);
}

CONFORMANCE_TEST("program", "a program's text is copied, and ends at its size") {
    const pi_program_format format = kernel_format(fixture);
    if (format == PI_PROGRAM_FORMAT_NATIVE_TABLE)
        skip("a native table is borrowed, not copied");
    pi_program_desc desc = kernel_program_desc(format);
    std::string text(static_cast<const char *>(desc.data), desc.size);
    text += " this is no C";
    desc.data = text.data();
    const Program program = create_program(fixture, desc);
    std::memset(text.data(), '?', text.size());
    require_success(piProgramBuild(program, nullptr), "building a program whose text is gone");
    require_runs(fixture, program);
}

CONFORMANCE_TEST("program", "the descriptors of programs obey the rules of descriptors") {
    const pi_program_desc valid = kernel_program_desc(kernel_format(fixture));
    check_descriptor("piProgramCreate", valid, offsetof(pi_program_desc, flags),
                     [&](const pi_program_desc *desc) {
                         return try_create<pi_program>([&](pi_program *out) {
                             return piProgramCreate(fixture.context(), desc, out);
                         });
                     });
    require_error(piProgramCreate(fixture.context(), &valid, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piProgramCreate with out_program NULL");
    check_descriptor(
        "piProgramBuild", pi::desc<pi_program_build_desc>(), offsetof(pi_program_build_desc, flags),
        [&](const pi_program_build_desc *desc) {
            const Program program = create_program(fixture, valid);
            return piProgramBuild(program, desc);
        },
        true);
}

CONFORMANCE_TEST("program", "a program is built for devices of its context only") {
    const Program program = create_program(fixture, kernel_program_desc(kernel_format(fixture)));
    auto desc = pi::desc<pi_program_build_desc>();
    desc.device_count = 1;
    require_error(piProgramBuild(program, &desc), PI_ERROR_INVALID_NULL_POINTER,
                  "building for one device at NULL");
    const pi_device null_device = nullptr;
    desc.devices = &null_device;
    require_error(piProgramBuild(program, &desc), PI_ERROR_INVALID_DEVICE,
                  "building for the device NULL");
    const SeveralDevices devices(fixture);
    if (devices.size() > 1 && fixture.can(PI_CAPABILITY_PROGRAM, devices[1])) {
        desc.devices = &devices[1];
        require_error(piProgramBuild(program, &desc), PI_ERROR_INVALID_DEVICE,
                      "building for a device that is not of the context");
    }
    const pi_device own = fixture.device();
    const pi_device twice[] = {own, own};
    desc.device_count = 2;
    desc.devices = twice;
    require_error(piProgramBuild(program, &desc), PI_ERROR_INVALID_DEVICE,
                  "building for one device twice");
    require_equal(build_status(program, own), uint32_t{PI_PROGRAM_NOT_BUILT},
                  "the build status after no build");
    desc.device_count = 1;
    desc.devices = &own;
    require_success(piProgramBuild(program, &desc), "building for the context's device");
    require_runs(fixture, program);
}

CONFORMANCE_TEST("program", "a list of no devices to build for is not read") {
    const Program program = create_program(fixture, kernel_program_desc(kernel_format(fixture)));
    auto desc = pi::desc<pi_program_build_desc>();
    desc.devices = nowhere<const pi_device>();
    require_success(piProgramBuild(program, &desc),
                    "building with a device_count of 0 and devices that are not NULL");
    require_runs(fixture, program);
}

CONFORMANCE_TEST("program", "a program reports that it is built for one of two devices") {
    const BuiltForSecond built(fixture);
    require_equal(build_status(built.program, built.second()), uint32_t{PI_PROGRAM_BUILT},
                  "the build status on the device it is built for");
    require_equal(build_status(built.program, built.first()), uint32_t{PI_PROGRAM_NOT_BUILT},
                  "the build status on the other device");
    require(
        get_info_list<pi_device>(&piProgramGetInfo, built.program.get(), PI_PROGRAM_INFO_DEVICES) ==
            std::vector<pi_device>{built.second()},
        "PI_PROGRAM_INFO_DEVICES is not the one that it is built for");
}

CONFORMANCE_TEST("program", "a program's binary makes the program again") {
    fixture.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM");
    const Program program = make_program(fixture);
    const std::vector<uint64_t> sizes = need_binary_sizes(program);
    require_equal(sizes.size(), std::size_t{1}, "how many binaries a program of one device has");
    require(sizes[0] != 0, "the binary has no bytes");
    Bytes binary(sizes[0]);
    auto *pointer = reinterpret_cast<uint8_t *>(binary.data());
    require_success(
        piProgramGetInfo(program, PI_PROGRAM_INFO_BINARIES, sizeof pointer, &pointer, nullptr),
        "PI_PROGRAM_INFO_BINARIES");
    if (!takes_binaries(fixture.device()))
        skip("the device has binaries, but accepts none");
    const Program again = create_program(fixture, binary_desc(binary));
    if (fixture.can(PI_CAPABILITY_PROGRAM_LINK))
        require_error(piProgramCompile(again, nullptr), PI_ERROR_INVALID_OPERATION,
                      "compiling a binary");
    require_success(piProgramBuild(again, nullptr), "building a program of a binary");
    require_runs(fixture, again);
    require_builds_again(fixture, again);
    // Some have no use for options.
    auto nonsense = pi::desc<pi_program_build_desc>();
    nonsense.options = "--no-such-option";
    for (int i = 0; i < 2; ++i) {
        if (const pi_result built = piProgramBuild(again, &nonsense); built != PI_SUCCESS)
            require_error(built, {PI_ERROR_INVALID_VALUE, PI_ERROR_BUILD_FAILED},
                          "building a binary with an option that there is not");
        require_success(piProgramBuild(again, nullptr), "building a binary after that");
        require_runs(fixture, again);
    }
}

CONFORMANCE_TEST("program",
                 "a program of two devices has a binary for each of them, in their order") {
    const SeveralDevices devices(fixture);
    if (devices.size() < 2)
        skip("the platform has one device, which has no parts");
    const pi_program_format format = kernel_format(fixture);
    if (kernel_format(fixture, devices[1]) != format)
        skip("the devices run programs of different formats");
    const Context context = fixture.make_context({devices[0], devices[1]});
    const Program program = create_program(context, kernel_program_desc(format));
    require_success(piProgramBuild(program, nullptr), "building for two devices");
    const std::vector<uint64_t> sizes = need_binary_sizes(program);
    const auto built =
        get_info_list<pi_device>(&piProgramGetInfo, program.get(), PI_PROGRAM_INFO_DEVICES);
    require_equal(built.size(), std::size_t{2}, "the number of devices that the program reports");
    require_equal(sizes.size(), std::size_t{2}, "how many binaries a program of two devices has");
    std::vector<Bytes> binaries;
    std::vector<uint8_t *> pointers;
    for (const uint64_t size : sizes)
        binaries.emplace_back(size, std::byte{0xA5});
    for (Bytes &binary : binaries)
        pointers.push_back(reinterpret_cast<uint8_t *>(binary.data()));
    require_error(piProgramGetInfo(program, PI_PROGRAM_INFO_BINARIES, sizeof(uint8_t *),
                                   pointers.data(), nullptr),
                  PI_ERROR_INVALID_SIZE, "PI_PROGRAM_INFO_BINARIES with room for one of two");
    for (std::size_t i = 0; i < 2; ++i)
        require(binaries[i] == Bytes(sizes[i], std::byte{0xA5}),
                "PI_PROGRAM_INFO_BINARIES failed, but wrote binary ", i);
    require_success(piProgramGetInfo(program, PI_PROGRAM_INFO_BINARIES, 2 * sizeof(uint8_t *),
                                     pointers.data(), nullptr),
                    "PI_PROGRAM_INFO_BINARIES");
    for (std::size_t i = 0; i < 2; ++i) {
        if (!takes_binaries(built[i]))
            continue;
        const Context own = fixture.make_context({built[i]});
        const Program again = create_program(own, binary_desc(binaries[i]));
        require_success(piProgramBuild(again, nullptr), "building a program of binary ", i);
        require_runs(fixture, again, {built[i], own});
    }
}

CONFORMANCE_TEST("program", "programs may be built from many threads at once") {
    const pi_program_desc desc = kernel_program_desc(kernel_format(fixture));
    const pi_context context = fixture.context();
    fixture.run_threads(4, [&](unsigned) {
        Program program;
        require_success(piProgramCreate(context, &desc, program.out()), "piProgramCreate");
        require_success(piProgramBuild(program, nullptr), "piProgramBuild");
        require(make_kernel(program, "add").get() != nullptr, "there is no kernel add");
    });
}

CONFORMANCE_TEST("program", "a program is built for each device that is listed, in any order") {
    const TwoDevices two(fixture);
    const pi_program_format format = kernel_format(fixture);
    need_program_format(fixture, format, two.devices[1]);
    const Context context = fixture.make_context(two.devices);
    const pi_device reversed[] = {two.devices[1], two.devices[0]};
    const Program program = create_program(context, kernel_program_desc(format));
    auto desc = pi::desc<pi_program_build_desc>();
    desc.device_count = 2;
    desc.devices = reversed;
    require_success(piProgramBuild(program, &desc), "building for two listed devices");
    for (const pi_device device : two.devices) {
        require_equal(build_status(program, device), uint32_t{PI_PROGRAM_BUILT},
                      "the build status on a listed device");
        require_runs(fixture, program, {device, context});
    }
}

} // namespace
} // namespace pi::suite
