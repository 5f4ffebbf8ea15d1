// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native handles of everything but events and memory: ownership, and use from both sides.
#include "native.hpp"

#include "skip.hpp"

#include <algorithm>

using namespace opencl_test;

namespace {

const char *const source =
    "kernel void set(global uint *data, uint value) {\n"
    "    data[get_global_id(0)] = value;\n"
    "}\n"
    "kernel void twice(global uint *data) { data[get_global_id(0)] *= 2; }\n";

/// Sets words by the kernel on the place's device, and reads them.
void check_launch(const Place &place, pi_queue queue, pi_kernel set, uint32_t value) {
    const Mem mem = place.buffer(64);
    wait(launch(queue, set, 16, {buffer_argument(mem), value_argument(value)}));
    const std::vector<uint8_t> bytes = contents(queue, mem);
    const auto *words = reinterpret_cast<const uint32_t *>(bytes.data());
    CHECK(std::all_of(words, words + 16, [&](uint32_t word) { return word == value; }));
}

ClProgram build_cl(cl_context context, const char *options = "") {
    cl_int code = CL_SUCCESS;
    const char *text = source;
    ClProgram program(clCreateProgramWithSource(context, 1, &text, nullptr, &code));
    cl_ok(code);
    if (options)
        cl_ok(clBuildProgram(program, 0, nullptr, options, nullptr, nullptr));
    return program;
}

} // namespace

TEST_CASE("the plugin has the group of native handles, on every device") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        CHECK(info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_CAPABILITIES) &
              PI_CAPABILITY_NATIVE);
        CHECK(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES) &
              1u << PI_EXTERNAL_NATIVE);
    }
}

TEST_CASE("a platform's native handle is its cl_platform_id, and returns the same platform") {
    Loader loader;
    cl_uint count = 0;
    cl_ok(clGetPlatformIDs(0, nullptr, &count));
    std::vector<cl_platform_id> ids(count);
    cl_ok(clGetPlatformIDs(count, ids.data(), nullptr));
    for (pi_platform platform : loader.platforms()) {
        pi_native_handle handle{};
        OK(piPlatformGetNativeHandle(platform, &handle));
        const auto id = vendor<cl_platform_id>(handle);
        CHECK(std::count(ids.begin(), ids.end(), id) == 1);
        pi_native_desc desc = native_desc(id);
        pi_platform found = nullptr;
        OK(piPlatformCreateWithNativeHandle(loader.plugin(), &desc, &found));
        CHECK(found == platform);

        refused(piPlatformGetNativeHandle(platform, nullptr), PI_ERROR_INVALID_NULL_POINTER);
        refused(piPlatformCreateWithNativeHandle(loader.plugin(), &desc, nullptr),
                PI_ERROR_INVALID_NULL_POINTER);
        found = nullptr;
        refuses_malformed(desc, [&](const pi_native_desc *bad) {
            return piPlatformCreateWithNativeHandle(loader.plugin(), bad, &found);
        });
        desc.flags = PI_NATIVE_OWN;
        refused(piPlatformCreateWithNativeHandle(loader.plugin(), &desc, &found),
                PI_ERROR_UNSUPPORTED_FEATURE, {"flags"});
        // A handle that is only compared, so any pointer can be passed.
        desc = native_desc(&loader);
        refused(piPlatformCreateWithNativeHandle(loader.plugin(), &desc, &found),
                PI_ERROR_INVALID_NATIVE_HANDLE, {"not one of the plugin's platforms"});
        desc = native_desc(id);
        desc.device = loader.devices().at(0);
        refused(piPlatformCreateWithNativeHandle(loader.plugin(), &desc, &found),
                PI_ERROR_INVALID_VALUE, {"device", "platform"});
        CHECK(found == nullptr);
    }
}

TEST_CASE("a root device's native handle returns the device, and is not counted") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const cl_device_id id = vendor_of(device);
        CHECK(info_text(piDeviceGetInfo, device, PI_DEVICE_INFO_NAME) == [&] {
            char name[256] = "";
            cl_ok(clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name, name, nullptr));
            return std::string(name);
        }());
        for (const uint64_t flags : {0, static_cast<int>(PI_NATIVE_OWN)}) {
            const pi_native_desc desc = native_desc(id, flags);
            pi_device found = nullptr;
            OK(piDeviceCreateWithNativeHandle(platform_of(device), &desc, &found));
            CHECK(found == device);
            OK(piDeviceRelease(found));
        }
        CHECK(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_REFERENCE_COUNT) >= 1);
        pi_native_desc desc = native_desc(id);
        pi_device found = nullptr;
        refuses_malformed(desc, [&](const pi_native_desc *bad) {
            return piDeviceCreateWithNativeHandle(platform_of(device), bad, &found);
        });
        for (pi_platform other : loader.platforms())
            if (other != platform_of(device))
                refused(piDeviceCreateWithNativeHandle(other, &desc, &found),
                        PI_ERROR_INVALID_NATIVE_HANDLE,
                        {platform_name_of(device),
                         info_text(piPlatformGetInfo, other, PI_PLATFORM_INFO_NAME)});
        desc.device = device;
        refused(piDeviceCreateWithNativeHandle(platform_of(device), &desc, &found),
                PI_ERROR_INVALID_VALUE, {"device"});
        CHECK(found == nullptr);
    }
}

