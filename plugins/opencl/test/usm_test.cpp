// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties of USM that only the opencl plugin has: which devices support it, its context, texts
// of errors. The rules are tested by the conformance suite.
#include "fixture.hpp"

#include <cstring>

using namespace opencl_test;

namespace {

constexpr uint64_t usm_capabilities =
    PI_CAPABILITY_USM | PI_CAPABILITY_USM_POOL | PI_CAPABILITY_USM_ASYNC;

/// Without its platform's name.
std::string own_name_of(pi_device device) {
    return info_text(piDeviceGetInfo, device, PI_DEVICE_INFO_NAME);
}

pi_usm_desc usm_desc(uint64_t size, pi_usm_kind kind = PI_USM_DEVICE) {
    auto desc = pi::desc<pi_usm_desc>();
    desc.kind = kind;
    desc.size = size;
    return desc;
}

void *allocate(const Place &place, const pi_usm_desc &desc) {
    void *pointer = nullptr;
    OK(piUsmAlloc(place.context, place.device, &desc, &pointer));
    return pointer;
}

pi_kernel_argument pointer_argument(const void *pointer) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_POINTER;
    argument.pointer = pointer;
    return argument;
}

constexpr const char *source = R"(
kernel void between(global uint *begin, global uint *end, uint value) {
    for (global uint *p = begin; p != end; ++p)
        *p = end ? value : 0;
}
)";

} // namespace

TEST_CASE("a device has all USM capabilities or none, and the kinds of its shared virtual memory") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const auto all = info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_CAPABILITIES);
        const auto kinds = info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_USM_CAPABILITIES);
        CHECK((all & usm_capabilities) == (has_usm(device) ? usm_capabilities : 0));
        CHECK((kinds != 0) == has_usm(device));
        const bool pocl = platform_name_of(device).find("Portable") != std::string::npos;
        if (pocl)
            CHECK(kinds == (1u << PI_USM_HOST | 1u << PI_USM_DEVICE | 1u << PI_USM_SHARED));
        if (platform_name_of(device).find("rusticl") != std::string::npos)
            CHECK(kinds == 0);
    }
}

TEST_CASE("a device without shared virtual memory refuses USM and says why") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        if (has_usm(device))
            continue;
        INFO(name_of(device));
        const Place place(device);
        const std::vector<std::string> why = {own_name_of(device), "CL_DEVICE_SVM_CAPABILITIES"};
        const pi_usm_desc desc = usm_desc(64);
        void *pointer = nullptr;
        refused(piUsmAlloc(place.context, device, &desc, &pointer), PI_ERROR_UNSUPPORTED_FEATURE,
                why);
        refused(piUsmFree(place.context, nullptr), PI_ERROR_UNSUPPORTED_FEATURE, why);
        auto copy = pi::desc<pi_usm_copy_desc>();
        refused(piEnqueueUsmCopy(place.queue, &copy, 0, nullptr, nullptr),
                PI_ERROR_UNSUPPORTED_FEATURE, why);
        auto freed = pi::desc<pi_usm_free_desc>();
        refused(piEnqueueUsmFree(place.queue, &freed, 0, nullptr, nullptr),
                PI_ERROR_UNSUPPORTED_FEATURE, why);
        const Program program = build(place.context, source);
        const Kernel kernel = make_kernel(program, "between");
        const uint32_t value = 1;
        Event event;
        const auto with_pointer =
            std::vector{pointer_argument(nullptr), buffer_argument(nullptr), value_argument(value)};
        pi_kernel_launch_desc launch = launch_desc(kernel, with_pointer, 1);
        refused(piEnqueueKernelLaunch(place.queue, &launch, 0, nullptr, event.out()),
                PI_ERROR_UNSUPPORTED_FEATURE, why);
        const auto without =
            std::vector{buffer_argument(nullptr), buffer_argument(nullptr), value_argument(value)};
        launch = launch_desc(kernel, without, 1);
        launch.flags = PI_LAUNCH_INDIRECT_USM_HOST;
        refused(piEnqueueKernelLaunch(place.queue, &launch, 0, nullptr, event.out()),
                PI_ERROR_UNSUPPORTED_FEATURE, {"flags"});
    }
}

