// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin_fixture.hpp"

#include "../injected.hpp"
#include "config.hpp"
#include "skip.hpp"

#include <dlfcn.h>

/// The suite's programs (pi_suite_programs).
namespace pi::suite {
extern const unsigned char embedded_kernels[], embedded_broken[], embedded_groups[],
    embedded_sub_groups[];
extern const std::size_t embedded_kernels_size, embedded_broken_size, embedded_groups_size,
    embedded_sub_groups_size;
} // namespace pi::suite

namespace level_zero_plugin_test {

namespace {

/// The calls that create objects of one kind, and the one that destroys them, in the library
/// between the plugin and the vendor's loader.
struct Kind {
    std::vector<const char *> create;
    const char *destroy;
};
const std::vector<Kind> kinds{
    {{"zeContextCreate", "zeContextCreateEx"}, "zeContextDestroy"},
    {{"zeEventPoolCreate"}, "zeEventPoolDestroy"},
    {{"zeEventCreate"}, "zeEventDestroy"},
    {{"zeCommandListCreateImmediate"}, "zeCommandListDestroy"},
    {{"zeImageCreate"}, "zeImageDestroy"},
    {{"zeSamplerCreate"}, "zeSamplerDestroy"},
    {{"zeModuleCreate"}, "zeModuleDestroy"},
    {{"zeKernelCreate"}, "zeKernelDestroy"},
    {{"zeMemAllocDevice", "zeMemAllocHost", "zeMemAllocShared"}, "zeMemFree"},
};

/// The number of live objects of each kind.
std::vector<int64_t> living() {
    void *const library = dlopen(PI_TEST_INJECTING_LOADER, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    const auto calls =
        reinterpret_cast<decltype(&pi_injected_calls)>(dlsym(library, "pi_injected_calls"));
    const auto failures =
        reinterpret_cast<decltype(&pi_injected_failures)>(dlsym(library, "pi_injected_failures"));
    REQUIRE(calls);
    REQUIRE(failures);
    std::vector<int64_t> counts;
    for (const Kind &kind : kinds) {
        counts.push_back(-static_cast<int64_t>(calls(kind.destroy)));
        for (const char *create : kind.create)
            counts.back() += static_cast<int64_t>(calls(create) - failures(create));
    }
    return counts;
}

} // namespace

Machine::Machine() {
    if (!PI_TEST_HAS_INTELS_DRIVER) {
        skip("Intel's driver is not installed (Debian's intel-opencl-icd)");
        return;
    }
    before_ = living();
    loader_ = load_one_plugin(PI_TEST_LEVEL_ZERO_PLUGIN,
                              {{"PI_LEVEL_ZERO_LIBRARY", PI_TEST_INJECTING_LOADER}},
                              {.log = Warnings::add, .log_user_data = &warnings_});
    pi_plugin plugin = nullptr;
    uint32_t count = 0;
    OK(piPluginsGet(loader_, 1, &plugin, &count));
    OK(piPlatformsGet(plugin, 1, &platform, &count));
    REQUIRE(count == 1);
    OK(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 0, nullptr, &count));
    devices.resize(count);
    OK(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, count, devices.data(), nullptr));
    REQUIRE(devices.size() == Config().devices);
    context = make_context(devices);
}

Machine::~Machine() {
    if (!loader_)
        return;
    context.reset();
    loader_.reset();
    CHECK_THAT(warnings_.take(), !Catch::Contains("parked"));
    CHECK(living() == before_);
}

Owned<pi_queue> Machine::make_queue(size_t device, uint64_t flags) const {
    return pi_test::make_queue(context, devices.at(device), flags);
}

Owned<pi_mem> Machine::make_buffer(uint64_t size, size_t device, uint32_t scope,
                                   uint64_t alignment) const {
    return pi_test::make_buffer(context, devices.at(device),
                                buffer_desc(size, 0, nullptr, alignment, scope));
}

ze_context_handle_t native(pi_context context) {
    pi_native_handle handle{};
    OK(piContextGetNativeHandle(context, nullptr, &handle));
    return reinterpret_cast<ze_context_handle_t>(handle.value[0]);
}

void *native(pi_mem mem, pi_device device) {
    pi_native_handle handle{};
    OK(piMemGetNativeHandle(mem, device, &handle));
    REQUIRE(handle.type == PI_NATIVE_LEVEL_ZERO_POINTER);
    return reinterpret_cast<void *>(handle.value[0]);
}

Known ask_driver(pi_context context, const void *address) {
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    Known known;
    REQUIRE(zeMemGetAllocProperties(native(context), address, &properties, &known.device) ==
            ZE_RESULT_SUCCESS);
    known.type = properties.type;
    return known;
}

namespace spirv {
std::span<const unsigned char> kernels() {
    return {pi::suite::embedded_kernels, pi::suite::embedded_kernels_size};
}
std::span<const unsigned char> broken() {
    return {pi::suite::embedded_broken, pi::suite::embedded_broken_size};
}
std::span<const unsigned char> groups() {
    return {pi::suite::embedded_groups, pi::suite::embedded_groups_size};
}
std::span<const unsigned char> sub_groups() {
    return {pi::suite::embedded_sub_groups, pi::suite::embedded_sub_groups_size};
}
} // namespace spirv

Owned<pi_program> create_spirv(const Machine &machine, std::span<const unsigned char> module) {
    Owned<pi_program> program;
    if (module.empty()) {
        skip("the tests were built without a compiler for SPIR-V");
        return program;
    }
    auto d = pi::desc<pi_program_desc>();
    d.format = PI_PROGRAM_FORMAT_SPIRV;
    d.data = module.data();
    d.size = module.size();
    OK(piProgramCreate(machine.context, &d, program.out()));
    return program;
}

Owned<pi_program> build_spirv(const Machine &machine, std::span<const unsigned char> module) {
    Owned<pi_program> program = create_spirv(machine, module);
    if (program)
        OK(piProgramBuild(program, nullptr));
    return program;
}

bool has_ended(pi_event event) {
    constexpr uint64_t a_moment = 50'000'000;
    const pi_result result = piEventWait(event, a_moment);
    if (result == PI_ERROR_TIMEOUT)
        return false;
    OK(result);
    return true;
}

void end(pi_event event) {
    if (piEventWait(event, 0) == PI_ERROR_TIMEOUT)
        REQUIRE(zeEventHostSignal(native<ze_event_handle_t>(&piEventGetNativeHandle, event)) ==
                ZE_RESULT_SUCCESS);
    // Without a timeout, so that references of earlier commands are dropped too; the alarm limits
    // it.
    OK(piEventWait(event, PI_TIMEOUT_NEVER));
}

} // namespace level_zero_plugin_test
