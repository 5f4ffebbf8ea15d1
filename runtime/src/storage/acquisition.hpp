// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "coherence/ledger.hpp"
#include "transfer/completion.hpp"

#include <pi/runtime/buffer.hpp>
#include <pi/runtime/handle.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pi::runtime {

class StorageState;

/// What an Acquisition holds.
struct AcquisitionState {
    ~AcquisitionState();

    /// Makes events of the place's plugin instance of what the commands wait for.
    void bridge();
    /// As Acquisition has them: for commands on any queue, and on this one.
    const std::vector<pi_event> &events_for_any_queue();
    const std::vector<pi_event> &events_for(pi_queue queue);

    std::shared_ptr<StorageState> storage;
    OperationId operation = 0;
    bool held = true;
    PlaceIndex place = host_place;
    PlaceIndex lender = host_place; // who made mem
    Range range;
    bool writes = false;
    pi_mem mem = nullptr;
    uint64_t offset_alignment = 1; // of a launch argument in mem
    std::byte *pointer = nullptr;
    Event under_way; // what a release named that failed: its commands use the memory still
    std::vector<Dependency> dependencies;
    bool may_be_mapped = false; // see StorageState::undo_maps

private:
    /// A use by commands of the place's instance, which must be over before: whether it succeeds does not matter.
    struct OnlyBefore {
        std::shared_ptr<Completion> completion;
        Event event;
    };

    void join(const std::vector<Dependency> &foreign);

    std::vector<Event> owned_events_;
    std::vector<pi_event> events_;
    std::vector<OnlyBefore> only_before_; // that are not among the events
    Queue behind_;                        // the queue that was put behind these last
};

} // namespace pi::runtime
