// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies between two contexts of one platform, which OpenCL does not support: both ends are mapped,
// the bytes copied in one pass, both unmapped. No command waits in a vendor queue meanwhile.
#pragma once

#include "memory.hpp"
#include "queue.hpp"

#include <memory>
#include <vector>

namespace pi::opencl {

/// PI_ERROR_INVALID_MEM_OBJECT unless both ends are of one platform and the queue is of either
/// end's context.
void check_migration(const Queue &queue, const Mem &src, const Mem &dst);

/// The copy; the regions have been checked.
std::unique_ptr<sdk::Command> make_migration(Mem &src, Mem &dst, sdk::Regions &&regions);

} // namespace pi::opencl
