// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves patterns between two places by ordinary commands of their plugin, and compares the result.
#pragma once

#include <pi/pi_loader.h>
#include <pi/pi_plugin.h>

#include <string>

namespace pi::loader {

struct VerifiedPlace {
    pi_device device;
    pi_context context;
};

struct VerificationRequest {
    VerifiedPlace src;
    VerifiedPlace dst;
    pi_memory_connection connection; ///< of src and dst for `how`; not NONE
    pi_memory_verification_desc how;
};

inline bool is_one_place(const VerificationRequest &request) noexcept {
    return request.src.device == request.dst.device && request.src.context == request.dst.context;
}

/// Returns how bytes differ; "" if all arrive. For imported memory it tests the host and src if src
/// is dst, else dst and src. `plugin` is the plugin's own table, with defaults: no layer sees these
/// calls. Throws CallFailed if one of them fails, and leaves nothing behind either way.
std::string verify(const pi_dispatch &plugin, const VerificationRequest &request);

/// A call of the plugin failed; the thread's last error has the text.
struct CallFailed {
    pi_result result;
};

} // namespace pi::loader
