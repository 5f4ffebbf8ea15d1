// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cuda.hpp"

#include <cstring>
#include <dlfcn.h>
#include <stdexcept>

namespace pi_bench {

using namespace pi::cuda;

Cuda::Cuda(const std::string &path) {
    void *const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw std::runtime_error(dlerror());
    }
    auto *const table = reinterpret_cast<char *>(static_cast<pi_cuda_functions *>(this));
    std::memset(table, 0, sizeof(pi_cuda_functions));
    for (const pi_cuda_entry &entry : pi_cuda_entries) {
        void *const address = dlsym(library, entry.symbol);
        if (address == nullptr && entry.needed != 0) {
            throw std::runtime_error(path + " has no " + entry.symbol);
        }
        std::memcpy(table + entry.offset, &address, sizeof address);
    }
    check_cuda(cuInit(0), "cuInit");
}

void check_cuda(CUresult code, const char *call) {
    if (code != CUDA_SUCCESS) {
        throw std::runtime_error(std::string(call) + ": " + std::to_string(code));
    }
}

CudaMemory::CudaMemory(const Cuda &cuda, Where where, uint64_t size) : cuda_(cuda) {
    if (where == Where::device) {
        check_cuda(cuda.cuMemAlloc_v2(&address_, size), "cuMemAlloc");
        return;
    }
    check_cuda(cuda.cuMemHostAlloc(&pointer_, size, 0), "cuMemHostAlloc");
    std::memset(pointer_, 1, size); // touches its pages
}

CudaMemory::~CudaMemory() {
    if (pointer_ != nullptr) {
        cuda_.cuMemFreeHost(pointer_);
    } else {
        cuda_.cuMemFree_v2(address_);
    }
}

} // namespace pi_bench