TEST_CASE("a sub-device is wrapped, counted, and works like its parent") {
    Loader loader;
    bool any = false;
    for (pi_device parent : loader.devices()) {
        INFO(name_of(parent));
        const cl_device_partition_property how[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1,
                                                    CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
        ClDevice sub;
        // rusticl's function crashes on devices that cannot be partitioned.
        if (ask<cl_uint>(clGetDeviceInfo, vendor_of(parent), CL_DEVICE_PARTITION_MAX_SUB_DEVICES) <
                2 ||
            clCreateSubDevices(vendor_of(parent), how, 1, sub.out(), nullptr) != CL_SUCCESS)
            continue;
        any = true;
        const cl_uint before = count(sub);
        const pi_native_desc desc = native_desc(sub);
        pi_device device = nullptr, again = nullptr;
        OK(piDeviceCreateWithNativeHandle(platform_of(parent), &desc, &device));
        OK(piDeviceCreateWithNativeHandle(platform_of(parent), &desc, &again));
        CHECK(device != parent);
        CHECK(vendor_of(device) == sub);
        CHECK(info<pi_device>(piDeviceGetInfo, device, PI_DEVICE_INFO_PARENT) == parent);
        CHECK(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_REFERENCE_COUNT) == 1);
        {
            // The context keeps it alive; another object of the same device works as well.
            const Context context = make_context({device});
            OK(piDeviceRelease(device));
            const Queue queue = make_queue(context, again);
            const Mem mem = make_buffer(context, again, 100);
            set_contents(queue, mem, std::vector<uint8_t>(100, 5));
            CHECK(contents(queue, mem) == std::vector<uint8_t>(100, 5));
            const Program program = build(context, "kernel void set(global uint *p) { *p = 1; }");
            auto build_desc = pi::desc<pi_program_build_desc>();
            build_desc.device_count = 1;
            build_desc.devices = &again;
            OK(piProgramBuild(program, &build_desc));
            // An OpenCL context with it; some drivers report its parent instead.
            const ClContext plain = make_cl_context(sub);
            const Context around = context_around(platform_of(parent), plain);
            if (ask<cl_device_id>(clGetContextInfo, plain.get(), CL_CONTEXT_DEVICES) == sub) {
                CHECK(vendor_of(make_queue(around, again)) != nullptr);
                refused(piQueueCreate(around, parent, nullptr, Queue().out()),
                        PI_ERROR_INVALID_DEVICE);
            }
        }
        OK(piDeviceRetain(again));
        OK(piDeviceRelease(again));
        CHECK(vendor_of(again) == sub);
        OK(piDeviceRelease(again));
        CHECK(settled_count(sub, before) == before);
        // With ownership.
        cl_ok(clRetainDevice(sub));
        const pi_native_desc own = native_desc(sub, PI_NATIVE_OWN);
        OK(piDeviceCreateWithNativeHandle(platform_of(parent), &own, &device));
        CHECK(settled_count(sub, before + 1) == before + 1);
        OK(piDeviceRelease(device));
        CHECK(settled_count(sub, before) == before);
    }
    if (!any)
        pi_test::skip("no device can be partitioned");
}

TEST_CASE("a context is created around a cl_context, owned or not") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const ClContext plain = make_cl_context(vendor_of(device));
        const cl_uint before = count(plain);
        for (const uint64_t flags : {0, static_cast<int>(PI_NATIVE_OWN)}) {
            if (flags)
                cl_ok(clRetainContext(plain)); // to be transferred
            {
                const Context context = context_around(platform_of(device), plain, flags);
                CHECK(vendor_of(context) == plain);
                CHECK(settled_count(plain, before + 1) == before + 1);
                CHECK(info<pi_device>(piContextGetInfo, context, PI_CONTEXT_INFO_DEVICES) ==
                      device);
                const Queue queue = make_queue(context, device);
                const Mem mem = make_buffer(context, device, 100);
                CHECK(ask<cl_context>(clGetMemObjectInfo, vendor_of(mem), CL_MEM_CONTEXT) == plain);
                set_contents(queue, mem, std::vector<uint8_t>(100, 7));
                CHECK(contents(queue, mem) == std::vector<uint8_t>(100, 7));
                pi_native_handle handle{};
                OK(piContextGetNativeHandle(context, device, &handle));
                CHECK(vendor<cl_context>(handle) == plain);
            }
            CHECK(settled_count(plain, before) == before);
        }
    }
}

