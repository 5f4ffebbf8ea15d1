// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native handles that the conformance suite, which knows no CUDA, cannot create: contexts, memory,
// programs, kernels.
#include "native.hpp"

using namespace cuda_test;
namespace own = pi_cuda_test;

namespace {

bool primary_active(int device) {
    unsigned flags = 0;
    int active = 0;
    REQUIRE(cu().cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS);
    return active != 0;
}

bool is_memory(own::CUdeviceptr address) {
    unsigned type = 0;
    return cu().cuPointerGetAttribute(&type, own::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) ==
           CUDA_SUCCESS;
}

bool is_module(own::CUmodule module) {
    unsigned count = 0;
    return cu().cuModuleGetFunctionCount(&count, module) == CUDA_SUCCESS;
}

pi_mem_import_desc import_desc(own::CUdeviceptr address, uint64_t size, bool take = false) {
    auto d = pi::desc<pi_mem_import_desc>();
    d.size = size;
    d.own = take;
    d.handle.type = PI_EXTERNAL_NATIVE;
    d.handle.native = native_desc(PI_NATIVE_CUDA_POINTER, address).handle;
    return d;
}

pi_result import(const Machine &machine, const pi_mem_import_desc &desc, pi_mem *out,
                 size_t device = first) {
    return piMemImport(machine.context, machine.devices[device], &desc, out);
}

Owned<pi_program> program_around(const Machine &machine, own::CUmodule module, bool take = false) {
    const auto d = native_desc(PI_NATIVE_CUDA_MODULE, module, take, machine.devices[first]);
    Owned<pi_program> made;
    OK(piProgramCreateWithNativeHandle(machine.context, &d, made.out()));
    return made;
}

pi_result kernel_around(pi_program program, own::CUfunction function, pi_kernel *out) {
    const auto d = native_desc(PI_NATIVE_CUDA_FUNCTION, function);
    return piKernelCreateWithNativeHandle(program, &d, out);
}

} // namespace

TEST_CASE("a device's native handle is its CUdevice, and an unknown one is refused") {
    const Machine machine;
    for (const size_t device : {first, second, third, lone})
        CHECK(native_of<uint64_t>([&](pi_native_handle *out) {
                  return piDeviceGetNativeHandle(machine.devices[device], out);
              }) == device);
    pi_device found = nullptr;
    for (const uint64_t value : {uint64_t{4}, UINT64_MAX, uint64_t{1} << 32}) {
        const auto d = native_desc(PI_NATIVE_CUDA_DEVICE, value);
        REFUSED(PI_ERROR_INVALID_NATIVE_HANDLE, "not one of the platform's devices",
                piDeviceCreateWithNativeHandle(machine.platform, &d, &found));
    }
}

TEST_CASE("a context is created around a primary CUcontext, owned or not") {
    for (const bool take : {false, true}) {
        {
            const Machine machine({second});
            own::CUcontext context = nullptr;
            REQUIRE(cu().cuDevicePrimaryCtxRetain(&context, first) == CUDA_SUCCESS);
            Owned<pi_context> made;
            const auto d = native_desc(PI_NATIVE_CUDA_CONTEXT, context, take);
            OK(piContextCreateWithNativeHandle(machine.platform, &d, made.out()));
            CHECK(native_of<own::CUcontext>([&](pi_native_handle *out) {
                      return piContextGetNativeHandle(made, machine.devices[first], out);
                  }) == context);
        }
        // All PI objects are released: only the application's context may be left.
        CHECK(primary_active(first) == !take);
        if (!take)
            cu().cuDevicePrimaryCtxRelease_v2(first);
        CHECK(!primary_active(first));
    }
}

TEST_CASE("a CUcontext that is not the primary one is refused, and stays the application's") {
    const Machine machine({second});
    own::CUcontext context = nullptr;
    REQUIRE(cu().cuCtxCreate_v2(&context, 0, first) == CUDA_SUCCESS);
    Owned<pi_context> made;
    const auto d = native_desc(PI_NATIVE_CUDA_CONTEXT, context, true);
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "primary",
            piContextCreateWithNativeHandle(machine.platform, &d, made.out()));
    own::CUcontext current = nullptr;
    REQUIRE(cu().cuCtxGetCurrent(&current) == CUDA_SUCCESS);
    CHECK(current == context);
    CHECK(cu().cuCtxDestroy_v2(context) == CUDA_SUCCESS);
    REFUSED(PI_ERROR_INVALID_NATIVE_HANDLE, "CUDA_ERROR_INVALID_CONTEXT",
            piContextCreateWithNativeHandle(machine.platform, &d, made.out()));
    const own::Current primary(first);
    const auto wrong =
        native_desc(PI_NATIVE_CUDA_CONTEXT, primary.context, false, machine.devices[second]);
    REFUSED(PI_ERROR_INVALID_NATIVE_HANDLE, "of first (simulated), not of device (second",
            piContextCreateWithNativeHandle(machine.platform, &wrong, made.out()));
    const auto of_context = native_desc(PI_NATIVE_CUDA_STREAM, primary.context);
    REFUSED(PI_ERROR_INVALID_NATIVE_HANDLE, "PI_NATIVE_CUDA_CONTEXT",
            piContextCreateWithNativeHandle(machine.platform, &of_context, made.out()));
}

