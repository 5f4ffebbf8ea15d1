// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verification kernel (pi/pi_verification_kernel.h): a plugin's table, and the kernel in the
// formats that several backends accept.
#pragma once

#include <pi/pi_native_kernel.h>
#include <pi/pi_verification_kernel.h>
#include <pi/sdk/object.hpp>

#include <cstdint>
#include <cstring>

namespace pi::sdk {

inline constexpr const char *verification_kernel_name = "pi_copy_words";

/// A plugin's table. Its function returns kernel_of(device), which may fail().
template <class Device, pi_verification_kernel (*kernel_of)(Device &device)>
struct verification_kernel_entries {
    static pi_result PI_CALL get_kernel(pi_device device, pi_verification_kernel *out_kernel) {
        return call<Device>(
            device, [&](Device &self) { *require(out_kernel, "out_kernel") = kernel_of(self); });
    }
    static constexpr pi_verification_kernel_v1 table{sizeof(pi_verification_kernel_v1), get_kernel};
};

/// The kernel as source: OpenCL C, PTX and the like.
inline pi_verification_kernel verification_kernel(pi_program_format format, const char *source) {
    return {format, 0, source, std::strlen(source), verification_kernel_name};
}

/// The kernel as a native function.
inline void PI_CALL copy_words(const pi_native_group *group, void *const *arguments) {
    const auto *const from = static_cast<const char *>(arguments[0]);
    std::memcpy(static_cast<char *>(arguments[1]) + 4 * group->begin[0], from + 4 * group->begin[0],
                4 * (group->end[0] - group->begin[0]));
}

inline pi_verification_kernel native_verification_kernel() {
    static constexpr pi_native_kernel kernel{verification_kernel_name, copy_words, 2, 0, {}};
    static constexpr pi_native_program program{sizeof(pi_native_program), 1, &kernel};
    return {PI_PROGRAM_FORMAT_NATIVE_TABLE, 0, &program, sizeof program, verification_kernel_name};
}

namespace verification_spirv {

// The module, with the numbers of "The SPIR-V Specification".
enum Word : uint32_t {
    magic = 0x07230203,
    version_1_0 = 0x00010000,
    no_generator = 0,
    schema = 0,
    // Instructions
    memory_model = 14,
    entry_point = 15,
    capability = 17,
    type_void = 19,
    type_int = 21,
    type_vector = 23,
    type_pointer = 32,
    type_function = 33,
    function = 54,
    function_parameter = 55,
    function_end = 56,
    variable = 59,
    load = 61,
    store = 62,
    in_bounds_ptr_access_chain = 70,
    decorate = 71,
    composite_extract = 81,
    label = 248,
    return_ = 253,
    // Their operands
    addresses = 4,
    kernel = 6,
    int64 = 11,
    physical64 = 2,
    opencl = 2,
    kernel_model = 6,
    built_in = 11,
    global_invocation_id = 28,
    input = 1,
    cross_workgroup = 5,
    no_control = 0,
    aligned = 2,
    // Results
    id_main = 1,
    id_global_id,
    id_void,
    id_uint,
    id_ulong,
    id_ulong3,
    id_pointer_ulong3,
    id_pointer_uint,
    id_function,
    id_from,
    id_to,
    id_label,
    id_items,
    id_item,
    id_source,
    id_destination,
    id_word,
    id_bound
};

constexpr uint32_t op(uint32_t code, uint32_t words) {
    return words << 16 | code;
}
/// Four characters of a name.
constexpr uint32_t characters(const char *text) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < 4 && text[i] != 0; ++i)
        word |= static_cast<uint32_t>(static_cast<unsigned char>(text[i])) << 8 * i;
    return word;
}

// clang-format off
inline constexpr uint32_t module[] = {
    magic, version_1_0, no_generator, id_bound, schema,
    op(capability, 2), addresses,
    op(capability, 2), kernel,
    op(capability, 2), int64,
    op(memory_model, 3), physical64, opencl,
    op(entry_point, 8), kernel_model, id_main,
        characters("pi_c"), characters("opy_"), characters("word"), characters("s"), id_global_id,
    op(decorate, 4), id_global_id, built_in, global_invocation_id,
    op(type_void, 2), id_void,
    op(type_int, 4), id_uint, 32, 0,
    op(type_int, 4), id_ulong, 64, 0,
    op(type_vector, 4), id_ulong3, id_ulong, 3,
    op(type_pointer, 4), id_pointer_ulong3, input, id_ulong3,
    op(type_pointer, 4), id_pointer_uint, cross_workgroup, id_uint,
    op(type_function, 5), id_function, id_void, id_pointer_uint, id_pointer_uint,
    op(variable, 4), id_pointer_ulong3, id_global_id, input,
    op(function, 5), id_void, id_main, no_control, id_function,
    op(function_parameter, 3), id_pointer_uint, id_from,
    op(function_parameter, 3), id_pointer_uint, id_to,
    op(label, 2), id_label,
    op(load, 6), id_ulong3, id_items, id_global_id, aligned, 32,
    op(composite_extract, 5), id_ulong, id_item, id_items, 0,
    op(in_bounds_ptr_access_chain, 5), id_pointer_uint, id_source, id_from, id_item,
    op(load, 6), id_uint, id_word, id_source, aligned, 4,
    op(in_bounds_ptr_access_chain, 5), id_pointer_uint, id_destination, id_to, id_item,
    op(store, 5), id_destination, id_word, aligned, 4,
    op(return_, 1),
    op(function_end, 1),
};
// clang-format on

} // namespace verification_spirv

/// For devices with 64-bit addresses.
inline pi_verification_kernel spirv_verification_kernel() {
    return {PI_PROGRAM_FORMAT_SPIRV, 0, verification_spirv::module,
            sizeof verification_spirv::module, verification_kernel_name};
}

} // namespace pi::sdk
