// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "objects.hpp"

#include <pi/pi_loader.h>
#include <pi/runtime/error.hpp>
#include <pi/runtime/handle.hpp>
#include <pi/runtime/storage.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace runtime_test {

using namespace pi::runtime;

/// Upper limit of each wait in a test: a longer wait is a hang, which fails the test.
inline constexpr std::chrono::seconds patience{30};

using Loader = pi_test::Owned<pi_loader>;
/// A loader with one layer and one option. `teardown_timeout` is in milliseconds; 0 selects the
/// default.
Loader make_layered_loader(const char *layer, const pi_loader_option &option,
                           uint32_t teardown_timeout = 0);
/// `faults`: the value of PI_FAULT for the layer `fault`.
Loader make_loader(const std::string &faults = {}, uint32_t teardown_timeout = 0);

/// The host plugin's device in a loader; PI_DEVICE_SELECTOR is ignored.
pi_device host_device(pi_loader loader);

/// All devices that PI_DEVICE_SELECTOR selects, each in `contexts` contexts, so that even one
/// device has several places; plus one application queue per place.
class Machine {
public:
    explicit Machine(uint32_t contexts = 2, const std::string &faults = {},
                     uint32_t teardown_timeout = 0);
    Machine(uint32_t contexts, Loader loader);
    ~Machine();

    /// Number of calls by plugin and function name; only with faults.
    std::vector<std::map<std::string, uint64_t>> calls() const;
    /// The highest call count of any one plugin.
    uint64_t calls_of(const std::string &function) const;

    const std::vector<pi_device> &devices() const noexcept { return devices_; }
    const std::shared_ptr<const Topology> &topology() const noexcept { return topology_; }
    /// All places except the host: 1, 2, ...
    std::vector<PlaceIndex> places() const;
    pi_queue queue(PlaceIndex place) const { return queues_.at(place).get(); }

    Queue make_queue(PlaceIndex place) const;

    /// Application commands on an acquired range. Each waits for the acquisition's events and
    /// returns its own event. They run on queue() or on another queue of that place.
    Event write(const Acquisition &acquisition, const void *bytes, pi_queue other = nullptr) const;
    Event read(const Acquisition &acquisition, void *bytes, pi_queue other = nullptr) const;
    Event fill(const Acquisition &acquisition, uint8_t value) const;

private:
    Loader loader_;
    std::vector<pi_device> devices_;
    std::set<pi_plugin> plugins_;
    std::shared_ptr<const Topology> topology_;
    std::vector<Queue> queues_;
};

/// Commands on an acquired range. They wait for the acquisition's events; a fill waits for the
/// given events.
Event enqueue_read(pi_queue queue, const Acquisition &acquisition, void *bytes);
Event enqueue_fill(pi_queue queue, const Acquisition &acquisition, uint8_t value,
                   const std::vector<pi_event> &waits);

/// Returns the event's result; waits at most `patience`.
pi_result wait(const Event &event);

/// Fills or reads a buffer at the host.
void host_write(const Buffer &buffer, uint64_t offset, const std::vector<uint8_t> &bytes);
std::vector<uint8_t> host_read(const Buffer &buffer, uint64_t offset, uint64_t size);
inline std::vector<uint8_t> host_read(const Buffer &buffer) {
    return host_read(buffer, 0, buffer.size());
}

/// Reads a buffer at a device of a machine with an application command.
template <class AnyMachine>
std::vector<uint8_t> device_read(const AnyMachine &machine, const Buffer &buffer, PlaceIndex place,
                                 uint64_t offset, uint64_t size) {
    std::vector<uint8_t> seen(size);
    Acquisition use = buffer.acquire(place, Access::read, offset, size);
    const Event read = machine.read(use, seen.data());
    use.release(read.get());
    check(wait(read), "a read at a device");
    return seen;
}
template <class AnyMachine>
std::vector<uint8_t> device_read(const AnyMachine &machine, const Buffer &buffer,
                                 PlaceIndex place) {
    return device_read(machine, buffer, place, 0, buffer.size());
}

/// Returns the code of the Error that the call throws; PI_SUCCESS if it throws none.
template <class Call>
pi_result code_of(Call call) {
    try {
        call();
    } catch (const Error &error) {
        return error.code();
    }
    return PI_SUCCESS;
}

/// Bytes that differ from one another and from those of another seed.
std::vector<uint8_t> pattern(uint64_t size, uint32_t seed);

} // namespace runtime_test
