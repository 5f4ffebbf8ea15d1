// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "coherence/ledger.hpp"

#include <pi/pi.h>
#include <pi/runtime/topology.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace pi::runtime {

/// A memory as one user sees it.
struct View {
    PlaceIndex home = host_place;
    pi_coherence coherence = PI_COHERENCE_COHERENT;
    bool imported = false; ///< the plugin imported the host's bytes
    bool scope_0 = true;
    bool maps = true; ///< can be mapped in place
};

/// A storage's replicas, as far as plans need them: the views, and which bytes are valid at each.
/// Not synchronised.
struct Replicas {
    Ledger ledger;
    std::vector<View> views; ///< by ViewId
    std::optional<ViewId> host_view;
    /// Bytes of the host's memory if it was made for staged bounces alone (bounce_limit), else 0.
    uint64_t bounce_bytes = 0;
};

} // namespace pi::runtime
