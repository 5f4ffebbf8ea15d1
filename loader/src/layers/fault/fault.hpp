// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer that injects failures. It counts the calls of each function, and applies the
// specification to the k-th call.
#pragma once

#include "functions.hpp"
#include "layers/fault/specification.hpp"
#include "layers/fault/timer.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace pi::loader {
class PluginInstance;
}

namespace pi::loader::fault {

/// A command's event that the layer ends: a host event that is shown as the command's own.
struct FaultyEvent {
    uint32_t references; ///< of the application
    pi_queue queue;      ///< has a reference, so it stays alive
    pi_struct_type command;
    std::string text; ///< text of its error
};

/// The faults of one plugin instance, and the number of calls of each function.
class Faults {
public:
    explicit Faults(PluginInstance &instance);

    const pi_dispatch &next() const noexcept { return next_; }
    uint64_t count(std::size_t function) const noexcept { return counts_[function].load(); }

    /// Counts a call and returns the fault for it; nullptr: none.
    const Fault *count_call(std::size_t function) noexcept;

    /// Sets the error of a call that a fault makes fail, and returns it.
    static pi_result fail_call(const Fault &fault) noexcept;

    /// Signals a host event after the fault's delay, and releases it. If it throws, it does
    /// neither.
    void signal_later(const Fault &fault, pi_event gate);
    void hurry() { timer_.hurry(); }

    /// Events that the layer ends.
    void add_event(pi_event event, FaultyEvent faulty);
    bool find_event(pi_event event, FaultyEvent &out) noexcept;
    void set_text(pi_event event, std::string text);
    void retain_event(pi_event event) noexcept;
    /// Releases the application's reference; after the last one the layer forgets the event.
    void release_event(pi_event event) noexcept;

private:
    const pi_dispatch &next_;
    std::vector<Fault> faults_;
    std::array<std::vector<const Fault *>, function_rows.size()> by_function_;
    std::array<std::atomic<uint64_t>, function_rows.size()> counts_{};
    std::mutex mutex_;
    std::unordered_map<pi_event, FaultyEvent> events_;
    std::atomic<std::size_t> event_count_{0}; ///< avoids the lock while there are none
    Timer timer_;                             ///< last: its thread uses the other members
};

} // namespace pi::loader::fault
