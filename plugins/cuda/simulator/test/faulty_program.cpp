// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small CUDA program with one of several faults, selected by name. It relies only on what CUDA
// promises.
#include <pi/cuda/driver_api.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <vector>

using namespace pi::cuda;

namespace {

pi_cuda_functions open_driver(const char *path) {
    pi_cuda_functions driver{};
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    for (const pi_cuda_entry &row : pi_cuda_entries) {
        void *const address = library ? dlsym(library, row.symbol) : nullptr;
        std::memcpy(reinterpret_cast<char *>(&driver) + row.offset, &address, sizeof address);
    }
    return driver;
}

int code(const char *where, CUresult result) {
    std::printf("%s: %d\n", where, static_cast<int>(result));
    return static_cast<int>(result);
}

/// Fills and reads back bytes: returns 0 if all are as written.
int round_trip(const pi_cuda_functions &driver, const std::string &fault) {
    constexpr size_t size = 1 << 20;
    CUdeviceptr memory = 0;
    CUstream writer = nullptr, reader = nullptr;
    void *host = nullptr;
    if (driver.cuMemAlloc_v2(&memory, size) || driver.cuMemHostAlloc(&host, size, 0) ||
        driver.cuStreamCreate(&writer, CU_STREAM_NON_BLOCKING) ||
        driver.cuStreamCreate(&reader, CU_STREAM_NON_BLOCKING))
        return 2;
    std::memset(host, 0, size);
    if (fault == "host dereference")
        *reinterpret_cast<volatile char *>(memory) = 1;
    int wrong = 0;
    for (int round = 1; round <= 50 && !wrong; ++round) {
        // A slow producer: unless the program waits for it, it is not done before the program
        // reads.
        std::atomic<bool> go{fault != "missing synchronisation"};
        driver.cuLaunchHostFunc(
            writer, [](void *flag) { static_cast<std::atomic<bool> *>(flag)->wait(false); }, &go);
        driver.cuMemsetD8Async(memory, static_cast<unsigned char>(round), size, writer);
        if (fault != "missing synchronisation")
            driver.cuStreamSynchronize(writer);
        driver.cuMemcpyDtoHAsync_v2(host, memory, size, reader);
        driver.cuStreamSynchronize(reader);
        wrong = static_cast<char *>(host)[size - 1] != round;
        go = true;
        go.notify_one();
        driver.cuStreamSynchronize(writer);
    }
    driver.cuMemFreeHost(host);
    driver.cuMemFree_v2(memory);
    driver.cuStreamDestroy_v2(reader);
    if (fault != "leaked stream")
        driver.cuStreamDestroy_v2(writer);
    return wrong;
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    const std::string fault = argv[2];
    const pi_cuda_functions driver = open_driver(argv[1]);
    if (!driver.cuInit || code("cuInit", driver.cuInit(0)))
        return 3;
    CUcontext context = nullptr;
    driver.cuDevicePrimaryCtxRetain(&context, 0);
    if (fault != "wrong context")
        driver.cuCtxPushCurrent_v2(context);
    const int wrong = round_trip(driver, fault);
    if (wrong)
        std::puts("wrong bytes, or none");
    if (fault != "wrong context" && fault != "context left current")
        driver.cuCtxPopCurrent_v2(nullptr);
    if (fault != "leaked context")
        driver.cuDevicePrimaryCtxRelease_v2(0);
    return wrong;
}
