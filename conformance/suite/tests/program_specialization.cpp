// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of specialization constants. The program "constants" (spirv.hpp) has one of every size.

#include "checks.hpp"
#include "launch_fixture.hpp"
#include "partition.hpp"
#include "registry.hpp"
#include "spirv.hpp"

#include <cstring>

namespace pi::suite {
namespace {

enum Id : uint32_t { UINT = 10, ULONG = 7, USHORT = 300, UCHAR = 0, FLOAT = 5, BOOL = 6 };

// The constants with values, which are the defaults at first.
struct Values {
    uint32_t of_uint = 42;
    uint64_t of_ulong = 0x123456789abcdef0;
    uint16_t of_ushort = 60000;
    uint8_t of_uchar = 200;
    float of_float = 1.5f;
    uint8_t of_bool = 1;

    // As the kernel writes them.
    std::vector<uint64_t> seen() const {
        uint32_t bits = 0;
        std::memcpy(&bits, &of_float, sizeof bits);
        return {of_uint, of_ulong, of_ushort, of_uchar, bits, of_bool};
    }
};

using Constants = std::vector<pi_specialization_constant>;

template <typename T>
pi_specialization_constant constant(uint32_t id, const T &value) {
    return {id, 0, sizeof value, &value};
}

// All of them; the values are borrowed.
Constants all_of(const Values &values) {
    return {constant(UINT, values.of_uint),     constant(ULONG, values.of_ulong),
            constant(USHORT, values.of_ushort), constant(UCHAR, values.of_uchar),
            constant(FLOAT, values.of_float),   constant(BOOL, values.of_bool)};
}

Values random_values(Fixture &fixture) {
    Values values;
    values.of_uint = static_cast<uint32_t>(fixture.random(0, UINT32_MAX));
    values.of_ulong = fixture.random(0, UINT64_MAX);
    values.of_ushort = static_cast<uint16_t>(fixture.random(0, UINT16_MAX));
    values.of_uchar = static_cast<uint8_t>(fixture.random(0, UINT8_MAX));
    values.of_float = static_cast<float>(fixture.random(0, 1000)) / 8;
    values.of_bool = static_cast<uint8_t>(fixture.random(0, 1));
    return values;
}

pi_result try_set(pi_program program, const Constants &constants) {
    return piProgramSetSpecializationConstants(program, static_cast<uint32_t>(constants.size()),
                                               constants.data());
}

void set(pi_program program, const Constants &constants) {
    require_success(try_set(program, constants), "piProgramSetSpecializationConstants");
}

void build(pi_program program) {
    require_success(piProgramBuild(program, nullptr), "piProgramBuild");
}

void need_constants(Fixture &fixture) {
    fixture.need(PI_CAPABILITY_SPECIALIZATION, "PI_CAPABILITY_SPECIALIZATION");
    need_spirv(fixture);
}

Program create(Fixture &fixture) {
    return create_spirv(fixture.context(), spirv::constants());
}

// Checks the values of the program's constants on the device.
void require_values(Fixture &fixture, const Place &place, pi_kernel kernel, const Values &expected,
                    const std::string &what) {
    const Queue queue = fixture.make_queue(place);
    const Mem mem = fixture.make_buffer(place, Bytes(6 * sizeof(uint64_t)));
    Arguments arguments;
    arguments.buffer(mem);
    fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 1)),
                 "a launch of constants");
    Bytes bytes(6 * sizeof(uint64_t));
    std::memcpy(bytes.data(), expected.seen().data(), bytes.size());
    fixture.require_contents(queue, mem, bytes, what);
}
void require_values(Fixture &fixture, const Place &place, pi_program program,
                    const Values &expected, const std::string &what) {
    require_values(fixture, place, make_kernel(program, "constants"), expected, what);
}
void require_values(Fixture &fixture, pi_program program, const Values &expected,
                    const std::string &what) {
    require_values(fixture, fixture.place(), program, expected, what);
}

CONFORMANCE_TEST("program",
                 "specialization constants that the device does not have are unsupported") {
    fixture.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM");
    if (fixture.can(PI_CAPABILITY_SPECIALIZATION))
        skip("the device has PI_CAPABILITY_SPECIALIZATION");
    const Program program = make_program(fixture);
    const uint32_t value = 7;
    require_error(try_set(program, {constant(0, value)}), PI_ERROR_UNSUPPORTED_FEATURE,
                  "piProgramSetSpecializationConstants");
    // The refusal has left the program as it was.
    require(make_kernel(program, "add").get() != nullptr, "there is no kernel add");
}

