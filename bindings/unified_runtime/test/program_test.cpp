// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels.hpp"

#include <array>

using namespace ur_test;

namespace {

template <class T>
std::vector<T> program_list(ur_program_handle_t program, ur_program_info_t name) {
    size_t size = 0;
    OK(ur().Program.pfnGetInfo(program, name, 0, nullptr, &size));
    std::vector<T> values(size / sizeof(T));
    if (size != 0) {
        OK(ur().Program.pfnGetInfo(program, name, size, values.data(), nullptr));
    }
    return values;
}

std::string program_text(ur_program_handle_t program, ur_program_info_t name) {
    const auto bytes = program_list<char>(program, name);
    REQUIRE(!bytes.empty());
    CHECK(bytes.back() == '\0');
    return bytes.data();
}

std::vector<Bytes> binaries_of(ur_program_handle_t program) {
    std::vector<Bytes> binaries;
    std::vector<uint8_t *> targets;
    for (const size_t size : program_list<size_t>(program, UR_PROGRAM_INFO_BINARY_SIZES)) {
        binaries.emplace_back(size);
    }
    for (Bytes &binary : binaries) {
        targets.push_back(binary.data());
    }
    OK(ur().Program.pfnGetInfo(program, UR_PROGRAM_INFO_BINARIES,
                               targets.size() * sizeof targets[0], targets.data(), nullptr));
    return binaries;
}

Owned<ur_program_handle_t> from_binaries(const Machine &machine, std::vector<Bytes> binaries) {
    std::vector<size_t> sizes;
    std::vector<const uint8_t *> pointers;
    for (const Bytes &binary : binaries) {
        sizes.push_back(binary.size());
        pointers.push_back(binary.data());
    }
    std::vector<ur_device_handle_t> devices = machine.devices;
    Owned<ur_program_handle_t> program;
    OK(ur().Program.pfnCreateWithBinary(machine.context, static_cast<uint32_t>(sizes.size()),
                                        devices.data(), sizes.data(), pointers.data(), nullptr,
                                        program.out()));
    return program;
}

void check_add(const Machine &machine, ur_program_handle_t program, size_t at = 0) {
    const auto kernel = kernel_of(program, "add");
    const auto buffer = machine.buffer(bytes_of({1, 2, 3, 4}));
    const uint32_t value = 10;
    OK(launch(machine.queue(at), kernel, 4, {buffer_at(0, buffer), value_at(1, value)}));
    CHECK(read_words(machine, buffer, 4, at) == Words{11, 12, 13, 14});
}

} // namespace

TEST_CASE("A program keeps its IL, and lists its devices", "[program]") {
    const Machine machine;
    const auto program = unbuilt_program(machine.context);
    CHECK(program_list<uint8_t>(program, UR_PROGRAM_INFO_IL) == module_bytes("kernels.spv"));
    CHECK(info<uint32_t>(ur().Program.pfnGetInfo, program.get(), UR_PROGRAM_INFO_NUM_DEVICES) == 1);
    CHECK(program_list<ur_device_handle_t>(program, UR_PROGRAM_INFO_DEVICES) == machine.devices);
    CHECK(info<ur_context_handle_t>(ur().Program.pfnGetInfo, program.get(),
                                    UR_PROGRAM_INFO_CONTEXT) == machine.context.get());
    CHECK(info<uint32_t>(ur().Program.pfnGetInfo, program.get(), UR_PROGRAM_INFO_REFERENCE_COUNT) ==
          1);
    size_t size = 0;
    FAILS(INVALID_PROGRAM_EXECUTABLE,
          ur().Program.pfnGetInfo(program, UR_PROGRAM_INFO_KERNEL_NAMES, 0, nullptr, &size));
    FAILS(INVALID_ENUMERATION,
          ur().Program.pfnGetInfo(program, UR_PROGRAM_INFO_FORCE_UINT32, 0, nullptr, &size));
}

