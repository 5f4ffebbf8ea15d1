// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What programs of CUDA have, and those of OpenCL do not: variables, cooperative launches, and
// work-group memory without a parameter. The binaries are those of the simulated driver.
#include "kernels.hpp"

#include <array>

using namespace ur_test;

namespace {

Owned<ur_program_handle_t> made_of(const Machine &machine, const std::string &contents) {
    const std::string image =
        "PI simulated CUDA module 1\nlibrary " PI_TEST_CUDA_KERNELS "\n" + contents;
    std::vector<ur_device_handle_t> devices = machine.devices;
    std::vector<size_t> sizes(devices.size(), image.size());
    std::vector<const uint8_t *> binaries(devices.size(),
                                          reinterpret_cast<const uint8_t *>(image.data()));
    Owned<ur_program_handle_t> program;
    OK(ur().Program.pfnCreateWithBinary(machine.context, static_cast<uint32_t>(devices.size()),
                                        devices.data(), sizes.data(), binaries.data(), nullptr,
                                        program.out()));
    return program;
}

Owned<ur_program_handle_t> built_of(const Machine &machine, const std::string &contents) {
    auto program = made_of(machine, contents);
    OK(ur().Program.pfnBuild(machine.context, program, nullptr));
    return program;
}

constexpr const char *counter = "variable counter 16\nfunction read_counter pointer\n";

} // namespace

TEST_CASE("Variables of a program are written and read", "[global]") {
    const Machine machine(2);
    const auto program = built_of(machine, counter);
    const Words written{7, 8};
    OK(ur().Enqueue.pfnDeviceGlobalVariableWrite(machine.queue(), program, "counter", true, 8, 4,
                                                 written.data(), 0, nullptr, nullptr));
    const auto out = machine.buffer(16);
    OK(launch(machine.queue(), kernel_of(program, "read_counter"), 4,
              {buffer_at(0, out, UR_MEM_FLAG_WRITE_ONLY)}));
    CHECK(read_words(machine, out, 4) == Words{1, 7, 8, 4});

    Words read(4);
    Owned<ur_event_handle_t> end;
    OK(ur().Enqueue.pfnDeviceGlobalVariableRead(machine.queue(), program, "counter", false, 16, 0,
                                                read.data(), 0, nullptr, end.out()));
    const ur_event_handle_t wait = end;
    OK(ur().Event.pfnWait(1, &wait));
    CHECK(read == Words{2, 8, 9, 5});
    CHECK(info<ur_command_t>(ur().Event.pfnGetInfo, wait, UR_EVENT_INFO_COMMAND_TYPE) ==
          UR_COMMAND_DEVICE_GLOBAL_VARIABLE_READ);
    // The other device has its own.
    OK(ur().Enqueue.pfnDeviceGlobalVariableRead(machine.queue(1), program, "counter", true, 16, 0,
                                                read.data(), 0, nullptr, nullptr));
    CHECK(read == Words{1, 2, 3, 4});
}

TEST_CASE("Variables that do not exist are refused", "[global]") {
    const Machine machine;
    const auto unbuilt = made_of(machine, counter);
    const auto program = built_of(machine, counter);
    uint32_t word = 0;
    const auto read = [&](ur_program_handle_t of, const char *name, void *target) {
        return ur().Enqueue.pfnDeviceGlobalVariableRead(machine.queue(), of, name, true, 4, 0,
                                                        target, 0, nullptr, nullptr);
    };
    FAILS(INVALID_VALUE, read(program, "nowhere", &word));
    FAILS(INVALID_PROGRAM_EXECUTABLE, read(unbuilt, "counter", &word));
    FAILS(INVALID_NULL_POINTER, read(program, nullptr, &word));
    FAILS(INVALID_NULL_POINTER, read(program, "counter", nullptr));
    FAILS(INVALID_NULL_HANDLE, read(nullptr, "counter", &word));

    size_t size = 0;
    void *pointer = nullptr;
    const auto find = [&](ur_program_handle_t in, const char *name) {
        return ur().Program.pfnGetGlobalVariablePointer(machine.devices[0], in, name, &size,
                                                        &pointer);
    };
    OK(find(program, "counter"));
    CHECK(size == 16);
    CHECK(pointer != nullptr);
    FAILS(INVALID_VALUE, find(program, "nowhere"));
    FAILS(INVALID_PROGRAM_EXECUTABLE, find(unbuilt, "counter"));
}

