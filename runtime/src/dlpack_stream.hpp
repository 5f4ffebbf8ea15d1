// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order between a stream's work and PI's commands.
#pragma once

#include <pi/runtime/dlpack.hpp>

namespace pi::runtime {

/// Completes with the work that is in the stream now; empty if there is nothing to wait for.
Event end_of_stream(pi_context context, pi_device device, const pi_dlpack_device &name,
                    const DlpackStream &stream);

/// Makes later work in the stream begin after all that the acquisition waits for. The stream must
/// be one of the device of the acquisition's memory.
void order_before_stream(const Acquisition &use, const DlpackStream &stream);

/// The device as tensors of its memory name it.
pi_dlpack_device dlpack_device(pi_device device);

} // namespace pi::runtime
