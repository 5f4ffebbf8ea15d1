// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Simulated machines for tests of the runtime: what has gone over each link, and when, is asked of
// the machine and never of the runtime.
#pragma once

#include "equipment.hpp"
#include "temporary.hpp"

#include <pi/pi_sim.h>

#include <map>
#include <utility>

namespace runtime_test {

/// One of the machines that come with the sim plugin: "workstation".
std::string shipped_machine(const std::string &name);

using pi_test::TextFile;

/// The machine of a file, with nothing beside it. Places are 1, 2, ... in the file's order, and
/// again for each further context.
class Simulated {
public:
    /// With faults, as PI_FAULT takes them: the layer `fault`, and then `layers` around it. Its
    /// connections are verified at the begin, unless that is turned off, so that what moves later
    /// is the test's.
    explicit Simulated(const std::string &path, uint32_t contexts = 1,
                       const std::string &faults = {}, std::vector<const char *> layers = {},
                       bool verified = true, const char *plugin = PI_TEST_SIM_PLUGIN);

    const std::shared_ptr<const Topology> &topology() const noexcept { return topology_; }
    pi_queue queue(PlaceIndex place) const { return queues_.at(place).get(); }
    /// 1, 2, ...: all but the host.
    std::vector<PlaceIndex> places() const;
    /// How often a function has been called; only with faults.
    uint64_t calls_of(const std::string &function) const;

    /// Bytes that commands which are final have brought over each link, by places of the first
    /// context.
    std::map<std::pair<PlaceIndex, PlaceIndex>, uint64_t> link_bytes() const;
    /// Of all links.
    uint64_t moved() const;
    void reset_links() const;

    /// Commands on what is acquired, behind its events, and behind `after`.
    Event fill(const Acquisition &acquisition, uint8_t value, pi_event after = nullptr) const;
    Event read(const Acquisition &acquisition, void *bytes) const;
    /// Another one like queue().
    Queue make_queue(PlaceIndex place) const;
    /// A command on a queue of its place that ends when the acquisition's bytes are there.
    Event arrive(const Acquisition &acquisition, pi_queue queue) const;
    /// The virtual time at which that is, in nanoseconds: waits for it.
    uint64_t arrival(const Acquisition &acquisition) const;
    /// Of a command of such a queue.
    uint64_t end_of(const Event &event) const;
    /// The virtual time at which all that has begun is over; then it is now.
    uint64_t pass_time() const;

private:
    Loader loader_;
    pi_plugin plugin_ = nullptr;
    const pi_sim_v1 *sim_ = nullptr;
    std::shared_ptr<const Topology> topology_;
    std::vector<Queue> queues_; // by place
    std::map<std::string, PlaceIndex> place_of_;
};

} // namespace runtime_test
