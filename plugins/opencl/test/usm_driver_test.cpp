// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ways to USM, by a simulated driver (plugins/opencl/simulator/usm), and those of real drivers.
#include "fixture.hpp"
#include "layers.hpp"
#include "skip.hpp"

using namespace opencl_test;

namespace {

enum Way { INTEL, SYSTEM, SVM, WAYS };

Way way_of(pi_device device) {
    const std::string name = name_of(device);
    for (const auto &[simulated, way] :
         {std::pair{"intel", INTEL}, std::pair{"system", SYSTEM}, std::pair{"svm", SVM}})
        if (name.find(std::string("(simulated USM: ") + simulated) != std::string::npos)
            return way;
    return platform_name_of(device) == "Intel(R) OpenCL" ? INTEL : SVM;
}

/// The next call of this function of the driver fails.
void fail_next(const char *name) {
    layer_function<void (*)(const char *)>(PI_TEST_OPENCL_USM, "pi_opencl_usm_fail")(name);
}

pi_result try_allocate(const Place &place, pi_usm_kind kind, void **out_pointer) {
    auto desc = pi::desc<pi_usm_desc>();
    desc.kind = kind;
    desc.size = 64;
    return piUsmAlloc(place.context, place.device, &desc, out_pointer);
}

constexpr uint64_t host = PI_LAUNCH_INDIRECT_USM_HOST;
constexpr uint64_t all_kinds = host | PI_LAUNCH_INDIRECT_USM_DEVICE | PI_LAUNCH_INDIRECT_USM_SHARED;

/// A kernel that reads a word by an address in memory.
struct Follower {
    explicit Follower(pi_device device) : place(device) {
        *target = 5;
        *address = target;
    }
    ~Follower() {
        for (void *pointer : {static_cast<void *>(target), static_cast<void *>(address),
                              static_cast<void *>(found)})
            CHECK(piUsmFree(place.context, pointer) == PI_SUCCESS);
    }
    void *allocate(pi_usm_kind kind) const {
        void *pointer = nullptr;
        OK(try_allocate(place, kind, &pointer));
        return pointer;
    }
    Kernel make() const { return make_kernel(program, "follow"); }
    pi_result try_launch(pi_kernel with, uint64_t flags) {
        std::vector<pi_kernel_argument> arguments(2);
        arguments[0].kind = arguments[1].kind = PI_ARGUMENT_POINTER;
        arguments[0].pointer = address;
        arguments[1].pointer = found;
        pi_kernel_launch_desc desc = launch_desc(with, arguments, 1);
        desc.flags = flags | PI_COMMAND_BLOCKING;
        return piEnqueueKernelLaunch(place.queue, &desc, 0, nullptr, nullptr);
    }
    void launch(pi_kernel with, uint64_t flags) {
        *found = 0;
        OK(try_launch(with, flags));
        CHECK(*found == 5);
    }

    Place place;
    Program program = build(place.context, "kernel void follow(global const ulong *address,"
                                           "                   global uint *found) {"
                                           "    *found = *(global const uint *)*address; }");
    uint32_t *target = static_cast<uint32_t *>(allocate(PI_USM_HOST));
    void **address = static_cast<void **>(allocate(PI_USM_SHARED));
    uint32_t *found = static_cast<uint32_t *>(allocate(PI_USM_SHARED));
};

} // namespace

TEST_CASE("indirect access is set once for a kernel, and a list of pointers when it has changed",
          "[.calls][usm]") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        if (!has_usm(device))
            continue;
        INFO(name_of(device));
        const Way way = way_of(device);
        Follower follower(device);
        Kernel kernel = follower.make();
        const auto sets = [&](uint64_t flags, const uint64_t(&expected)[WAYS]) {
            const uint64_t before = calls("clSetKernelExecInfo");
            follower.launch(kernel, flags);
            CHECK(calls("clSetKernelExecInfo") - before == expected[way]);
        };
        constexpr uint64_t never[] = {0, 0, 0}, once[] = {1, 1, 1};
        sets(0, never);
        sets(host, once);
        sets(host, never);
        sets(all_kinds, {2, 0, 1});
        sets(host, never);
        sets(0, never);
        void *const more = follower.allocate(PI_USM_DEVICE);
        sets(host, {0, 0, 1});
        sets(host, never);
        OK(piUsmFree(follower.place.context, more));
        sets(0, {0, 0, 1}); // the list must not name the freed memory
        sets(0, never);
        OK(piUsmFree(follower.place.context, follower.allocate(PI_USM_DEVICE)));
        sets(0, never);
        sets(host, {0, 0, 1});
        kernel = follower.make();
        sets(host, once);
        sets(host, never);
        // From now on the application may set it.
        pi_native_handle handle{};
        OK(piKernelGetNativeHandle(kernel, nullptr, &handle));
        sets(host, once);
        sets(host, once);
    }
}

