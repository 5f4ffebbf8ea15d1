// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DLPack's own header before ours: no name collides, and common declarations are equal.
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#define HAS_DLPACK 1
#endif

#include <pi/runtime/dlpack.hpp>

#include "skip.hpp"

#include <catch2/catch.hpp>

#include <cstddef>

extern "C" uint64_t dlpack_size_in_c(void);

TEST_CASE("our structures and numbers are those of DLPack's own header, which can be included, too",
          "[dlpack]") {
    CHECK(dlpack_size_in_c() ==
          sizeof(pi_dlpack_managed_tensor) + sizeof(pi_dlpack_managed_tensor_versioned));
#ifndef HAS_DLPACK
    pi_test::skip("there is no <dlpack/dlpack.h> (libdlpack-dev)");
#else
    CHECK(sizeof(pi_dlpack_managed_tensor) == sizeof(DLManagedTensor));
    CHECK(offsetof(pi_dlpack_managed_tensor, deleter) == offsetof(DLManagedTensor, deleter));
    CHECK(offsetof(pi_dlpack_managed_tensor, manager_ctx) ==
          offsetof(DLManagedTensor, manager_ctx));
    CHECK(sizeof(pi_dlpack_tensor) == sizeof(DLTensor));
    CHECK(offsetof(pi_dlpack_tensor, device) == offsetof(DLTensor, device));
    CHECK(offsetof(pi_dlpack_tensor, ndim) == offsetof(DLTensor, ndim));
    CHECK(offsetof(pi_dlpack_tensor, dtype) == offsetof(DLTensor, dtype));
    CHECK(offsetof(pi_dlpack_tensor, shape) == offsetof(DLTensor, shape));
    CHECK(offsetof(pi_dlpack_tensor, strides) == offsetof(DLTensor, strides));
    CHECK(offsetof(pi_dlpack_tensor, byte_offset) == offsetof(DLTensor, byte_offset));
    CHECK(int{PI_DLPACK_CPU} == kDLCPU);
    CHECK(int{PI_DLPACK_CUDA} == kDLCUDA);
    CHECK(int{PI_DLPACK_CUDA_HOST} == kDLCUDAHost);
    CHECK(int{PI_DLPACK_OPENCL} == kDLOpenCL);
    CHECK(int{PI_DLPACK_ROCM_HOST} == kDLROCMHost);
    CHECK(int{PI_DLPACK_CUDA_MANAGED} == kDLCUDAManaged);
    CHECK(int{PI_DLPACK_BFLOAT} == int{kDLBfloat});
    CHECK(int{PI_DLPACK_COMPLEX} == int{kDLComplex});
#ifdef DLPACK_MAJOR_VERSION
    CHECK(sizeof(pi_dlpack_managed_tensor_versioned) == sizeof(DLManagedTensorVersioned));
    CHECK(offsetof(pi_dlpack_managed_tensor_versioned, flags) ==
          offsetof(DLManagedTensorVersioned, flags));
    CHECK(offsetof(pi_dlpack_managed_tensor_versioned, dl_tensor) ==
          offsetof(DLManagedTensorVersioned, dl_tensor));
#endif
#endif
}
