// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs of commands, compared with the same commands on plain bytes. A program that
// differs is shrunk to the shortest one that still does, and printed step by step. A World has the
// objects; this file chooses wait lists and queues.
#pragma once

#include "fixture.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pi::suite {

/// The numbers that a step is made of. Any are legal, since each is taken modulo what is possible:
/// so a shrunk program is a program, too.
struct Step {
    std::array<uint16_t, 24> numbers{};
};

/// Takes the numbers of a step one after another.
class Draw {
public:
    explicit Draw(const Step &step) : step_(step) {}
    /// From low to high, both included; low when there are no more numbers.
    uint64_t operator()(uint64_t low, uint64_t high);
    bool coin() { return (*this)(0, 1) != 0; }
    template <typename Things>
    auto &one_of(Things &things) {
        return things[(*this)(0, std::size(things) - 1)];
    }

private:
    const Step step_;
    std::size_t next_ = 0;
};

/// The expected bytes of an object; objects that share a storage share the model.
using Model = std::shared_ptr<Bytes>;

/// The effect of a step on the plugin and on the models.
struct Action {
    std::string text; ///< "a fill of buffer 2: ..."
    /// Actions on one model are ordered, unless both only read it.
    std::vector<Model> reads, writes;
    /// It works with what commands have left, on the host: all actions before it have ended then.
    bool on_host = false;
    /// An empty event if nothing was enqueued.
    std::function<Event(pi_queue queue, const Waits &waits)> enqueue;
    std::function<void()> apply = [] {}; ///< after enqueue
    std::function<void()> check = [] {}; ///< when all commands of the program have ended
};

class World {
public:
    virtual ~World() = default;
    /// The step's effect; the same for the same numbers and steps before.
    virtual Action lay_out(Draw &draw) = 0;
    /// When all commands have ended: the objects hold what their models do.
    virtual void require_models(pi_queue queue) = 0;
};

/// PI_QUEUE_ flags: two queues in order, and two out of order where the device has them.
std::vector<uint64_t> several_queues(Fixture &fixture);

/// Runs programs, each in a world of its own, made from numbers that are shrunk as well. There is a
/// queue for each element of queue_flags. Commands wait for events where actions touch the same
/// model and no queue orders them; with several queues also for host events, and for others of the
/// program by chance.
void require_programs(Fixture &fixture, const std::vector<uint64_t> &queue_flags,
                      const std::function<std::unique_ptr<World>(Draw &draw)> &make_world);

} // namespace pi::suite