TEST_CASE("after a refused setting of indirect access the next launch sets it", "[.usm]") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        Follower follower(device);
        const Kernel kernel = follower.make();
        const auto refuse = [&](uint64_t flags) {
            fail_next("clSetKernelExecInfo");
            refused(follower.try_launch(kernel, flags), PI_ERROR_OUT_OF_RESOURCES,
                    {"clSetKernelExecInfo", "follow"});
            const uint64_t before = calls("clSetKernelExecInfo");
            follower.launch(kernel, flags);
            CHECK(calls("clSetKernelExecInfo") > before);
        };
        refuse(host);
        if (way_of(device) == SVM) { // a list that must become empty
            OK(piUsmFree(follower.place.context, follower.allocate(PI_USM_DEVICE)));
            refuse(0);
        }
    }
}

TEST_CASE("Intel's extension: all kinds of USM, which belong to their device or to all", "[.usm]") {
    Loader loader;
    const auto devices = loader.devices();
    REQUIRE(devices.size() == 2);
    if (way_of(devices[0]) != INTEL)
        return pi_test::skip("the devices have not the extension");
    const Context context = make_context(devices);
    for (pi_device src : devices) {
        CHECK(info<uint32_t>(piDeviceGetInfo, src, PI_DEVICE_INFO_USM_CAPABILITIES) ==
              (1u << PI_USM_HOST | 1u << PI_USM_DEVICE | 1u << PI_USM_SHARED));
        for (pi_device dst : devices)
            for (const pi_memory_kind kind :
                 {PI_MEMORY_KIND_USM_HOST, PI_MEMORY_KIND_USM_DEVICE, PI_MEMORY_KIND_USM_SHARED}) {
                auto query = pi::desc<pi_memory_connection_query>();
                query.kind = kind;
                auto answer = pi::desc<pi_memory_connection_info>();
                OK(piGetMemoryConnectionInfo(src, context, dst, context, &query, &answer));
                const bool unified = src == dst || kind == PI_MEMORY_KIND_USM_HOST;
                CHECK(answer.connection ==
                      (unified ? PI_MEMORY_CONNECTION_UNIFIED : PI_MEMORY_CONNECTION_NONE));
                CHECK(answer.concurrent_writers == (unified ? PI_CONCURRENT_WRITERS_DISJOINT_BYTES
                                                            : PI_CONCURRENT_WRITERS_NONE));
                CHECK(answer.atomics == unified);
            }
    }
}

TEST_CASE("Intel's extension: what the driver refuses is an error of the call", "[.usm]") {
    Loader loader;
    pi_device device = loader.devices().at(0);
    if (way_of(device) != INTEL)
        return pi_test::skip("the devices have not the extension");
    Follower follower(device);
    void *pointer = nullptr;
    for (const auto &[call, kind] : {std::pair{"clHostMemAllocINTEL", PI_USM_HOST},
                                     std::pair{"clDeviceMemAllocINTEL", PI_USM_DEVICE},
                                     std::pair{"clSharedMemAllocINTEL", PI_USM_SHARED}}) {
        fail_next(call);
        refused(try_allocate(follower.place, kind, &pointer), PI_ERROR_OUT_OF_DEVICE_MEMORY,
                {call, "CL_OUT_OF_RESOURCES", "64 bytes"});
        CHECK(!pointer);
    }
    fail_next("clSetKernelArgMemPointerINTEL");
    const Kernel kernel = follower.make();
    refused(follower.try_launch(kernel, host), PI_ERROR_OUT_OF_RESOURCES,
            {"clSetKernelArgMemPointerINTEL", "argument 0"});
    follower.launch(kernel, host);

    auto copy = pi::desc<pi_usm_copy_desc>();
    copy.flags = PI_COMMAND_BLOCKING;
    copy.src = follower.target;
    copy.dst = follower.found;
    const pi_region region = range(0, 0, 4);
    copy.regions = &region;
    copy.region_count = 1;
    fail_next("clEnqueueMemcpyINTEL");
    refused(piEnqueueUsmCopy(follower.place.queue, &copy, 0, nullptr, nullptr),
            PI_ERROR_OUT_OF_RESOURCES, {"clEnqueueMemcpyINTEL"});
    *follower.found = 0;
    OK(piEnqueueUsmCopy(follower.place.queue, &copy, 0, nullptr, nullptr));
    CHECK(*follower.found == 5);

    // A free cannot be undone: it succeeds, and a warning has the driver's code.
    pointer = follower.allocate(PI_USM_DEVICE);
    loader.take_warnings();
    fail_next("clMemFreeINTEL");
    OK(piUsmFree(follower.place.context, pointer));
    CHECK_THAT(loader.take_warnings(), Catch::Contains("clMemFreeINTEL: CL_OUT_OF_RESOURCES"));
}

TEST_CASE("Intel's extension: without one of its functions it is not used", "[.usm_missing]") {
    Loader loader;
    for (pi_device device : loader.devices())
        CHECK(!has_usm(device));
    const std::string warnings = loader.take_warnings();
    CHECK_THAT(warnings, Catch::Contains("cl_intel_unified_shared_memory"));
    CHECK_THAT(warnings, Catch::Contains("clEnqueueMemcpyINTEL"));
}