TEST_CASE("A cooperative launch runs all groups at the same time", "[launch]") {
    const Machine machine;
    const auto kernel = kernel_of(built_of(machine, "function meet pointer\n"), "meet");
    const auto arrived = machine.buffer(Bytes(4));
    const size_t local = 64;
    uint32_t most = 0;
    OK(ur().Kernel.pfnSuggestMaxCooperativeGroupCount(kernel, machine.devices[0], 1, &local, 0,
                                                      &most));
    CHECK(most > 1);
    const ur_kernel_launch_ext_properties_t properties{
        UR_STRUCTURE_TYPE_KERNEL_LAUNCH_EXT_PROPERTIES, nullptr, UR_KERNEL_LAUNCH_FLAG_COOPERATIVE};
    OK(launch(machine.queue(), kernel, 4 * local, {buffer_at(0, arrived)}, &local, &properties));
    CHECK(read_words(machine, arrived, 1) == Words{4});
    FAILS(INVALID_WORK_GROUP_SIZE, launch(machine.queue(), kernel, (most + 1) * local,
                                          {buffer_at(0, arrived)}, &local, &properties));
}

TEST_CASE("Work-group memory without a parameter is a property", "[launch]") {
    const Machine machine;
    const auto kernel = kernel_of(
        built_of(machine, "function measure_shared pointer shared shared shared extern_shared\n"),
        "measure_shared");
    const auto out = machine.buffer(12);
    ur_kernel_launch_workgroup_property_t memory{UR_STRUCTURE_TYPE_KERNEL_LAUNCH_WORKGROUP_PROPERTY,
                                                 nullptr, 256};
    const ur_kernel_launch_ext_properties_t properties{
        UR_STRUCTURE_TYPE_KERNEL_LAUNCH_EXT_PROPERTIES, &memory, 0};
    OK(launch(machine.queue(), kernel, 1,
              {buffer_at(0, out), local_at(1, 16), local_at(2, 16), local_at(3, 16)}, nullptr,
              &properties));
    CHECK(read_words(machine, out, 1)[0] >= 256); // the arguments' memory is behind it
}

TEST_CASE("A module comes back from its native handle", "[program]") {
    const Machine machine;
    const auto program = built_of(machine, counter);
    ur_native_handle_t native = 0;
    OK(ur().Program.pfnGetNativeHandle(program, &native));
    Owned<ur_program_handle_t> again;
    OK(ur().Program.pfnCreateWithNativeHandle(native, machine.context, nullptr, again.out()));
    Words read(4);
    OK(ur().Enqueue.pfnDeviceGlobalVariableRead(machine.queue(), again, "counter", true, 16, 0,
                                                read.data(), 0, nullptr, nullptr));
    CHECK(read == Words{1, 2, 3, 4});
}

TEST_CASE("PTX and fat binaries are recognized", "[program]") {
    const Machine machine;
    // The simulated driver refuses them, but only as what they are.
    const auto create = [&](const std::string &text) {
        Owned<ur_program_handle_t> program;
        const size_t size = text.size();
        OK(ur().Program.pfnCreateWithIL(machine.context, text.data(), size, nullptr,
                                        program.out()));
        return program;
    };
    const auto ptx = create("//\n.version 7.0\n.target sm_50\n.address_size 64\n");
    FAILS(PROGRAM_BUILD_FAILURE, ur().Program.pfnBuild(machine.context, ptx, nullptr));
    create(std::string("\x50\xed\x55\xba\x01\x00\x10\x00", 8) + std::string(56, '\0'));
    const Bytes spirv{0x03, 0x02, 0x23, 0x07, 0, 0, 1, 0};
    ur_program_handle_t none = nullptr;
    FAILS(COMPILER_NOT_AVAILABLE, ur().Program.pfnCreateWithIL(machine.context, spirv.data(),
                                                               spirv.size(), nullptr, &none));
}
