// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The application's memory that the driver has pinned, for all devices.
#pragma once

#include <pi/sdk/registration.hpp>

namespace pi::cuda {

class Primary;

/// Pins through this primary context. PI_ERROR_UNSUPPORTED_FEATURE for what somebody else has pinned;
/// PI_ERROR_OUT_OF_RESOURCES where the system does not let so much be pinned.
sdk::Registrations::PinRange pinning(Primary &primary);

} // namespace pi::cuda
