// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The test's own reader of a machine file's links, and an exhaustive search for the cheapest route
// between two places: an oracle that is independent of the plugin and the runtime.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runtime_test {

/// Cost of a transfer: a latency, and seconds per byte.
struct Figures {
    double latency = 0;
    double seconds_a_byte = 0;
    double seconds(uint64_t bytes) const {
        return latency + seconds_a_byte * static_cast<double>(bytes);
    }
};

/// The places: the host (0), then the devices of each context: 1, 2, ...
class MachineFile {
public:
    MachineFile(const std::string &path, uint32_t contexts);

    uint32_t places() const { return static_cast<uint32_t>(1 + contexts_ * devices_.size()); }
    std::string name(uint32_t place) const;
    bool unified(uint32_t from, uint32_t to) const;
    /// Cost of a copy, read or write; none if the two places' memories have no connection.
    std::optional<Figures> link(uint32_t from, uint32_t to) const;
    /// Cost of a map and unmap without a copy; none if the place has no such map.
    std::optional<Figures> map(uint32_t place) const;

    /// Seconds of the cheapest route: one transfer, a mapped end, or any simple chain of links in
    /// pieces of any size. `copies`: the route is the link's own transfer, as the file gives it.
    double cheapest(uint32_t from, uint32_t to, uint64_t bytes) const;
    /// Seconds of this chain of links in pieces of at most `chunk` bytes, by the formula in
    /// docs/runtime-authors.md.
    double pipeline(const std::vector<uint32_t> &places, uint64_t bytes, uint64_t chunk) const;

private:
    struct Device {
        std::string name;
        Figures memory;
        std::optional<Figures> map;
        int other_context = 2; // as pi_memory_connection
    };
    struct Link {
        int connection = 2;
        std::optional<Figures> figures; // none: two transfers over the host, in sequence
    };
    struct Search; // for one piece size

    const Device &device(uint32_t place) const { return devices_[(place - 1) % devices_.size()]; }
    uint32_t context(uint32_t place) const {
        return static_cast<uint32_t>((place - 1) / devices_.size());
    }
    int connection(uint32_t from, uint32_t to) const;
    std::optional<Link> find(uint32_t from, uint32_t to) const;
    void add_links(const nlohmann::json &json);
    double cheapest_chain(uint32_t from, uint32_t to, uint64_t bytes) const;

    uint32_t contexts_;
    std::vector<Device> devices_;
    Figures host_;
    std::map<std::pair<std::string, std::string>, Link> links_;
};

} // namespace runtime_test
