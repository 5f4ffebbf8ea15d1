// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of an exported call. The plugins' functions return immediately, and both ways to them
// are called by pointer from the same loop, so that only the few instructions in between differ.
#include "call_loop.hpp"
#include "equipment.hpp"
#include "session.hpp"

#include <pi/pi.hpp>
#include <pi/pi_plugin.h>

#include <pi_bench_stub.h>

namespace pi_bench {
namespace {

constexpr const char *stub_name =
    "a hand-written stub in another shared object: null check, load, jump";

std::string plugin_path(const char *name) {
    return equipment("libpi_plugin_" + std::string(name) + ".so");
}

/// The plugin's own function, as the loader's stub finds it.
pi_result (*slot_of(pi_device device))(pi_device) {
    return reinterpret_cast<const pi_object_header *>(device)->dispatch->piDeviceRetain;
}

void with_one_plugin(Session &session) {
    const pi::Loader loader = load_only({plugin_path("bench_first")});
    const pi_device device = loader.select_devices("*").at(0).get();

    const Batch ours = [&](uint64_t count) { call_often(count, piDeviceRetain, device); };
    session.compare(
        "exported call, 1 plugin", stub_name, Unit::nanoseconds, ours,
        [&](uint64_t count) { call_often(count, pi_bench_stub_device_retain, device); });
    uint32_t index = 0;
    const pi_program_binary binary{"opencl_c", PI_PROGRAM_FORMAT_OPENCL_C, 0};
    session.compare(
        "exported call of 4 arguments, 1 plugin", stub_name, Unit::nanoseconds,
        [&](uint64_t count) {
            call_often(count, piDeviceSelectBinary, device, uint32_t{1}, &binary, &index);
        },
        [&](uint64_t count) {
            call_often(count, pi_bench_stub_device_select_binary, device, uint32_t{1}, &binary,
                       &index);
        });
    session.compare("exported call, 1 plugin, against a bare call",
                    "the plugin's function called by pointer, without a loader", Unit::nanoseconds,
                    ours, [&](uint64_t count) { call_often(count, slot_of(device), device); });
}

void with_three_plugins(Session &session) {
    const pi::Loader loader = load_only(
        {plugin_path("bench_first"), plugin_path("bench_second"), plugin_path("bench_third")});
    const std::vector<pi::DeviceRef> devices = loader.select_devices("*");
    if (devices.size() != 3) {
        throw std::logic_error("three plugins should have three devices");
    }
    const std::array three{devices[0].get(), devices[1].get(), devices[2].get()};
    session.compare(
        "exported call, 3 plugins in turn", stub_name, Unit::nanoseconds,
        [&](uint64_t count) { call_in_turn(count, piDeviceRetain, three); },
        [&](uint64_t count) { call_in_turn(count, pi_bench_stub_device_retain, three); });
}

// The same in C and through pi.hpp.

[[noreturn, gnu::cold, gnu::noinline]] void fail(pi_result result, const char *function) {
    throw pi::Error(result, function);
}

[[gnu::noinline, gnu::aligned(64)]] uint32_t select_in_c(pi_device device,
                                                         const pi_program_binary *binary) {
    uint32_t index = 0;
    const pi_result result = piDeviceSelectBinary(device, 1, binary, &index);
    if (result != PI_SUCCESS) {
        fail(result, "piDeviceSelectBinary");
    }
    return index;
}
[[gnu::noinline, gnu::aligned(64)]] uint32_t select_in_cpp(pi_device device,
                                                           const pi_program_binary *binary) {
    return pi::DeviceRef(device).select_binary({binary, 1});
}
// A failure also has an index, as in code without exceptions.
[[gnu::noinline, gnu::aligned(64)]] uint32_t select_or_none_in_c(pi_device device,
                                                                 const pi_program_binary *binary) {
    uint32_t index = 0;
    return piDeviceSelectBinary(device, 1, binary, &index) == PI_SUCCESS ? index : UINT32_MAX;
}
[[gnu::noinline, gnu::aligned(64)]] uint32_t
select_or_none_in_cpp(pi_device device, const pi_program_binary *binary) {
    return pi::nothrow::DeviceRef(device).select_binary({binary, 1}).value_or(UINT32_MAX);
}

[[gnu::noinline, gnu::aligned(64)]] pi_result make_event_in_c(pi_context context) {
    pi_event event = nullptr;
    const pi_result result = piEventCreateHost(context, nullptr, &event);
    if (result != PI_SUCCESS) {
        fail(result, "piEventCreateHost");
    }
    piEventRelease(event);
    return result;
}
[[gnu::noinline, gnu::aligned(64)]] pi_result make_event_in_cpp(pi_context context) {
    const pi::Event event = pi::Event::create_host(context);
    return PI_SUCCESS;
}

void through_cpp(Session &session) {
    const pi::Loader loader = load_only({plugin_path("bench_first")});
    const pi::DeviceRef device = loader.select_devices("*").at(0);
    const pi::Context context = pi::Context::create(device.info<PI_DEVICE_INFO_PLATFORM>(), device);
    const pi_program_binary binary{"opencl_c", PI_PROGRAM_FORMAT_OPENCL_C, 0};
    session.compare(
        "exported call through pi.hpp", "the same call in C, target ratio 1.00", Unit::nanoseconds,
        [&](uint64_t count) { call_often(count, select_in_cpp, device.get(), &binary); },
        [&](uint64_t count) { call_often(count, select_in_c, device.get(), &binary); });
    session.compare(
        "exported call through pi.hpp, without exceptions", "the same call in C, target ratio 1.00",
        Unit::nanoseconds,
        [&](uint64_t count) { call_often(count, select_or_none_in_cpp, device.get(), &binary); },
        [&](uint64_t count) { call_often(count, select_or_none_in_c, device.get(), &binary); });
    session.compare(
        "host event created and released by pi.hpp", "the same two calls in C, target ratio 1.00",
        Unit::nanoseconds,
        [&](uint64_t count) { call_often(count, make_event_in_cpp, context.get()); },
        [&](uint64_t count) { call_often(count, make_event_in_c, context.get()); });
}

/// `target`: added to the limit's name.
void with_a_layer(Session &session, const char *layer, const char *target) {
    const pi::Loader loader = load_only({plugin_path("bench_first")}, {layer});
    const pi::Loader without = load_only({plugin_path("bench_first")});
    const pi_device device = loader.select_devices("*").at(0).get();
    const pi_device bare = without.select_devices("*").at(0).get();
    uint32_t index = 0;
    const pi_program_binary binary{"opencl_c", PI_PROGRAM_FORMAT_OPENCL_C, 0};
    const std::string with = " with the layer " + std::string(layer);
    const std::string limit = std::string(stub_name) + target;
    session.compare(
        "exported call" + with, limit, Unit::nanoseconds,
        [&](uint64_t count) { call_often(count, piDeviceRetain, device); },
        [&](uint64_t count) { call_often(count, pi_bench_stub_device_retain, bare); });
    session.compare(
        "exported call of 4 arguments" + with, limit, Unit::nanoseconds,
        [&](uint64_t count) {
            call_often(count, piDeviceSelectBinary, device, uint32_t{1}, &binary, &index);
        },
        [&](uint64_t count) {
            call_often(count, pi_bench_stub_device_select_binary, bare, uint32_t{1}, &binary,
                       &index);
        });
}

} // namespace

void bench_calls(Session &session) {
    session.attempt("exported call, 1 plugin", [&] { with_one_plugin(session); });
    session.attempt("exported call, 3 plugins in turn", [&] { with_three_plugins(session); });
    session.attempt("exported call through pi.hpp", [&] { through_cpp(session); });
    for (const auto &[layer, target] : {std::pair("validate", ", target ratio 25"),
                                        {"fault", ""},
                                        {"leak-origin", ""},
                                        {"race", ""}}) {
        session.attempt(
            "exported call with the layer " + std::string(layer),
            [&, layer = layer, target = target] { with_a_layer(session, layer, target); });
    }
    bench_calls_beside_icd(session);
}

} // namespace pi_bench