TEST_CASE("A built program names its kernels and has a status", "[program]") {
    const Machine machine;
    const ur_device_handle_t device = machine.devices[0];
    const auto program = unbuilt_program(machine.context);
    const auto status = [&] {
        return build_info<ur_program_build_status_t>(program, device, UR_PROGRAM_BUILD_INFO_STATUS);
    };
    const auto type = [&] {
        return build_info<ur_program_binary_type_t>(program, device,
                                                    UR_PROGRAM_BUILD_INFO_BINARY_TYPE);
    };
    CHECK(status() == UR_PROGRAM_BUILD_STATUS_NONE);
    CHECK(type() == UR_PROGRAM_BINARY_TYPE_NONE);
    OK(ur().Program.pfnBuild(machine.context, program, "-cl-mad-enable"));
    CHECK(status() == UR_PROGRAM_BUILD_STATUS_SUCCESS);
    CHECK(type() == UR_PROGRAM_BINARY_TYPE_EXECUTABLE);
    CHECK(build_text(program, device, UR_PROGRAM_BUILD_INFO_OPTIONS) == "-cl-mad-enable");
    build_text(program, device, UR_PROGRAM_BUILD_INFO_LOG);
    const std::string names = ";" + program_text(program, UR_PROGRAM_INFO_KERNEL_NAMES) + ";";
    CHECK(names.find(";add;") != std::string::npos);
    CHECK(names.find(";nothing;") != std::string::npos);
    CHECK(info<size_t>(ur().Program.pfnGetInfo, program.get(), UR_PROGRAM_INFO_NUM_KERNELS) == 10);
    size_t size = 0;
    FAILS(INVALID_ENUMERATION,
          ur().Program.pfnGetBuildInfo(program, device, UR_PROGRAM_BUILD_INFO_FORCE_UINT32, 0,
                                       nullptr, &size));
}

TEST_CASE("A failed build has a code and a log", "[program]") {
    const Machine machine;
    const auto program = unbuilt_program(machine.context, "broken.spv");
    FAILS(PROGRAM_BUILD_FAILURE, ur().Program.pfnBuild(machine.context, program, nullptr));
    CHECK(build_info<ur_program_build_status_t>(program, machine.devices[0],
                                                UR_PROGRAM_BUILD_INFO_STATUS) ==
          UR_PROGRAM_BUILD_STATUS_ERROR);
    CHECK(!build_text(program, machine.devices[0], UR_PROGRAM_BUILD_INFO_LOG).empty());
}

TEST_CASE("A program is built for listed devices", "[program]") {
    if (lacks_devices(2)) {
        return;
    }
    const Machine machine(2);
    auto devices = machine.devices;
    const auto program = unbuilt_program(machine.context);
    OK(ur().ProgramExp.pfnBuildExp(program, 1, devices.data() + 1, 0, nullptr));
    check_add(machine, program, 1);
    OK(ur().ProgramExp.pfnBuildExp(program, 2, devices.data(), 0, nullptr));
    check_add(machine, program, 0);
    FAILS(INVALID_NULL_POINTER, ur().ProgramExp.pfnBuildExp(program, 1, nullptr, 0, nullptr));
    FAILS(INVALID_ENUMERATION,
          ur().ProgramExp.pfnBuildExp(program, 1, devices.data(), 1U << 5, nullptr));
    FAILS(UNSUPPORTED_FEATURE,
          ur().ProgramExp.pfnBuildExp(program, 1, devices.data(),
                                      UR_EXP_PROGRAM_FLAG_ALLOW_UNRESOLVED_SYMBOLS, nullptr));
}

