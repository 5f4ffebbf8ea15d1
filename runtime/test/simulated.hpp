// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Simulated machines for runtime tests: the machine, not the runtime, reports the bytes over each
// link and their times.
#pragma once

#include "equipment.hpp"
#include "temporary.hpp"

#include <pi/pi_sim.h>

#include <map>
#include <utility>

namespace runtime_test {

/// The file of a machine that the sim plugin ships, for example "workstation".
std::string shipped_machine(const std::string &name);

using pi_test::TextFile;

/// The machine of a file, without other plugins. Places are 1, 2, ... in the file's order, and
/// again for each further context.
class Simulated {
public:
    /// `faults`: as in PI_FAULT, for the layer `fault`; `layers` come around it. The constructor
    /// verifies the connections unless that is turned off, so that all later transfers are the
    /// test's.
    explicit Simulated(const std::string &path, uint32_t contexts = 1,
                       const std::string &faults = {}, std::vector<const char *> layers = {},
                       bool verified = true, const char *plugin = PI_TEST_SIM_PLUGIN);

    const std::shared_ptr<const Topology> &topology() const noexcept { return topology_; }
    pi_queue queue(PlaceIndex place) const { return queues_.at(place).get(); }
    /// All places except the host: 1, 2, ...
    std::vector<PlaceIndex> places() const;
    /// Number of calls of a function; only with faults.
    uint64_t calls_of(const std::string &function) const;

    /// Bytes that complete commands have moved over each link, by places of the first context.
    std::map<std::pair<PlaceIndex, PlaceIndex>, uint64_t> link_bytes() const;
    /// Bytes over all links.
    uint64_t moved() const;
    void reset_links() const;

    /// Commands on an acquired range. They wait for the acquisition's events and for `after`.
    Event fill(const Acquisition &acquisition, uint8_t value, pi_event after = nullptr) const;
    Event read(const Acquisition &acquisition, void *bytes) const;
    /// Another queue like queue().
    Queue make_queue(PlaceIndex place) const;
    /// A command on a queue of its place; its end is the time at which the acquisition's bytes
    /// arrive.
    Event arrive(const Acquisition &acquisition, pi_queue queue) const;
    /// The virtual time of that arrival in nanoseconds; waits for it.
    uint64_t arrival(const Acquisition &acquisition) const;
    /// The virtual end time of a command on such a queue.
    uint64_t end_of(const Event &event) const;
    /// Advances the clock to the end of all submitted commands; returns that virtual time.
    uint64_t pass_time() const;

private:
    pi_test::Owned<pi_loader> loader_;
    pi_plugin plugin_ = nullptr;
    const pi_sim_v1 *sim_ = nullptr;
    std::shared_ptr<const Topology> topology_;
    std::vector<Queue> queues_; // by place
    std::map<std::string, PlaceIndex> place_of_;
};

} // namespace runtime_test
