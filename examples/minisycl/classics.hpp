// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <minisycl/minisycl.hpp>

#include <cstddef>
#include <string>
#include <vector>

/// kernels.cl for devices that take no C++ functions: OpenCL C, CUDA C++, and SPIR-V if there was a compiler for it.
/// `cubin`: a module with its kernels for devices of CUDA, or nothing; borrowed.
std::vector<minisycl::form> device_forms(const std::string &cubin = {});

// Programs that everybody knows. Each works on data of its own and compares with a plain computation: what it says is
// whether both are the same. `size` is not 0. They throw minisycl::kernel_not_supported where a device has no form of a
// kernel, and whatever else goes wrong.

/// The sum of two vectors of `size` numbers.
bool vector_add(minisycl::queue &device, const std::vector<minisycl::form> &forms,
                std::size_t size);

/// The product of two matrices of `size` rows and columns.
bool matrix_product(minisycl::queue &device, const std::vector<minisycl::form> &forms,
                    std::size_t size);

/// The sum of `size` numbers, in two steps, of which 4 bytes come to the host.
bool reduction(minisycl::queue &device, const std::vector<minisycl::form> &forms, std::size_t size);

/// Steps of a five-point stencil on a grid of `size` rows and columns, whose rows are divided among all devices of the context. The
/// bytes that moved between two steps must be no more than the rows at the cuts.
bool stencil(minisycl::context &devices, const std::vector<minisycl::form> &forms, std::size_t size,
             std::size_t steps = 8);