TEST_CASE("A program is made of the binaries of another one", "[program]") {
    if (lacks_devices(2)) {
        return;
    }
    const Machine machine(2);
    const auto program = built_program(machine.context);
    const auto binaries = binaries_of(program);
    REQUIRE(binaries.size() == 2);
    const auto copy = from_binaries(machine, binaries);
    CHECK(binaries_of(copy) == binaries);
    CHECK(program_list<uint8_t>(copy, UR_PROGRAM_INFO_IL).empty());
    CHECK(build_info<ur_program_binary_type_t>(copy, machine.devices[0],
                                               UR_PROGRAM_BUILD_INFO_BINARY_TYPE) ==
          UR_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    OK(ur().Program.pfnBuild(machine.context, copy, nullptr));
    check_add(machine, copy, 0);
    check_add(machine, copy, 1);
}

TEST_CASE("A program with a binary for one device lists that device", "[program]") {
    if (lacks_devices(2)) {
        return;
    }
    const Machine machine(2);
    const auto program = from_binaries(machine, {binaries_of(built_program(machine.context))[0]});
    CHECK(program_list<ur_device_handle_t>(program, UR_PROGRAM_INFO_DEVICES) ==
          std::vector{machine.devices[0]});
    OK(ur().Program.pfnBuild(machine.context, program, nullptr));
    check_add(machine, program, 0);
}

TEST_CASE("Wrong binaries are refused", "[program]") {
    const Machine machine;
    ur_device_handle_t device = machine.devices[0];
    Bytes bytes = counting(5);
    const uint8_t *pointer = bytes.data();
    size_t size = bytes.size();
    ur_program_handle_t program = nullptr;
    const auto create = [&](uint32_t count, const uint8_t **pointers) {
        return ur().Program.pfnCreateWithBinary(machine.context, count, &device, &size, pointers,
                                                nullptr, &program);
    };
    FAILS(INVALID_BINARY, create(1, &pointer));
    FAILS(INVALID_SIZE, create(0, &pointer));
    FAILS(INVALID_NULL_POINTER, create(1, nullptr));
    pointer = nullptr;
    FAILS(INVALID_VALUE, create(1, &pointer));
}

TEST_CASE("Wrong IL and wrong properties are refused", "[program]") {
    const Machine machine;
    const Bytes il = module_bytes("kernels.spv");
    ur_program_handle_t program = nullptr;
    ur_program_properties_t properties{};
    const auto create = [&](const void *bytes, size_t size) {
        return ur().Program.pfnCreateWithIL(machine.context, bytes, size, &properties, &program);
    };
    FAILS(INVALID_NULL_POINTER, create(nullptr, 1));
    FAILS(INVALID_SIZE, create(il.data(), 0));
    FAILS(INVALID_BINARY, create(counting(5).data(), 5));
    properties.count = 1;
    FAILS(INVALID_NULL_POINTER, create(il.data(), il.size()));
    const ur_program_metadata_t metadata{};
    properties = {UR_STRUCTURE_TYPE_PROGRAM_PROPERTIES, nullptr, 0, &metadata};
    FAILS(INVALID_SIZE, create(il.data(), il.size()));
}

TEST_CASE("Compiled programs are linked", "[program]") {
    const Machine machine;
    const auto program = unbuilt_program(machine.context);
    OK(ur().Program.pfnCompile(machine.context, program, nullptr));
    CHECK(build_info<ur_program_binary_type_t>(program, machine.devices[0],
                                               UR_PROGRAM_BUILD_INFO_BINARY_TYPE) ==
          UR_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    const ur_program_handle_t input = program;
    Owned<ur_program_handle_t> linked;
    OK(ur().Program.pfnLink(machine.context, 1, &input, nullptr, linked.out()));
    check_add(machine, linked);
    auto device = machine.devices[0];
    OK(ur().ProgramExp.pfnLinkExp(machine.context, 1, &device, 0, 1, &input, nullptr,
                                  linked.out()));
    check_add(machine, linked);
}

TEST_CASE("A failed link leaves no program", "[program]") {
    const Machine machine;
    const auto program = unbuilt_program(machine.context, "broken.spv");
    OK(ur().Program.pfnCompile(machine.context, program, nullptr));
    const ur_program_handle_t input = program;
    ur_program_handle_t linked = program;
    FAILS(PROGRAM_LINK_FAILURE, ur().Program.pfnLink(machine.context, 1, &input, nullptr, &linked));
    CHECK(linked == nullptr);
    linked = program;
    FAILS(INVALID_SIZE, ur().Program.pfnLink(machine.context, 0, &input, nullptr, &linked));
    CHECK(linked == nullptr);
}

TEST_CASE("Specialization constants count for later builds", "[program]") {
    const Machine machine;
    const auto program = unbuilt_program(machine.context);
    uint32_t value = 1000;
    const auto set = [&](uint32_t id, size_t size, const void *bytes) {
        const ur_specialization_constant_info_t constant{id, size, bytes};
        return ur().Program.pfnSetSpecializationConstants(program, 1, &constant);
    };
    FAILS(INVALID_SPEC_ID, set(999, sizeof value, &value));
    FAILS(INVALID_VALUE, set(7, 2, &value));
    FAILS(INVALID_VALUE, set(7, sizeof value, nullptr));
    FAILS(INVALID_SIZE, ur().Program.pfnSetSpecializationConstants(
                            program, 0, std::array<ur_specialization_constant_info_t, 1>{}.data()));
    const auto result = [&] {
        OK(ur().Program.pfnBuild(machine.context, program, nullptr));
        const auto buffer = machine.buffer(4);
        OK(launch(machine.queue(), kernel_of(program, "constant_value"), 1,
                  {buffer_at(0, buffer, UR_MEM_FLAG_WRITE_ONLY)}));
        return read_words(machine, buffer, 1);
    };
    CHECK(result() == Words{42});
    OK(set(7, sizeof value, &value));
    CHECK(result() == Words{1000});
}

TEST_CASE("A program and a kernel come back from their native handles", "[program]") {
    const Programs &machine = programs();
    const Owned<ur_program_handle_t> &program = machine.program;
    ur_native_handle_t native = 0;
    OK(ur().Program.pfnGetNativeHandle(program, &native));
    CHECK(native != 0);
    Owned<ur_program_handle_t> again;
    OK(ur().Program.pfnCreateWithNativeHandle(native, machine.context, nullptr, again.out()));
    check_add(machine, again);

    const auto kernel = kernel_of(program, "nothing");
    OK(ur().Kernel.pfnGetNativeHandle(kernel, &native));
    const auto around = [&](ur_program_handle_t of) {
        Owned<ur_kernel_handle_t> made;
        OK(ur().Kernel.pfnCreateWithNativeHandle(native, machine.context, of, nullptr, made.out()));
        OK(launch(machine.queue(), made, 4, {}));
        OK(ur().Queue.pfnFinish(machine.queue()));
        return info<ur_program_handle_t>(ur().Kernel.pfnGetInfo, made.get(),
                                         UR_KERNEL_INFO_PROGRAM);
    };
    CHECK(around(program) == program.get());
    // Without a program one of the same native program is found.
    const ur_program_handle_t found = around(nullptr);
    CHECK((found == program.get() || found == again.get()));
}

TEST_CASE("Functions and variables that do not exist have no address", "[program]") {
    const Machine machine;
    const ur_device_handle_t device = machine.devices[0];
    const auto program = built_program(machine.context);
    void *pointer = nullptr;
    const ur_result_t function =
        ur().Program.pfnGetFunctionPointer(device, program, "nowhere", &pointer);
    CHECK((function == UR_RESULT_ERROR_INVALID_KERNEL_NAME ||
           function == UR_RESULT_ERROR_UNSUPPORTED_FEATURE));
    const ur_result_t variable =
        ur().Program.pfnGetGlobalVariablePointer(device, program, "nowhere", nullptr, &pointer);
    CHECK((variable == UR_RESULT_ERROR_INVALID_VALUE ||
           variable == UR_RESULT_ERROR_UNSUPPORTED_FEATURE));
    CHECK(pointer == nullptr);
    FAILS(INVALID_NULL_POINTER,
          ur().Program.pfnGetFunctionPointer(device, program, nullptr, &pointer));
}
