// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Application memory that the driver has pinned, for all devices.
#pragma once

#include <pi/sdk/registration.hpp>

namespace pi::cuda {

class Primary;

/// Pins through this primary context. PI_ERROR_UNSUPPORTED_FEATURE for memory that others have
/// pinned; PI_ERROR_OUT_OF_RESOURCES where the system does not allow to pin so much.
sdk::Registrations::PinRange pinning(Primary &primary);

} // namespace pi::cuda
