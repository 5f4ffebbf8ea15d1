// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A running machine: its places, the application's commands on them, and the plugins' counters.
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

/// Upper limit of each wait: a longer wait is a hang, which fails the test.
inline constexpr std::chrono::seconds patience{60};

/// The work of a kernel: it reads the bytes, then overwrites the last of them.
struct Job {
    uint64_t offset = 0;        ///< of the acquired range in the argument
    std::vector<uint8_t> seen;  ///< filled by the kernel; empty: it does not read
    std::vector<uint8_t> fresh; ///< the new last bytes
    uint64_t fresh_offset = 0;
};

class LiveMachine {
public:
    /// `trace`: the name of a file, which is complete when the machine is destroyed.
    LiveMachine(const MachineFile &file, const std::string &trace);
    /// All devices that a plugin finds, in each of `contexts` contexts. The environment selects the
    /// plugin's driver.
    LiveMachine(const std::string &plugin, uint32_t contexts, const std::string &trace);
    ~LiveMachine();
    LiveMachine(const LiveMachine &) = delete;
    LiveMachine &operator=(const LiveMachine &) = delete;

    const std::shared_ptr<const Topology> &topology() const { return topology_; }
    Queue make_queue(PlaceIndex place) const;
    /// Runs after the acquisition's events; the job must live until the event is complete. Moves no
    /// byte over a link of a simulated machine.
    Event launch(pi_queue queue, const Acquisition &use, Job &job) const;
    /// Bytes that complete commands have moved over all links of the simulated machine.
    uint64_t link_bytes() const;
    /// Bytes of the reads and writes that launch() enqueues where kernels are not native.
    uint64_t application_bytes() const { return application_bytes_; }

private:
    Event run_kernel(pi_queue queue, const Acquisition &use, Job &job) const;

    pi_loader loader_ = nullptr;
    pi_plugin plugin_ = nullptr;
    const pi_sim_v1 *sim_ = nullptr;
    std::shared_ptr<const Topology> topology_;
    std::vector<pi_kernel> kernels_; // by place; null where kernels are not native
    mutable std::atomic<uint64_t> application_bytes_{0};
};

/// Bytes of the reads, writes and copies in a trace.
uint64_t traced_bytes(const std::string &trace);

} // namespace random_programs
