// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <dlfcn.h>

namespace pi_cuda_test {

namespace {

void *library() {
    static void *const handle = dlopen(PI_TEST_SIMULATED_CUDA, RTLD_NOW | RTLD_LOCAL);
    return handle;
}

} // namespace

const pi_cuda_functions &open_driver() {
    static const pi_cuda_functions functions = [] {
        pi_cuda_functions made{};
        for (const pi_cuda_entry &row : pi_cuda_entries) {
            void *const address = dlsym(library(), row.symbol);
            std::memcpy(reinterpret_cast<char *>(&made) + row.offset, &address, sizeof address);
        }
        return made;
    }();
    return functions;
}

const pi_cuda_functions &cu() {
    static const CUresult started = open_driver().cuInit(0);
    REQUIRE(started == CUDA_SUCCESS);
    return open_driver();
}

std::string leaks() {
    const auto ask =
        reinterpret_cast<int (*)(char *, size_t)>(dlsym(library(), "pi_simulated_cuda_leaks"));
    std::string text(4096, '\0');
    ask(text.data(), text.size());
    return text.c_str();
}

Current::Current(CUdevice which) : device(which) {
    REQUIRE(cu().cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS);
    REQUIRE(cu().cuCtxPushCurrent_v2(context) == CUDA_SUCCESS);
}

Current::~Current() {
    cu().cuCtxPopCurrent_v2(nullptr);
    cu().cuDevicePrimaryCtxRelease_v2(device);
}

Gate::Gate(CUstream stream) {
    REQUIRE(cu().cuLaunchHostFunc(stream, wait, this) == CUDA_SUCCESS);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return entered_; });
}

void Gate::wait(void *data) {
    Gate &gate = *static_cast<Gate *>(data);
    std::unique_lock lock(gate.mutex_);
    gate.entered_ = true;
    gate.changed_.notify_all();
    gate.changed_.wait(lock, [&] { return gate.open_; });
    gate.passed_ = true;
    gate.changed_.notify_all();
}

void Gate::open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
}

Gate::~Gate() {
    open();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return passed_; });
}

Memory::Memory(size_t size) {
    REQUIRE(cu().cuMemAlloc_v2(&address, size) == CUDA_SUCCESS);
}

CUresult Memory::free() {
    const CUresult result = cu().cuMemFree_v2(address);
    address = 0;
    return result;
}

Memory::~Memory() {
    if (address)
        cu().cuMemFree_v2(address);
}

Stream::Stream(unsigned flags) {
    REQUIRE(cu().cuStreamCreate(&handle, flags) == CUDA_SUCCESS);
}

Stream::~Stream() {
    cu().cuStreamDestroy_v2(handle);
}

void Stream::finish() const {
    REQUIRE(cu().cuStreamSynchronize(handle) == CUDA_SUCCESS);
}

Event::Event(unsigned flags) {
    REQUIRE(cu().cuEventCreate(&handle, flags) == CUDA_SUCCESS);
}

Event::~Event() {
    cu().cuEventDestroy_v2(handle);
}

std::vector<std::uint8_t> read(CUdeviceptr address, size_t size) {
    REQUIRE(cu().cuCtxSynchronize() == CUDA_SUCCESS);
    std::vector<std::uint8_t> bytes(size);
    REQUIRE(cu().cuMemcpyDtoH_v2(bytes.data(), address, size) == CUDA_SUCCESS);
    return bytes;
}

std::string image(const std::string &lines) {
    return "PI simulated CUDA module 1\nlibrary " PI_TEST_CUDA_KERNELS "\n" + lines;
}

Module::Module(const std::string &lines) {
    REQUIRE(cu().cuModuleLoadData(&handle, image(lines).c_str()) == CUDA_SUCCESS);
}

Module::~Module() {
    cu().cuModuleUnload(handle);
}

CUfunction Module::function(const char *name) const {
    CUfunction function = nullptr;
    REQUIRE(cu().cuModuleGetFunction(&function, handle, name) == CUDA_SUCCESS);
    return function;
}

CUresult launch(CUfunction function, unsigned blocks, unsigned threads,
                std::vector<void *> parameters, CUstream stream, unsigned shared) {
    return cu().cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, stream,
                               parameters.data(), nullptr);
}

} // namespace pi_cuda_test