TEST_CASE("a buffer is created around CUDA memory at its address, owned or not") {
    const own::Current current(first);
    for (const bool take : {false, true}) {
        own::CUdeviceptr address = 0;
        REQUIRE(cu().cuMemAlloc_v2(&address, 4096) == CUDA_SUCCESS);
        REQUIRE(cu().cuMemsetD32_v2(address, 7, 1024) == CUDA_SUCCESS);
        // A memset is asynchronous, and PI's queues do not wait for it.
        REQUIRE(cu().cuCtxSynchronize() == CUDA_SUCCESS);
        {
            const Machine machine;
            const Owned<pi_queue> queue = machine.queue();
            Owned<pi_mem> mem;
            auto d = import_desc(address, 1024, take);
            d.offset = 2048;
            OK(import(machine, d, mem.out()));
            CHECK(native_of<own::CUdeviceptr>([&](pi_native_handle *out) {
                      return piMemGetNativeHandle(mem, machine.devices[first], out);
                  }) == address + 2048);
            CHECK(read_words(queue, mem, 256) == std::vector<uint32_t>(256, 7));
            const uint32_t pattern = 9;
            const auto fill = fill_desc(mem, &pattern, 4, 0, 1024, PI_COMMAND_BLOCKING);
            OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
        }
        CHECK(is_memory(address) == !take);
        if (!take) {
            const auto bytes = own::read(address, 4096);
            CHECK(bytes[2047] == 0);
            CHECK(bytes[2048] == 9);
            CHECK(bytes[3068] == 9);
            CHECK(bytes[3072] == 7);
            REQUIRE(cu().cuMemFree_v2(address) == CUDA_SUCCESS);
        }
    }
}

TEST_CASE("a buffer is created around CUDA's pinned memory, owned or not") {
    const own::Current current(first);
    for (const bool take : {false, true}) {
        void *pinned = nullptr;
        REQUIRE(cu().cuMemHostAlloc(&pinned, 4096, own::CU_MEMHOSTALLOC_PORTABLE) == CUDA_SUCCESS);
        const auto address = reinterpret_cast<own::CUdeviceptr>(pinned);
        {
            const Machine machine;
            Owned<pi_mem> mem;
            OK(import(machine, import_desc(address, 4096, take), mem.out()));
            void *pointer = nullptr;
            OK(piMemGetHostPointer(mem, &pointer));
            CHECK(pointer == pinned);
            CHECK(info<uint32_t>(piMemGetInfo, mem, PI_MEM_INFO_SCOPE) == 1);
            const uint32_t pattern = 5;
            const auto fill = fill_desc(mem, &pattern, 4, 0, 4096, PI_COMMAND_BLOCKING);
            OK(piEnqueueMemBufferFill(machine.queue(), &fill, 0, nullptr, nullptr));
            CHECK(static_cast<uint32_t *>(pinned)[1023] == 5);
        }
        CHECK(is_memory(address) == !take);
        if (!take)
            REQUIRE(cu().cuMemFreeHost(pinned) == CUDA_SUCCESS);
    }
}

