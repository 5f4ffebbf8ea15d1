// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "places.hpp"

#include <pi/runtime/handle.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace image_pipeline {

/// The kernels, built for one place, and a queue to launch them on.
class PlaceKernels {
public:
    /// Throws pi::runtime::Error; if the compiler refuses, with its log.
    PlaceKernels(pi_context context, const DeviceEntry &entry);

    /// Both begin when all of `waits` are final, and never block.
    pi::runtime::Event launch(const std::string &kernel,
                              std::span<const pi_kernel_argument> arguments, uint64_t columns,
                              uint64_t rows, std::span<const pi_event> waits) const;
    pi::runtime::Event fill_with_zeros(pi_mem mem, uint64_t offset, uint64_t size,
                                       std::span<const pi_event> waits) const;
    /// What was launched begins without anybody waiting for it.
    void flush() const;

private:
    pi::runtime::Queue queue_;
    pi::runtime::Program program_;
    std::map<std::string, pi::runtime::Kernel> kernels_;
};

} // namespace image_pipeline
