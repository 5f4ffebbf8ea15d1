// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine at work: its places, the commands of an application there, and what the plugins
// counted.
#pragma once

#include "machine_file.hpp"

#include <pi/pi_loader.h>
#include <pi/pi_sim.h>
#include <pi/runtime/error.hpp>
#include <pi/runtime/storage.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

namespace random_programs {

using namespace pi::runtime;

/// No wait is longer: a hang is a failure.
inline constexpr std::chrono::seconds patience{60};

/// What a kernel does at a device: it sees the bytes, then overwrites the last of them.
struct Job {
    uint64_t offset = 0;        ///< of the acquired range in the argument
    std::vector<uint8_t> seen;  ///< filled by the kernel; none: it does not look
    std::vector<uint8_t> fresh; ///< what the last bytes become
    uint64_t fresh_offset = 0;
};

class LiveMachine {
public:
    /// `trace`: the name of a file that is written until the machine is gone.
    LiveMachine(const MachineFile &file, const std::string &trace);
    /// All devices that a plugin finds, in each of so many contexts. The environment says which
    /// driver it opens.
    LiveMachine(const std::string &plugin, uint32_t contexts, const std::string &trace);
    ~LiveMachine();
    LiveMachine(const LiveMachine &) = delete;
    LiveMachine &operator=(const LiveMachine &) = delete;

    const std::shared_ptr<const Topology> &topology() const { return topology_; }
    Queue make_queue(PlaceIndex place) const;
    /// Runs behind the acquisition's events; the job lives until the event is final. Moves no byte
    /// over a link of a simulated machine.
    Event launch(pi_queue queue, const Acquisition &use, Job &job) const;
    /// Bytes over all links of the simulated machine, by commands that are final.
    uint64_t link_bytes() const;
    /// Of the reads and writes that launch() has made, where kernels are not native.
    uint64_t application_bytes() const { return application_bytes_; }

private:
    Event run_kernel(pi_queue queue, const Acquisition &use, Job &job) const;

    pi_loader loader_ = nullptr;
    pi_plugin plugin_ = nullptr;
    const pi_sim_v1 *sim_ = nullptr;
    std::shared_ptr<const Topology> topology_;
    std::vector<pi_kernel> kernels_; // by place; none where kernels are not native
    mutable std::atomic<uint64_t> application_bytes_{0};
};

/// Bytes of the reads, writes and copies that a trace tells of.
uint64_t traced_bytes(const std::string &trace);

} // namespace random_programs