CONFORMANCE_TEST("program", "specialization constants have their defaults until they are set") {
    need_spirv(fixture);
    const Program program = create(fixture);
    build(program);
    require_values(fixture, program, Values(), "the constants of a program in which none is set");
}

CONFORMANCE_TEST("program",
                 "specialization constants of every size have the values that they are set to") {
    need_constants(fixture);
    for (int round = 0; round < 3; ++round) {
        const Program program = create(fixture);
        Values values = random_values(fixture);
        Constants constants = all_of(values);
        std::shuffle(constants.begin(), constants.end(), fixture.random());
        set(program, constants);
        const Values expected = values;
        values = Values(); // they were copied
        build(program);
        require_values(fixture, program, expected, "the constants that were all set");
    }
}

CONFORMANCE_TEST("program", "specialization constants that are not named keep their values") {
    need_constants(fixture);
    const Program program = create(fixture);
    Values values;
    const Values other = random_values(fixture);
    set(program, {constant(UCHAR, other.of_uchar)});
    set(program, {constant(UINT, other.of_uint), constant(BOOL, other.of_bool)});
    set(program, {});
    require_success(piProgramSetSpecializationConstants(program, 0, nullptr),
                    "setting no constants, at NULL");
    values.of_uchar = other.of_uchar;
    values.of_uint = other.of_uint;
    values.of_bool = other.of_bool;
    build(program);
    require_values(fixture, program, values, "the constants of which three were set");
}

CONFORMANCE_TEST("program", "of several values of a specialization constant the last counts") {
    need_constants(fixture);
    const Program program = create(fixture);
    Values values;
    const uint32_t first = 1, second = 2;
    values.of_uint = 3;
    set(program, {constant(UINT, first)});
    set(program, {constant(UINT, second), constant(UINT, values.of_uint)});
    build(program);
    require_values(fixture, program, values, "the constants of which one was set three times");
}

CONFORMANCE_TEST("program", "specialization constants set after a build apply to the next build") {
    need_constants(fixture);
    const Program program = create(fixture);
    Values values, later;
    build(program);
    later.of_ulong = fixture.random(0, UINT64_MAX);
    later.of_float = -0.25f;
    set(program, all_of(later));
    require_values(fixture, program, values, "the constants that were set after the build");
    build(program);
    require_values(fixture, program, later, "the constants after the next build");
    build(program);
    require_values(fixture, program, later, "the constants after one more build");
}

CONFORMANCE_TEST("program", "kernels keep the specialization constants that they were built with") {
    need_constants(fixture);
    const Program program = create(fixture);
    Values values = random_values(fixture);
    const Values before = values;
    set(program, all_of(values));
    build(program);
    const Kernel kernel = make_kernel(program, "constants");
    values.of_uint += 1;
    set(program, {constant(UINT, values.of_uint)});
    build(program);
    require_values(fixture, program, values,
                   "the constants of which one was set while there is a kernel");
    require_values(fixture, fixture.place(), kernel, before,
                   "the constants of a kernel from before");
}

