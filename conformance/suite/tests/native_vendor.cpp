// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native handles, as the vendor's own API sees them. Only what its ABI fixes is declared here.

#include "image.hpp"
#include "launch_fixture.hpp"
#include "native.hpp"
#include "partition.hpp"
#include "registry.hpp"
#include "vendor_symbols.hpp"

#include <chrono>
#include <thread>
#include <unistd.h>

namespace pi::suite {
namespace {

void need_backend(Fixture &fixture, uint32_t backend, const char *name) {
    need_native(fixture);
    if (get_info<uint32_t>(&piPlatformGetInfo, fixture.platform(), PI_PLATFORM_INFO_BACKEND) !=
        backend)
        skip(join("the platform is not of ", name));
}

// A handle of one value of this type.
template <typename Get>
void *handle_of(pi_native_type type, const char *name, Get &&get) {
    pi_native_handle handle = poison<pi_native_handle>();
    require_success(get(&handle), name);
    require_equal(handle.type, type, join(name, ": the type"));
    require_equal(handle.count, 1u, join(name, ": the count"));
    return reinterpret_cast<void *>(handle.value[0]);
}

// ----- OpenCL -----

constexpr const char *opencl_library = "libOpenCL";

using ClInfo = int32_t (*)(void *, uint32_t, std::size_t, void *, std::size_t *);

template <typename T>
T cl_info(const char *function, void *object, uint32_t name) {
    T value{};
    const int32_t code = vendor_function<ClInfo>(opencl_library, function)(
        object, name, sizeof value, &value, nullptr);
    require_equal(code, 0, join("what ", function, " of a native handle returns"));
    return value;
}

CONFORMANCE_TEST("context", "OpenCL's native handles are OpenCL's objects") {
    need_backend(fixture, PI_BACKEND_OPENCL, "OpenCL");
    const LaunchFixture setup(fixture);
    const pi_device device = fixture.device();
    const auto handle = [](const char *name, auto &&get) {
        return handle_of(PI_NATIVE_OPENCL, name, get);
    };
    void *const cl_device = handle("piDeviceGetNativeHandle", [&](pi_native_handle *out) {
        return piDeviceGetNativeHandle(device, out);
    });
    require_equal(cl_info<uint32_t>("clGetDeviceInfo", cl_device, 0x1002),
                  info_or(&piDeviceGetInfo, device, PI_DEVICE_INFO_COMPUTE_UNITS, 0u),
                  "CL_DEVICE_MAX_COMPUTE_UNITS");
    void *const cl_context = handle("piContextGetNativeHandle", [&](pi_native_handle *out) {
        return piContextGetNativeHandle(fixture.context(), device, out);
    });
    require_equal(cl_info<uint32_t>("clGetContextInfo", cl_context, 0x1083), 1u,
                  "CL_CONTEXT_NUM_DEVICES");
    void *const cl_queue = handle("piQueueGetNativeHandle", [&](pi_native_handle *out) {
        return piQueueGetNativeHandle(setup.queue, out);
    });
    require(cl_info<void *>("clGetCommandQueueInfo", cl_queue, 0x1090) == cl_context,
            "CL_QUEUE_CONTEXT is another context than its native handle");
    const Mem mem = fixture.make_buffer(4096);
    void *const cl_mem = handle("piMemGetNativeHandle", [&](pi_native_handle *out) {
        return piMemGetNativeHandle(mem, device, out);
    });
    require(cl_info<std::size_t>("clGetMemObjectInfo", cl_mem, 0x1102) >= 4096,
            "CL_MEM_SIZE is less than the buffer's size");
    const Event event = fixture.fill(setup.queue, mem, 0, 4096, Bytes(1, std::byte{1}));
    fixture.wait(event);
    void *const cl_event = handle("piEventGetNativeHandle", [&](pi_native_handle *out) {
        return piEventGetNativeHandle(event, out);
    });
    require_equal(cl_info<int32_t>("clGetEventInfo", cl_event, 0x11D3), 0,
                  "CL_EVENT_COMMAND_EXECUTION_STATUS of a complete command");
    void *const cl_program = handle("piProgramGetNativeHandle", [&](pi_native_handle *out) {
        return piProgramGetNativeHandle(setup.program, device, out);
    });
    require_equal(cl_info<uint32_t>("clGetProgramInfo", cl_program, 0x1162), 1u,
                  "CL_PROGRAM_NUM_DEVICES");
    const Kernel kernel = make_kernel(setup.program, "combine");
    void *const cl_kernel = handle("piKernelGetNativeHandle", [&](pi_native_handle *out) {
        return piKernelGetNativeHandle(kernel, device, out);
    });
    require_equal(cl_info<uint32_t>("clGetKernelInfo", cl_kernel, 0x1191), 4u,
                  "CL_KERNEL_NUM_ARGS");
}

// How often the object is referenced, before and after an object that owns a handle of it.
template <typename Handle, typename Create>
void check_owned(const char *what, void *object, const char *retain, const char *info,
                 uint32_t name, const pi_native_desc &good, Create &&create) {
    const auto references = [&] { return cl_info<uint32_t>(info, object, name); };
    const uint32_t before = references();
    require_equal(vendor_function<int32_t (*)(void *)>(opencl_library, retain)(object), 0, retain);
    pi_native_desc desc = good;
    desc.flags = PI_NATIVE_OWN;
    {
        const Owner<Handle> owning = make_around<Handle>(what, desc, create);
        require(references() > before, what, " with PI_NATIVE_OWN has released the handle");
    }
    require_equal(references(), before,
                  join("the references of a handle after the release of the object that ", what,
                       " with PI_NATIVE_OWN has made"));
}

CONFORMANCE_TEST("lifetime", "an object that owns its native handle releases it at its end") {
    need_backend(fixture, PI_BACKEND_OPENCL, "OpenCL");
    const LaunchFixture setup(fixture);
    const pi_device device = fixture.device();
    const pi_context context = fixture.context();
    pi_native_handle handle{};
    const auto value = [&] { return reinterpret_cast<void *>(handle.value[0]); };
    require_success(piContextGetNativeHandle(context, device, &handle), "its handle");
    check_owned<pi_context>(
        "piContextCreateWithNativeHandle", value(), "clRetainContext", "clGetContextInfo", 0x1080,
        native_desc(handle, device), [&](const pi_native_desc *one, pi_context *out) {
            return piContextCreateWithNativeHandle(fixture.platform(), one, out);
        });
    require_success(piQueueGetNativeHandle(setup.queue, &handle), "its handle");
    check_owned<pi_queue>("piQueueCreateWithNativeHandle", value(), "clRetainCommandQueue",
                          "clGetCommandQueueInfo", 0x1092, native_desc(handle),
                          [&](const pi_native_desc *one, pi_queue *out) {
                              return piQueueCreateWithNativeHandle(context, device, one, out);
                          });
    require_success(piProgramGetNativeHandle(setup.program, device, &handle), "its handle");
    check_owned<pi_program>("piProgramCreateWithNativeHandle", value(), "clRetainProgram",
                            "clGetProgramInfo", 0x1160, native_desc(handle, device),
                            [&](const pi_native_desc *one, pi_program *out) {
                                return piProgramCreateWithNativeHandle(context, one, out);
                            });
    const Kernel kernel = make_kernel(setup.program, "add");
    require_success(piKernelGetNativeHandle(kernel, device, &handle), "its handle");
    check_owned<pi_kernel>("piKernelCreateWithNativeHandle", value(), "clRetainKernel",
                           "clGetKernelInfo", 0x1192, native_desc(handle, device),
                           [&](const pi_native_desc *one, pi_kernel *out) {
                               return piKernelCreateWithNativeHandle(setup.program, one, out);
                           });
    const Mem mem = fixture.make_buffer(4096);
    const Event event = fixture.fill(setup.queue, mem, 0, 4096, Bytes(1, std::byte{1}));
    fixture.wait(event);
    require_success(piEventGetNativeHandle(event, &handle), "its handle");
    check_owned<pi_event>("piEventCreateWithNativeHandle", value(), "clRetainEvent",
                          "clGetEventInfo", 0x11D2, native_desc(handle),
                          [&](const pi_native_desc *one, pi_event *out) {
                              return piEventCreateWithNativeHandle(context, one, out);
                          });
    // Memory, by an import.
    require_success(piMemGetNativeHandle(mem, device, &handle), "its handle");
    const auto references = [&] {
        return cl_info<uint32_t>("clGetMemObjectInfo", value(), 0x1105);
    };
    const uint32_t before = references();
    require_equal(
        vendor_function<int32_t (*)(void *)>(opencl_library, "clRetainMemObject")(value()), 0,
        "clRetainMemObject");
    auto desc = pi::desc<pi_mem_import_desc>();
    desc.size = 4096;
    desc.handle.type = PI_EXTERNAL_NATIVE;
    desc.handle.native = handle;
    desc.own = 1;
    {
        Mem imported;
        require_success(piMemImport(context, device, &desc, imported.out()),
                        "piMemImport of a native handle with own 1");
        require(references() > before, "piMemImport with own 1 has released the handle");
        fixture.require_contents(setup.queue, imported, Bytes(4096, std::byte{1}),
                                 "memory that owns its native handle");
    }
    require_equal(references(), before,
                  "the references of a memory object after the release of its import with own 1");
}

// ----- CUDA -----

constexpr const char *cuda_library = "cuda";

template <typename... Arguments>
void cuda(const char *name, Arguments... arguments) {
    require_equal(vendor_function<int (*)(Arguments...)>(cuda_library, name)(arguments...), 0,
                  join("what ", name, " of a native handle returns"));
}

// The context of a native handle is the thread's while this lives.
class Current {
public:
    explicit Current(void *context) { cuda("cuCtxPushCurrent_v2", context); }
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;
    ~Current() {
        void *context = nullptr;
        vendor_function<int (*)(void **)>(cuda_library, "cuCtxPopCurrent_v2")(&context);
    }
};

void *cuda_context(Fixture &fixture) {
    return handle_of(PI_NATIVE_CUDA_CONTEXT, "piContextGetNativeHandle",
                     [&](pi_native_handle *out) {
                         return piContextGetNativeHandle(fixture.context(), fixture.device(), out);
                     });
}

CONFORMANCE_TEST("context", "CUDA's native handles are CUDA's devices, pointers and arrays") {
    need_backend(fixture, PI_BACKEND_CUDA, "CUDA");
    const pi_device device = fixture.device();
    const auto id = static_cast<int>(reinterpret_cast<uintptr_t>(
        handle_of(PI_NATIVE_CUDA_DEVICE, "piDeviceGetNativeHandle",
                  [&](pi_native_handle *out) { return piDeviceGetNativeHandle(device, out); })));
    int units = 0;
    cuda("cuDeviceGetAttribute", &units, 16, id);
    require_equal(static_cast<uint32_t>(units),
                  info_or(&piDeviceGetInfo, device, PI_DEVICE_INFO_COMPUTE_UNITS, 0u),
                  "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT");
    const Mem mem = fixture.make_buffer(5000);
    const Current current(cuda_context(fixture));
    const auto pointer = reinterpret_cast<uintptr_t>(
        handle_of(PI_NATIVE_CUDA_POINTER, "piMemGetNativeHandle",
                  [&](pi_native_handle *out) { return piMemGetNativeHandle(mem, device, out); }));
    require_equal(info_or(&piMemGetInfo, mem.get(), PI_MEM_INFO_DEVICE_ADDRESS, uint64_t{0}),
                  pointer, "PI_MEM_INFO_DEVICE_ADDRESS, as the native handle,");
    uint64_t base = 0;
    std::size_t size = 0;
    cuda("cuMemGetAddressRange_v2", &base, &size, uint64_t{pointer});
    require(base <= pointer && pointer + 5000 <= base + size, "CUDA's range of a buffer at ",
            pointer, " begins at ", base, " and has ", size, " bytes");
    if (!fixture.can(PI_CAPABILITY_IMAGE))
        return;
    const pi_mem_image_desc desc = flat_image_desc(fixture, 24, 17);
    const Mem image = make_image(fixture, desc);
    pi_native_handle handle = poison<pi_native_handle>();
    require_success(piMemGetNativeHandle(image, device, &handle), "piMemGetNativeHandle");
    require_equal(handle.type, pi_native_type{PI_NATIVE_CUDA_ARRAY_TEXTURE},
                  "the type of an image's native handle");
    require_equal(handle.count, 2u, "the count of an image's native handle");
    struct {
        std::size_t width, height, depth;
        int format;
        unsigned channels, flags;
    } array{};
    cuda("cuArray3DGetDescriptor_v2", static_cast<void *>(&array),
         reinterpret_cast<void *>(handle.value[0]));
    require_equal(array.width, std::size_t{24}, "the width of CUDA's array");
    require_equal(array.height, std::size_t{17}, "the height of CUDA's array");
    require(handle.value[1] != 0, "an image's native handle has no CUtexObject");
}

CONFORMANCE_TEST("memory", "memory of CUDA that an import owns is freed with it") {
    need_backend(fixture, PI_BACKEND_CUDA, "CUDA");
    const Current current(cuda_context(fixture));
    uint64_t pointer = 0;
    cuda("cuMemAlloc_v2", &pointer, std::size_t{4096});
    auto desc = pi::desc<pi_mem_import_desc>();
    desc.size = 4096;
    desc.handle.type = PI_EXTERNAL_NATIVE;
    desc.handle.native.type = PI_NATIVE_CUDA_POINTER;
    desc.handle.native.count = 1;
    desc.handle.native.value[0] = pointer;
    for (const uint32_t own : {0u, 1u}) {
        desc.own = own;
        {
            const Queue queue = fixture.make_queue();
            Mem imported;
            require_success(piMemImport(fixture.context(), fixture.device(), &desc, imported.out()),
                            "piMemImport of a CUdeviceptr with own ", own);
            const Bytes bytes = fixture.random_bytes(4096);
            fixture.upload(queue, imported, bytes);
            fixture.require_contents(queue, imported, bytes, "memory of CUDA");
        }
        const auto is_known = [&] {
            int type = 0;
            return vendor_function<int (*)(void *, int, uint64_t)>(
                       cuda_library, "cuPointerGetAttribute")(&type, 2, pointer) == 0;
        };
        // The last command's own reference may be the last one.
        const auto end = std::chrono::steady_clock::now() + fixture.patience();
        while (own != 0 && is_known() && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        require_equal(
            is_known(), own == 0,
            join("whether CUDA knows memory after the release of its import with own ", own));
    }
}

CONFORMANCE_TEST("memory", "CUDA imports the file descriptor of exported memory") {
    need_backend(fixture, PI_BACKEND_CUDA, "CUDA");
    const auto exports =
        info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_EXPORT_HANDLE_TYPES, 0u);
    if ((exports >> PI_EXTERNAL_OPAQUE_FD & 1) == 0)
        skip("the device exports no PI_EXTERNAL_OPAQUE_FD");
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = 4096;
    desc.export_types = 1u << PI_EXTERNAL_OPAQUE_FD;
    const Mem mem = fixture.make_buffer(fixture.place(), desc);
    auto export_desc = pi::desc<pi_mem_export_desc>();
    export_desc.external_type = PI_EXTERNAL_OPAQUE_FD;
    pi_external_handle handle{};
    require_success(piMemExport(mem, &export_desc, &handle), "piMemExport");
    const Current current(cuda_context(fixture));
    unsigned long long allocation = 0;
    const int code = vendor_function<int (*)(unsigned long long *, void *, int)>(
        cuda_library, "cuMemImportFromShareableHandle")(
        &allocation, reinterpret_cast<void *>(static_cast<intptr_t>(handle.fd)), 1);
    close(handle.fd);
    require_equal(code, 0, "what cuMemImportFromShareableHandle of an exported descriptor returns");
    cuda("cuMemRelease", allocation);
}

// ----- Level Zero -----

constexpr const char *level_zero_library = "libze_loader";

template <typename... Arguments>
void level_zero(const char *name, Arguments... arguments) {
    require_equal(vendor_function<int (*)(Arguments...)>(level_zero_library, name)(arguments...), 0,
                  join("what ", name, " of a native handle returns"));
}

CONFORMANCE_TEST("context", "Level Zero's native handles are Level Zero's objects") {
    need_backend(fixture, PI_BACKEND_LEVEL_ZERO, "Level Zero");
    const LaunchFixture setup(fixture);
    const pi_device device = fixture.device();
    const auto handle = [](const char *name, auto &&get) {
        return handle_of(PI_NATIVE_LEVEL_ZERO, name, get);
    };
    void *const ze_device = handle("piDeviceGetNativeHandle", [&](pi_native_handle *out) {
        return piDeviceGetNativeHandle(device, out);
    });
    level_zero("zeDeviceGetStatus", ze_device);
    void *const ze_context = handle("piContextGetNativeHandle", [&](pi_native_handle *out) {
        return piContextGetNativeHandle(fixture.context(), device, out);
    });
    level_zero("zeContextGetStatus", ze_context);
    const Kernel kernel = make_kernel(setup.program, "combine");
    void *const ze_kernel = handle("piKernelGetNativeHandle", [&](pi_native_handle *out) {
        return piKernelGetNativeHandle(kernel, device, out);
    });
    char name[64] = "";
    std::size_t room = sizeof name;
    level_zero("zeKernelGetName", ze_kernel, &room, static_cast<char *>(name));
    require_equal(std::string(name), "combine", "the name that Level Zero reports of a kernel");
    void *const ze_module = handle("piProgramGetNativeHandle", [&](pi_native_handle *out) {
        return piProgramGetNativeHandle(setup.program, device, out);
    });
    uint32_t kernels = 0;
    const char **no_names = nullptr;
    level_zero("zeModuleGetKernelNames", ze_module, &kernels, no_names);
    require(kernels >= 5, "Level Zero reports ", kernels, " kernels of the suite's program");
    const Mem mem = fixture.make_buffer(5000);
    const auto pointer = reinterpret_cast<uintptr_t>(
        handle_of(PI_NATIVE_LEVEL_ZERO_POINTER, "piMemGetNativeHandle",
                  [&](pi_native_handle *out) { return piMemGetNativeHandle(mem, device, out); }));
    require_equal(info_or(&piMemGetInfo, mem.get(), PI_MEM_INFO_DEVICE_ADDRESS, uint64_t{0}),
                  pointer, "PI_MEM_INFO_DEVICE_ADDRESS, as the native handle,");
    void *base = nullptr;
    std::size_t size = 0;
    level_zero("zeMemGetAddressRange", ze_context, reinterpret_cast<const void *>(pointer), &base,
               &size);
    const auto begin = reinterpret_cast<uintptr_t>(base);
    require(begin <= pointer && pointer + 5000 <= begin + size,
            "Level Zero's range of a buffer at ", pointer, " begins at ", begin, " and has ", size,
            " bytes");
    const Event event = fixture.fill(setup.queue, mem, 0, 5000, Bytes(1, std::byte{1}));
    fixture.wait(event);
    pi_native_handle of_event{};
    if (piEventGetNativeHandle(event, &of_event) == PI_SUCCESS)
        level_zero("zeEventQueryStatus", reinterpret_cast<void *>(of_event.value[0]));
}

CONFORMANCE_TEST("device",
                 "a partition by hardware has a sub-device for each of Level Zero's tiles") {
    need_backend(fixture, PI_BACKEND_LEVEL_ZERO, "Level Zero");
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const pi_device device = fixture.device();
    if (!has_kind(device, PI_PARTITION_BY_HARDWARE))
        skip("the device has no partition by hardware");
    void *const ze_device =
        handle_of(PI_NATIVE_LEVEL_ZERO, "piDeviceGetNativeHandle",
                  [&](pi_native_handle *out) { return piDeviceGetNativeHandle(device, out); });
    uint32_t tiles = 0;
    void **no_devices = nullptr;
    level_zero("zeDeviceGetSubDevices", ze_device, &tiles, no_devices);
    require_equal(count_of(device, partition_desc(PI_PARTITION_BY_HARDWARE)), tiles,
                  "the number of sub-devices of a partition by hardware");
}

} // namespace
} // namespace pi::suite
