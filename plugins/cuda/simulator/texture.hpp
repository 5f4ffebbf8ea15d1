// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "driver.hpp"

#include <pi/pi_native_kernel.h>

namespace pi::cuda::simulated {

/// A native kernel's record of a texture or surface, and the owner of its pixels.
struct ImageRecord {
    pi_native_image image{};
    pi_native_sampler sampler{};
    std::vector<std::shared_ptr<Allocation>> memory;
};

/// For work of the context; throws ILLEGAL_ADDRESS for an object of another context, or one whose
/// pixels are no longer live.
std::shared_ptr<ImageRecord> texture_record(CUtexObject handle, const Context &context);
std::shared_ptr<ImageRecord> surface_record(CUsurfObject handle, const Context &context);

} // namespace pi::cuda::simulated