namespace {

/// Memory of the first device that peer access does not cover: of its pool, or virtual memory.
struct GrantedApart {
    explicit GrantedApart(bool of_pool) : pool(of_pool) {
        const own::CUmemAllocationProp properties{
            .type = own::CU_MEM_ALLOCATION_TYPE_PINNED,
            .requestedHandleTypes = own::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
            .location = {own::CU_MEM_LOCATION_TYPE_DEVICE, first}};
        const own::CUmemAccessDesc grant{properties.location,
                                         own::CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        if (pool) {
            REQUIRE(cu().cuMemAllocAsync(&address, size, nullptr) == CUDA_SUCCESS);
        } else {
            REQUIRE(cu().cuMemCreate(&physical, size, &properties, 0) == CUDA_SUCCESS);
            REQUIRE(cu().cuMemAddressReserve(&address, size, 0, 0, 0) == CUDA_SUCCESS);
            REQUIRE(cu().cuMemMap(address, size, 0, physical, 0) == CUDA_SUCCESS);
            REQUIRE(cu().cuMemSetAccess(address, size, &grant, 1) == CUDA_SUCCESS);
        }
        REQUIRE(cu().cuMemsetD32_v2(address, 7, size / 4) == CUDA_SUCCESS);
        REQUIRE(cu().cuCtxSynchronize() == CUDA_SUCCESS);
    }
    ~GrantedApart() {
        if (pool) {
            cu().cuMemFreeAsync(address, nullptr);
            cu().cuCtxSynchronize();
        } else {
            cu().cuMemUnmap(address, size);
            cu().cuMemAddressFree(address, size);
            cu().cuMemRelease(physical);
        }
    }
    GrantedApart(const GrantedApart &) = delete;
    static constexpr size_t size = size_t{2} << 20;
    bool pool;
    own::CUdeviceptr address = 0;
    own::CUmemGenericAllocationHandle physical = 0;
};

} // namespace

TEST_CASE("peers cannot use memory of a pool or virtual memory, but copy to and from it") {
    const own::Current current(first);
    const bool pool = GENERATE(true, false);
    const GrantedApart memory(pool);
    const Machine machine;
    REQUIRE(machine.connection(first, second).connection == PI_MEMORY_CONNECTION_UNIFIED);
    Owned<pi_mem> mem;
    OK(import(machine, import_desc(memory.address, 1024), mem.out()));
    CHECK(read_words(machine.queue(), mem, 256) == std::vector<uint32_t>(256, 7));
    const Owned<pi_queue> peer = machine.queue(second);
    const uint32_t nine = 9;
    const auto fill = fill_desc(mem, &nine, 4, 0, 1024, PI_COMMAND_BLOCKING);
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "a pool or to virtual memory",
            piEnqueueMemBufferFill(peer, &fill, 0, nullptr, nullptr));
    pi_native_handle handle{};
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "a pool or to virtual memory",
            piMemGetNativeHandle(mem, machine.devices[second], &handle));
    const Owned<pi_mem> other = machine.buffer(second, 1024);
    for (const size_t device : {first, second}) {
        const Owned<pi_queue> queue = machine.queue(device);
        pi_region half{};
        half.src_offset = half.dst_offset = 512 * device;
        half.extent[0] = 512;
        const auto copy = copy_desc(mem, other, half, PI_COMMAND_BLOCKING);
        OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr));
    }
    CHECK(read_words(peer, other, 256) == std::vector<uint32_t>(256, 7));
}

TEST_CASE("memory of another device is refused, and stays the application's") {
    const Machine machine;
    const own::Current current(first);
    Owned<pi_mem> made;
    own::CUdeviceptr address = 0, managed = 0;
    REQUIRE(cu().cuMemAlloc_v2(&address, 4096) == CUDA_SUCCESS);
    REQUIRE(cu().cuMemAllocManaged(&managed, 4096, own::CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
    REFUSED(PI_ERROR_INVALID_NATIVE_HANDLE, "second (simulated)",
            import(machine, import_desc(address, 64, true), made.out(), second));
    REFUSED(PI_ERROR_INVALID_SIZE, "handle.native",
            import(machine, import_desc(address + 1, 4096), made.out()));
    REFUSED(PI_ERROR_INVALID_NATIVE_HANDLE, "256 bytes into",
            import(machine, import_desc(address + 256, 64, true), made.out()));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "managed",
            import(machine, import_desc(managed, 64, true), made.out()));
    auto twice = import_desc(address, 64);
    twice.own = 2;
    REFUSED(PI_ERROR_INVALID_VALUE, "own is 2", import(machine, twice, made.out()));
    own::CUcontext other = nullptr;
    REQUIRE(cu().cuCtxCreate_v2(&other, 0, first) == CUDA_SUCCESS);
    own::CUdeviceptr another = 0;
    REQUIRE(cu().cuMemAlloc_v2(&another, 64) == CUDA_SUCCESS);
    REFUSED(PI_ERROR_INVALID_NATIVE_HANDLE, "primary",
            import(machine, import_desc(another, 64, true), made.out()));
    CHECK(cu().cuMemFree_v2(another) == CUDA_SUCCESS);
    CHECK(cu().cuCtxDestroy_v2(other) == CUDA_SUCCESS);
    CHECK(cu().cuMemFree_v2(address) == CUDA_SUCCESS);
    CHECK(cu().cuMemFree_v2(managed) == CUDA_SUCCESS);
    REFUSED(PI_ERROR_INVALID_NATIVE_HANDLE, "no memory there",
            import(machine, import_desc(address, 64), made.out()));
}

TEST_CASE("the address of memory is returned for devices that can use it") {
    const Machine machine;
    const Owned<pi_mem> mem = machine.buffer(second, 64);
    const auto at = [&](size_t device) {
        return native_of<own::CUdeviceptr>([&](pi_native_handle *out) {
            return piMemGetNativeHandle(mem, machine.devices[device], out);
        });
    };
    CHECK(at(first) == at(second)); // a peer
    pi_native_handle handle{};
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "lone (simulated) cannot use",
            piMemGetNativeHandle(mem, machine.devices[lone], &handle));
}