TEST_CASE("a failed creation leaves the cl_context unchanged") {
    Loader loader;
    const std::vector<pi_device> devices = loader.devices();
    for (pi_device device : devices) {
        INFO(name_of(device));
        const ClContext plain = make_cl_context(vendor_of(device));
        const cl_uint before = count(plain);
        pi_native_desc desc = native_desc(plain, PI_NATIVE_OWN);
        pi_context context = nullptr;
        refuses_malformed(desc, [&](const pi_native_desc *bad) {
            return piContextCreateWithNativeHandle(platform_of(device), bad, &context);
        });
        refused(piContextCreateWithNativeHandle(platform_of(device), &desc, nullptr),
                PI_ERROR_INVALID_NULL_POINTER);
        for (pi_platform other : loader.platforms())
            if (other != platform_of(device))
                refused(piContextCreateWithNativeHandle(other, &desc, &context),
                        PI_ERROR_INVALID_NATIVE_HANDLE, {platform_name_of(device)});
        for (pi_device other : devices)
            if (other != device) {
                desc.device = other;
                refused(piContextCreateWithNativeHandle(platform_of(device), &desc, &context),
                        PI_ERROR_INVALID_DEVICE, {"device"});
                const Place place(device);
                pi_native_handle handle{};
                refused(piContextGetNativeHandle(place.context, other, &handle),
                        PI_ERROR_INVALID_DEVICE);
            }
        CHECK(context == nullptr);
        CHECK(settled_count(plain, before) == before);
    }
}

TEST_CASE("a program around a cl_program has its state, owned or not") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const ClProgram plain = build_cl(vendor_of(place.context), "-D UNUSED=1");
        const cl_uint before = count(plain);
        for (const uint64_t flags : {0, static_cast<int>(PI_NATIVE_OWN)}) {
            if (flags)
                cl_ok(clRetainProgram(plain));
            const pi_native_desc desc = native_desc(plain, flags);
            Program program;
            OK(piProgramCreateWithNativeHandle(place.context, &desc, program.out()));
            CHECK(settled_count(plain, before + 1) == before + 1);
            CHECK(vendor_of(program) == plain);
            CHECK(info<pi_program_format>(piProgramGetInfo, program, PI_PROGRAM_INFO_FORMAT) ==
                  PI_PROGRAM_FORMAT_OPENCL_C);
            CHECK(info<pi_device>(piProgramGetInfo, program, PI_PROGRAM_INFO_DEVICES) == device);
            uint32_t status = 0;
            OK(piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_STATUS, sizeof status,
                                     &status, nullptr));
            CHECK(status == PI_PROGRAM_BUILT);
            char options[64] = "";
            OK(piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_OPTIONS, sizeof options,
                                     options, nullptr));
            CHECK_THAT(options, Catch::Contains("-D UNUSED=1"));
            check_launch(place, place.queue, opencl_test::make_kernel(program, "set"), 42);
            program.reset();
            CHECK(settled_count(plain, before) == before);
        }
        // One that is not built yet, and one that cannot be.
        const ClProgram unbuilt = build_cl(vendor_of(place.context), nullptr);
        const pi_native_desc desc = native_desc(unbuilt);
        Program program;
        OK(piProgramCreateWithNativeHandle(place.context, &desc, program.out()));
        refused(piKernelCreate(program, "set", nullptr, Kernel().out()),
                PI_ERROR_INVALID_OPERATION);
        OK(piProgramBuild(program, nullptr));
        check_launch(place, place.queue, opencl_test::make_kernel(program, "set"), 43);
        const ClProgram broken = build_cl(vendor_of(place.context), nullptr);
        CHECK(clBuildProgram(broken, 0, nullptr, "-D kernel=this_does_not_compile", nullptr,
                             nullptr) == CL_BUILD_PROGRAM_FAILURE);
        const pi_native_desc bad = native_desc(broken);
        OK(piProgramCreateWithNativeHandle(place.context, &bad, program.out()));
        uint32_t status = 0;
        OK(piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_STATUS, sizeof status,
                                 &status, nullptr));
        CHECK(status == PI_PROGRAM_FAILED);
    }
}

