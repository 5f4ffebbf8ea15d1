// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The happens-before order. Each lane is a chain of commands: a command begins after the previous
// one in its lane. So a position in a lane represents all commands before it, and a command's past
// is one position in each of some lanes: a vector clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace pi::loader::race {

struct Lane {
    uint64_t last = 0; ///< the place of its newest command
    uint64_t done = 0; ///< the host knows that everything up to here has ended
    uint32_t open = 0; ///< the number of its commands that are still compared with others
};

/// A host event, as far as commands wait for it.
struct Gate {
    enum class State { closed, open, failed };
    State state = State::closed;
};

/// How something follows something else: through its wait list, and then it fails with it; or only
/// through the order of a queue, which a failure does not stop.
enum class Behind { event, order };

/// Everything that has ended when something begins. Not thread-safe.
class Past {
public:
    struct Place {
        std::shared_ptr<Lane> lane;
        uint64_t number;
    };

    void add(const std::shared_ptr<Lane> &lane, uint64_t number) {
        const auto found = std::find_if(places_.begin(), places_.end(),
                                        [&](const Place &place) { return place.lane == lane; });
        if (found != places_.end())
            found->number = std::max(found->number, number);
        else
            places_.push_back({lane, number});
    }
    void add(const std::shared_ptr<Gate> &gate, Behind behind = Behind::event) {
        const bool fails = behind == Behind::event;
        if (gate->state == Gate::State::open || (gate->state == Gate::State::failed && !fails))
            return;
        const auto found = std::find_if(gates_.begin(), gates_.end(),
                                        [&](const Wait &wait) { return wait.gate == gate; });
        if (found != gates_.end())
            found->fails |= fails;
        else
            gates_.push_back({gate, fails});
    }
    /// Drops what no later comparison needs.
    void add(const Past &other, Behind behind) {
        for (const Place &place : other.places_) {
            if (place.lane->open != 0 && place.number > place.lane->done)
                add(place.lane, place.number);
        }
        for (const Wait &wait : other.gates_)
            add(wait.gate, wait.fails ? behind : Behind::order);
    }

    bool has(const std::shared_ptr<Lane> &lane, uint64_t number) const noexcept {
        return number <= lane->done ||
               std::any_of(places_.begin(), places_.end(), [&](const Place &place) {
                   return place.lane == lane && number <= place.number;
               });
    }
    /// Whether its past is still open, because a host event was not signalled.
    bool held() const noexcept {
        return std::any_of(gates_.begin(), gates_.end(), [](const Wait &wait) {
            return wait.gate->state == Gate::State::closed;
        });
    }
    /// Whether a host event has failed, so that commands that wait for it do nothing.
    bool failed() const noexcept {
        return std::any_of(gates_.begin(), gates_.end(), [](const Wait &wait) {
            return wait.fails && wait.gate->state == Gate::State::failed;
        });
    }
    const std::vector<Place> &places() const noexcept { return places_; }

private:
    struct Wait {
        std::shared_ptr<Gate> gate;
        bool fails; ///< fails with it
    };

    std::vector<Place> places_;
    std::vector<Wait> gates_;
};

} // namespace pi::loader::race
