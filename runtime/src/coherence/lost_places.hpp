// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "transfer/continuations.hpp"

#include <pi/runtime/topology.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace pi::runtime {

/// Which devices are lost. A lost device answers PI_ERROR_DEVICE_LOST to every command from then on, so one such
/// answer raises a suspicion, and an empty command settles it. Thread-safe.
class LostPlaces {
public:
    LostPlaces(std::shared_ptr<const Topology> topology,
               std::shared_ptr<Continuations> continuations);

    bool is_lost(PlaceIndex place) const { return lost_[place].load(std::memory_order_acquire); }
    /// How often a device was lost: changes with what is_lost says.
    uint64_t count() const { return count_.load(std::memory_order_acquire); }

    /// A command that concerned these places answered DEVICE_LOST. Calls back as posted work when each of
    /// them has been asked; never blocks.
    void suspect(std::vector<PlaceIndex> places, std::function<void()> done);

private:
    void ask(PlaceIndex place, std::function<void(pi_result)> answered) const;
    void mark(PlaceIndex place);

    const std::shared_ptr<const Topology> topology_;
    const std::shared_ptr<Continuations> continuations_;
    std::vector<std::atomic<bool>> lost_; // by place
    std::atomic<uint64_t> count_{0};
};

} // namespace pi::runtime