CONFORMANCE_TEST("program", "wrong specialization constants are refused, and then none is set") {
    need_constants(fixture);
    const Program program = create(fixture);
    Values values = random_values(fixture);
    set(program, all_of(values));
    const Values other;
    const auto refused = [&](const std::string &what, pi_result error,
                             const pi_specialization_constant &wrong) {
        Constants constants = all_of(other);
        constants.push_back(wrong);
        require_error(try_set(program, constants), error, what);
        require_error(try_set(program, {wrong}), error, what, ", alone");
    };
    for (const uint32_t id : {1u, 13u, 299u, UINT32_MAX})
        refused(join("the id ", id, ", which the program does not have"), PI_ERROR_INVALID_VALUE,
                constant(id, other.of_uint));
    for (const pi_specialization_constant &right : all_of(other)) {
        pi_specialization_constant wrong = right;
        for (const uint64_t size :
             {uint64_t{0}, right.size - 1, right.size + 1, right.size * 2, UINT64_MAX}) {
            wrong.size = size;
            refused(join(size, " bytes for the constant ", right.id, " of ", right.size),
                    PI_ERROR_INVALID_SIZE, wrong);
        }
        wrong = right;
        wrong.value = nullptr;
        refused("a value at NULL", PI_ERROR_INVALID_NULL_POINTER, wrong);
        wrong = right;
        wrong.reserved = 1;
        refused("a reserved word that is not 0", PI_ERROR_UNSUPPORTED_FEATURE, wrong);
    }
    require_error(piProgramSetSpecializationConstants(program, 1, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "one constant at NULL");
    const auto *nothing = nowhere<const pi_specialization_constant>();
    require_success(piProgramSetSpecializationConstants(program, 0, nullptr), "no constants");
    require_success(piProgramSetSpecializationConstants(program, 0, nothing),
                    "no constants at an address");
    const Constants good = all_of(other);
    require_error(try_set(nullptr, good), PI_ERROR_INVALID_PROGRAM, "constants of no program");
    require_error(try_set(reinterpret_cast<pi_program>(fixture.context()), good),
                  PI_ERROR_INVALID_PROGRAM, "constants of a context");
    build(program);
    require_values(fixture, program, values, "the constants after all refusals");
}

CONFORMANCE_TEST("program",
                 "only programs in SPIR-V that declare specialization constants accept them") {
    need_constants(fixture);
    const uint32_t value = 1;
    const Program none = create_spirv(fixture.context(), spirv::kernels());
    require_error(try_set(none, {constant(UINT, value)}), PI_ERROR_INVALID_VALUE,
                  "a constant of a program that has none");
    const pi_program_format format = kernel_format(fixture);
    if (format == PI_PROGRAM_FORMAT_SPIRV)
        return;
    const Program other = make_program(fixture);
    require_error(try_set(other, {constant(UINT, value)}), PI_ERROR_UNSUPPORTED_FEATURE,
                  "a constant of a program of the format ", format);
    require(make_kernel(other, "add").get() != nullptr, "there is no kernel add");
}

CONFORMANCE_TEST("program",
                 "programs of the same SPIR-V have each their own specialization constants") {
    need_constants(fixture);
    const pi_context context = fixture.context();
    std::vector<Values> values;
    std::vector<Program> programs(4);
    for (std::size_t i = 0; i < programs.size(); ++i)
        values.push_back(random_values(fixture));
    fixture.run_threads(static_cast<unsigned>(programs.size()), [&](unsigned i) {
        programs[i] = create_spirv(context, spirv::constants());
        set(programs[i], all_of(values[i]));
        build(programs[i]);
    });
    for (std::size_t i = 0; i < programs.size(); ++i)
        require_values(fixture, programs[i], values[i], join("the constants of program ", i));
}

CONFORMANCE_TEST("program",
                 "specialization constants hold on all devices that the program is built for") {
    need_constants(fixture);
    const SeveralDevices devices(fixture);
    if (devices.size() < 2)
        skip("the platform has one device, which has no parts");
    fixture.need(PI_CAPABILITY_SPECIALIZATION, "PI_CAPABILITY_SPECIALIZATION", devices[1]);
    need_spirv(fixture, devices[1]);
    const Context context = fixture.make_context({devices[0], devices[1]});
    const Program program = create_spirv(context, spirv::constants());
    const Values values = random_values(fixture);
    set(program, all_of(values));
    build(program);
    for (pi_device device : {devices[0], devices[1]})
        require_values(fixture, {device, context}, program, values, "the constants of two devices");
}

CONFORMANCE_TEST("program",
                 "a program's binary has the specialization constants that it was built with") {
    need_constants(fixture);
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_PROGRAM_FORMATS);
    if ((formats & (1u << PI_PROGRAM_FORMAT_DEVICE_BINARY)) == 0)
        skip("the device takes no binaries");
    const Program program = create(fixture);
    const Values values = random_values(fixture);
    set(program, all_of(values));
    build(program);
    const auto sizes =
        get_info_list<uint64_t>(&piProgramGetInfo, program.get(), PI_PROGRAM_INFO_BINARY_SIZES);
    require_equal(sizes.size(), std::size_t{1}, "how many binaries a program of one device has");
    Bytes binary(sizes[0]);
    auto *pointer = reinterpret_cast<uint8_t *>(binary.data());
    require_success(
        piProgramGetInfo(program, PI_PROGRAM_INFO_BINARIES, sizeof pointer, &pointer, nullptr),
        "PI_PROGRAM_INFO_BINARIES");
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_DEVICE_BINARY;
    desc.data = binary.data();
    desc.size = binary.size();
    Program again;
    require_success(piProgramCreate(fixture.context(), &desc, again.out()), "piProgramCreate");
    require_error(try_set(again, all_of(values)), PI_ERROR_UNSUPPORTED_FEATURE,
                  "constants of a program of a binary");
    build(again);
    require_values(fixture, again, values, "the constants of a program of a binary");
}

} // namespace
} // namespace pi::suite