TEST_CASE("a built program is created around a CUmodule, owned or not") {
    const own::Current current(first);
    for (const bool take : {false, true}) {
        own::CUmodule module = nullptr;
        REQUIRE(cu().cuModuleLoadData(&module, own::image(count_up).c_str()) == CUDA_SUCCESS);
        {
            const Machine machine;
            const Owned<pi_program> program = program_around(machine, module, take);
            CHECK(info<pi_program_format>(piProgramGetInfo, program, PI_PROGRAM_INFO_FORMAT) ==
                  PI_PROGRAM_FORMAT_DEVICE_BINARY);
            REFUSED(PI_ERROR_INVALID_OPERATION, "CUmodule", piProgramBuild(program, nullptr));
            const Owned<pi_kernel> kernel = make_kernel(program, "count_up");
            const Owned<pi_queue> queue = machine.queue();
            const Owned<pi_mem> mem = machine.buffer(first, 64);
            const uint32_t from = 4;
            const std::vector arguments{buffer_argument(mem), value_argument(from)};
            const auto launch = launch_desc(kernel, arguments, 16);
            OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
            CHECK(read_words(queue, mem, 16)[15] == 19);
            REFUSED(PI_ERROR_INVALID_KERNEL, "not built for second",
                    piEnqueueKernelLaunch(machine.queue(second), &launch, 0, nullptr, nullptr));
        }
        CHECK(is_module(module) == !take);
        if (!take)
            REQUIRE(cu().cuModuleUnload(module) == CUDA_SUCCESS);
    }
}

TEST_CASE("in a context of several devices a CUmodule needs its device") {
    const own::Current current(first);
    const own::Module module(count_up);
    const Machine machine({first, second}), alone({first});
    Owned<pi_program> made;
    auto d = native_desc(PI_NATIVE_CUDA_MODULE, module.handle);
    REFUSED(PI_ERROR_INVALID_DEVICE, "2 devices",
            piProgramCreateWithNativeHandle(machine.context, &d, made.out()));
    d.device = machine.devices[third];
    REFUSED(PI_ERROR_INVALID_DEVICE, "device",
            piProgramCreateWithNativeHandle(machine.context, &d, made.out()));
    d.device = nullptr;
    OK(piProgramCreateWithNativeHandle(alone.context, &d, made.out()));
    d.handle.value[0] += 1;
    REFUSED(PI_ERROR_INVALID_NATIVE_HANDLE, "CUDA_ERROR_INVALID_HANDLE",
            piProgramCreateWithNativeHandle(alone.context, &d, made.out()));
}

TEST_CASE("a CUfunction is a kernel of its own program only") {
    const own::Current current(first);
    const own::Module module(count_up), other(count_up);
    const Machine machine;
    const Owned<pi_program> program = program_around(machine, module.handle);
    Owned<pi_kernel> kernel;
    OK(kernel_around(program, module.function("count_up"), kernel.out()));
    CHECK(info_text(piKernelGetInfo, kernel, PI_KERNEL_INFO_NAME) == "count_up");
    CHECK(native_of<own::CUfunction>([&](pi_native_handle *out) {
              return piKernelGetNativeHandle(kernel, machine.devices[first], out);
          }) == module.function("count_up"));
    REFUSED(PI_ERROR_INVALID_NATIVE_HANDLE, "CUmodule",
            kernel_around(program, other.function("count_up"), kernel.out()));
}
