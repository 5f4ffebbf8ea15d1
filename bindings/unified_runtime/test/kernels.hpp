// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of kernels.cl, and launches.
#pragma once

#include "adapter.hpp"
#include "skip.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace ur_test {

/// A module of the folder of compiled kernels.
inline Bytes module_bytes(const std::string &name) {
    std::ifstream file(PI_TEST_UR_MODULES "/" + name, std::ios::binary);
    Bytes bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    REQUIRE(!bytes.empty());
    return bytes;
}

inline Owned<ur_program_handle_t> unbuilt_program(ur_context_handle_t context,
                                                  const std::string &name = "kernels.spv") {
    const Bytes il = module_bytes(name);
    Owned<ur_program_handle_t> program;
    OK(ur().Program.pfnCreateWithIL(context, il.data(), il.size(), nullptr, program.out()));
    return program;
}

inline Owned<ur_program_handle_t> built_program(ur_context_handle_t context) {
    auto program = unbuilt_program(context);
    OK(ur().Program.pfnBuild(context, program, nullptr));
    return program;
}

template <class T>
T build_info(ur_program_handle_t program, ur_device_handle_t device, ur_program_build_info_t name) {
    return info<T>(ur().Program.pfnGetBuildInfo, program, device, name);
}

inline std::string build_text(ur_program_handle_t program, ur_device_handle_t device,
                              ur_program_build_info_t name) {
    size_t size = 0;
    OK(ur().Program.pfnGetBuildInfo(program, device, name, 0, nullptr, &size));
    REQUIRE(size > 0);
    std::string text(size, 'x');
    OK(ur().Program.pfnGetBuildInfo(program, device, name, size, text.data(), nullptr));
    CHECK(text.back() == '\0');
    return text.c_str();
}

inline Owned<ur_kernel_handle_t> kernel_of(ur_program_handle_t program, const char *name) {
    Owned<ur_kernel_handle_t> kernel;
    INFO(name);
    OK(ur().Kernel.pfnCreate(program, name, kernel.out()));
    return kernel;
}

/// A machine with a program of kernels.cl.
struct Programs : Machine {
    explicit Programs(size_t count = 1) : Machine(count), program(built_program(context)) {}
    Owned<ur_kernel_handle_t> kernel(const char *name) const { return kernel_of(program, name); }

    Owned<ur_program_handle_t> program;
};

/// The one that all tests share which do not change it: builds take long.
inline const Programs &programs() {
    static const Programs &machine = *new Programs; // drivers end before static objects
    return machine;
}

/// Whether there are fewer devices; then the test is skipped.
inline bool lacks_devices(size_t count) {
    const bool lacks = all_devices().size() < count;
    if (lacks) {
        pi_test::skip("needs " + std::to_string(count) + " devices");
    }
    return lacks;
}

// ----- Arguments --------------------------------------------------------------------------------

using Argument = ur_exp_kernel_arg_properties_t;
using Arguments = std::vector<Argument>;

inline Argument argument(uint32_t index, ur_exp_kernel_arg_type_t type, size_t size) {
    Argument made{};
    made.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES;
    made.type = type;
    made.index = index;
    made.size = size;
    return made;
}
inline Argument buffer_at(uint32_t index, ur_mem_handle_t mem,
                          ur_mem_flags_t flags = UR_MEM_FLAG_READ_WRITE) {
    Argument made = argument(index, UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ, sizeof mem);
    made.value.memObjTuple = {mem, flags};
    return made;
}
/// The value must outlive the launch.
template <class T>
Argument value_at(uint32_t index, const T &value) {
    Argument made = argument(index, UR_EXP_KERNEL_ARG_TYPE_VALUE, sizeof value);
    made.value.value = &value;
    return made;
}
inline Argument local_at(uint32_t index, size_t size) {
    return argument(index, UR_EXP_KERNEL_ARG_TYPE_LOCAL, size);
}
inline Argument pointer_at(uint32_t index, const void *pointer) {
    Argument made = argument(index, UR_EXP_KERNEL_ARG_TYPE_POINTER, sizeof pointer);
    made.value.pointer = pointer;
    return made;
}

inline Argument sampler_at(uint32_t index, ur_sampler_handle_t sampler) {
    Argument made = argument(index, UR_EXP_KERNEL_ARG_TYPE_SAMPLER, sizeof sampler);
    made.value.sampler = sampler;
    return made;
}

inline ur_result_t launch(ur_queue_handle_t queue, ur_kernel_handle_t kernel, size_t size,
                          const Arguments &arguments, const size_t *local = nullptr,
                          const ur_kernel_launch_ext_properties_t *properties = nullptr) {
    return ur().EnqueueExp.pfnKernelLaunchWithArgsExp(
        queue, kernel, 1, nullptr, &size, local, static_cast<uint32_t>(arguments.size()),
        arguments.data(), properties, 0, nullptr, nullptr);
}

// ----- Words ------------------------------------------------------------------------------------

using Words = std::vector<uint32_t>;

inline Bytes bytes_of(const Words &words) {
    const auto *const begin = reinterpret_cast<const uint8_t *>(words.data());
    return {begin, begin + words.size() * sizeof(uint32_t)};
}
inline Words words_of(const Bytes &bytes) {
    Words words(bytes.size() / sizeof(uint32_t));
    std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<uint8_t *>(words.data()));
    return words;
}
inline Words read_words(const Machine &machine, ur_mem_handle_t mem, size_t count, size_t at = 0) {
    return words_of(machine.read(mem, count * sizeof(uint32_t), 0, at));
}

} // namespace ur_test