TEST_CASE("unsupported USM is refused with what would be right") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        if (!has_usm(device))
            continue;
        INFO(name_of(device));
        const Place place(device);
        const auto refuse = [&](const pi_usm_desc &desc, pi_result code,
                                const std::vector<std::string> &parts) {
            void *pointer = nullptr;
            refused(piUsmAlloc(place.context, device, &desc, &pointer), code, parts);
        };
        pi_usm_desc desc = usm_desc(64);
        desc.flags = PI_MEM_REQUIRE_PINNED;
        refuse(desc, PI_ERROR_UNSUPPORTED_FEATURE, {"PI_MEM_REQUIRE_PINNED", own_name_of(device)});
        desc.flags = PI_MEM_REQUIRE_CONTIGUOUS;
        refuse(desc, PI_ERROR_UNSUPPORTED_FEATURE,
               {"PI_MEM_REQUIRE_CONTIGUOUS", own_name_of(device)});
        desc = usm_desc(64);
        desc.alignment = 4 * 1024 * 1024;
        refuse(desc, PI_ERROR_INVALID_ALIGNMENT, {"4194304", "2097152"});
        const auto most =
            info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_MAX_ALLOCATION_SIZE);
        refuse(usm_desc(most + 1), PI_ERROR_OUT_OF_DEVICE_MEMORY, {std::to_string(most)});
        desc = usm_desc(64);
        desc.scope = 1;
        refuse(desc, PI_ERROR_UNSUPPORTED_FEATURE, {"scope is 1 (host.pinned)"});
        desc.scope = scope_count;
        refuse(desc, PI_ERROR_INVALID_VALUE, {"scope is 2"});
    }
}

TEST_CASE("USM of another context is refused, by copies, hints and launches") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        if (!has_usm(device))
            continue;
        INFO(name_of(device));
        const Place here(device), there(device);
        for (const pi_usm_kind kind : {PI_USM_HOST, PI_USM_DEVICE, PI_USM_SHARED}) {
            void *const mine = allocate(here, usm_desc(64, kind));
            void *const other = allocate(there, usm_desc(64, kind));
            const std::vector<std::string> why = {"another context"};
            const pi_region region = range(0, 0, 64);
            auto copy = pi::desc<pi_usm_copy_desc>();
            copy.region_count = 1;
            copy.regions = &region;
            copy.src = mine;
            copy.dst = other;
            refused(piEnqueueUsmCopy(here.queue, &copy, 0, nullptr, nullptr),
                    PI_ERROR_INVALID_USM_POINTER, {"dst", "another context"});
            copy.src = other;
            copy.dst = mine;
            refused(piEnqueueUsmCopy(here.queue, &copy, 0, nullptr, nullptr),
                    PI_ERROR_INVALID_USM_POINTER, {"src", "another context"});
            auto prefetch = pi::desc<pi_usm_prefetch_desc>();
            prefetch.pointer = other;
            prefetch.size = 64;
            refused(piEnqueueUsmPrefetch(here.queue, &prefetch, 0, nullptr, nullptr),
                    PI_ERROR_INVALID_USM_POINTER, why);
            const Program program = build(here.context, source);
            const Kernel kernel = make_kernel(program, "between");
            const uint32_t value = 1;
            const auto arguments =
                std::vector{pointer_argument(mine), pointer_argument(other), value_argument(value)};
            const pi_kernel_launch_desc launch = launch_desc(kernel, arguments, 1);
            refused(piEnqueueKernelLaunch(here.queue, &launch, 0, nullptr, nullptr),
                    PI_ERROR_INVALID_USM_POINTER, {"arguments[1].pointer", "another context"});
            OK(piUsmFree(here.context, mine));
            OK(piUsmFree(there.context, other));
        }
    }
}

TEST_CASE("a kernel accepts the end of a range and null pointers, but no pointer as a value") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        if (!has_usm(device))
            continue;
        INFO(name_of(device));
        const Place place(device);
        const Program program = build(place.context, source);
        const Kernel kernel = make_kernel(program, "between");
        auto *const words = static_cast<uint32_t *>(allocate(place, usm_desc(64, PI_USM_SHARED)));
        std::memset(words, 0, 64);
        const uint32_t value = 5;
        wait(
            launch(place.queue, kernel, 1,
                   {pointer_argument(words), pointer_argument(words + 16), value_argument(value)}));
        CHECK(words[0] == 5);
        CHECK(words[15] == 5);
        wait(launch(place.queue, kernel, 1,
                    {pointer_argument(nullptr), pointer_argument(nullptr), value_argument(value)}));
        const auto wrong =
            std::vector{pointer_argument(words), pointer_argument(words), pointer_argument(words)};
        const pi_kernel_launch_desc desc = launch_desc(kernel, wrong, 1);
        refused(piEnqueueKernelLaunch(place.queue, &desc, 0, nullptr, nullptr),
                PI_ERROR_INVALID_ARGUMENTS, {"arguments[2]", "PI_ARGUMENT_VALUE"});
        OK(piUsmFree(place.context, words));
    }
}
