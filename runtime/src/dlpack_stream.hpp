// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of a stream's work and PI's commands.
#pragma once

#include <pi/runtime/dlpack.hpp>

namespace pi::runtime {

/// Complete when the work that is in the stream now is; empty where nothing has to be waited for.
Event end_of_stream(pi_context context, pi_device device, const pi_dlpack_device &name,
                    const DlpackStream &stream);

/// Work that comes into the stream later begins after what the acquisition waits for.
/// The stream is one of the device of the acquisition's memory.
void order_before_stream(const Acquisition &use, const DlpackStream &stream);

/// As tensors of its memory name it.
pi_dlpack_device dlpack_device(pi_device device);

} // namespace pi::runtime
