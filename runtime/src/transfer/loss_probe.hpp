// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "coherence/lost_places.hpp"
#include "transfer/continuations.hpp"

#include <pi/runtime/topology.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace pi::runtime {

/// Asks devices whether they are lost. A lost device answers PI_ERROR_DEVICE_LOST to every command
/// from then on, so one such answer raises a suspicion, and an empty command settles it.
/// Thread-safe.
class LossProbe {
public:
    /// `lost` must outlive it.
    LossProbe(std::shared_ptr<const Topology> topology,
              std::shared_ptr<Continuations> continuations, LostPlaces &lost);

    /// A command that concerned these places answered DEVICE_LOST. Calls back as posted work when
    /// each of them has been asked; never blocks.
    void suspect(std::vector<PlaceIndex> places, std::function<void()> done);

private:
    void ask(PlaceIndex place, std::function<void(pi_result)> answered) const;

    const std::shared_ptr<const Topology> topology_;
    const std::shared_ptr<Continuations> continuations_;
    LostPlaces &lost_;
};

} // namespace pi::runtime
