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

/// The state of an Acquisition.
struct AcquisitionState {
    ~AcquisitionState();

    /// Turns the dependencies into events of the place's plugin instance.
    void bridge();
    /// Acquisition::events(), and events(queue).
    const std::vector<pi_event> &events_for_any_queue();
    const std::vector<pi_event> &events_for(pi_queue queue);

    std::shared_ptr<StorageState> storage;
    OperationId operation = 0;
    bool held = true;
    PlaceIndex place = host_place;
    PlaceIndex lender = host_place; // its plugin made mem
    Range range;
    bool writes = false;
    pi_mem mem = nullptr;
    uint64_t offset_alignment = 1; // of a launch argument in mem
    std::byte *pointer = nullptr;
    Event under_way; // of a release that failed: its commands are still using the memory
    std::vector<Dependency> dependencies;
    bool may_be_mapped = false; // see StorageState::undo_maps

private:
    /// An earlier use by commands of the place's instance that must be over, whether it succeeds or
    /// fails.
    struct OnlyBefore {
        std::shared_ptr<Completion> completion;
        Event event;
    };

    void join(const std::vector<Dependency> &others);

    std::vector<Event> owned_events_;
    std::vector<pi_event> events_;
    std::vector<OnlyBefore> only_before_; // not among the events
    Queue behind_;                        // the last queue that was made to wait for these
};

} // namespace pi::runtime
