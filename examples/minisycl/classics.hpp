// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <minisycl/minisycl.hpp>

#include <cstddef>
#include <string>
#include <vector>

/// kernels.cl for devices that run no C++ functions: OpenCL C, CUDA C++, and SPIR-V if there was a
/// compiler. `cubin`: a module with its kernels for CUDA devices, or empty; borrowed.
std::vector<minisycl::form> device_forms(const std::string &cubin = {});

// Classic programs. Each compares its result with a plain computation, and returns whether both are
// equal. `size` is not
// 0. They throw minisycl::kernel_not_supported if a device accepts no form of a kernel, and other
//    errors.

/// The sum of two vectors of `size` numbers.
bool vector_add(minisycl::queue &device, const std::vector<minisycl::form> &forms,
                std::size_t size);

/// The product of two matrices of `size` rows and columns.
bool matrix_product(minisycl::queue &device, const std::vector<minisycl::form> &forms,
                    std::size_t size);

/// The sum of `size` numbers in two steps; 4 bytes go to the host.
bool reduction(minisycl::queue &device, const std::vector<minisycl::form> &forms, std::size_t size);

/// Steps of a five-point stencil on a grid of `size` rows and columns; the rows are divided among
/// all devices of the context. Between two steps no more bytes may move than the rows at the
/// boundaries have.
bool stencil(minisycl::context &devices, const std::vector<minisycl::form> &forms, std::size_t size,
             std::size_t steps = 8);