TEST_CASE("a cl_kernel is a kernel of its program, owned or not") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Program program = build(place.context, source);
        cl_int code = CL_SUCCESS;
        const ClKernel plain(clCreateKernel(vendor_of(program), "set", &code));
        cl_ok(code);
        const cl_uint before = count(plain);
        for (const uint64_t flags : {0, static_cast<int>(PI_NATIVE_OWN)}) {
            if (flags)
                cl_ok(clRetainKernel(plain));
            const pi_native_desc desc = native_desc(plain, flags);
            Kernel kernel;
            OK(piKernelCreateWithNativeHandle(program, &desc, kernel.out()));
            CHECK(settled_count(plain, before + 1) == before + 1);
            CHECK(vendor_of(kernel) == plain);
            CHECK(info_text(piKernelGetInfo, kernel, PI_KERNEL_INFO_NAME) == "set");
            CHECK(info<uint32_t>(piKernelGetInfo, kernel, PI_KERNEL_INFO_ARGUMENT_COUNT) == 2);
            check_launch(place, place.queue, kernel, 17);
            kernel.reset();
            CHECK(settled_count(plain, before) == before);
        }
        // The other direction: OpenCL launches PI's kernel.
        const Kernel kernel = opencl_test::make_kernel(program, "set");
        const Mem mem = place.buffer(64);
        const cl_mem buffer = vendor_of(mem);
        const cl_uint value = 99;
        cl_ok(clSetKernelArg(vendor_of(kernel), 0, sizeof buffer, &buffer));
        cl_ok(clSetKernelArg(vendor_of(kernel), 1, sizeof value, &value));
        const size_t size = 16;
        const ClQueue queue = make_cl_queue(vendor_of(place.context), vendor_of(device));
        cl_ok(clEnqueueNDRangeKernel(queue, vendor_of(kernel), 1, nullptr, &size, nullptr, 0,
                                     nullptr, nullptr));
        cl_ok(clFinish(queue));
        CHECK(contents(place.queue, mem).at(4) == 99);
    }
}

TEST_CASE("arguments set by the application do not affect PI's launches") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Program program = build(place.context, source);
        const Kernel kernel = opencl_test::make_kernel(program, "set");
        const Mem mem = place.buffer(64);
        const uint32_t right = 1, wrong = 2;
        const Event gate = make_host_event(place.context);
        const Event done = launch(place.queue, kernel, 16,
                                  {buffer_argument(mem), value_argument(right)}, {{gate}});
        cl_ok(clSetKernelArg(vendor_of(kernel), 1, sizeof wrong, &wrong));
        OK(piEventSignalHost(gate, PI_SUCCESS));
        wait(done);
        CHECK(contents(place.queue, mem).at(0) == 1);
    }
}

TEST_CASE("programs and kernels of other contexts are refused, and stay the application's") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device), other(device);
        const ClProgram plain = build_cl(vendor_of(other.context));
        const cl_uint before = count(plain);
        pi_native_desc desc = native_desc(plain, PI_NATIVE_OWN);
        pi_program program = nullptr;
        refused(piProgramCreateWithNativeHandle(place.context, &desc, &program),
                PI_ERROR_INVALID_NATIVE_HANDLE, {"cl_program", "cl_context"});
        refuses_malformed(desc, [&](const pi_native_desc *bad) {
            return piProgramCreateWithNativeHandle(other.context, bad, &program);
        });
        refused(piProgramCreateWithNativeHandle(other.context, &desc, nullptr),
                PI_ERROR_INVALID_NULL_POINTER);
        CHECK(program == nullptr);
        CHECK(settled_count(plain, before) == before);

        const Program ours = build(place.context, source);
        cl_int code = CL_SUCCESS;
        const ClKernel another(clCreateKernel(plain, "twice", &code));
        cl_ok(code);
        desc = native_desc(another, PI_NATIVE_OWN);
        pi_kernel kernel = nullptr;
        refused(piKernelCreateWithNativeHandle(ours, &desc, &kernel),
                PI_ERROR_INVALID_NATIVE_HANDLE, {"cl_kernel", "cl_program"});
        refuses_malformed(desc, [&](const pi_native_desc *bad) {
            return piKernelCreateWithNativeHandle(ours, bad, &kernel);
        });
        CHECK(kernel == nullptr);
        CHECK(settled_count(another, 1) == 1);
        for (pi_device another_device : loader.devices())
            if (another_device != device) {
                pi_native_handle handle{};
                refused(piProgramGetNativeHandle(ours, another_device, &handle),
                        PI_ERROR_INVALID_DEVICE);
                desc.device = another_device;
                refused(piKernelCreateWithNativeHandle(ours, &desc, &kernel),
                        PI_ERROR_INVALID_DEVICE);
            }
    }
}
