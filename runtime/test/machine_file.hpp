// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a machine file says of its links, read by the test itself, and the cheapest way between two
// places by trying all: the oracle, which knows neither the plugin nor the runtime.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runtime_test {

/// A transfer takes the latency, and so much for each byte.
struct Figures {
    double latency = 0;
    double seconds_a_byte = 0;
    double seconds(uint64_t bytes) const {
        return latency + seconds_a_byte * static_cast<double>(bytes);
    }
};

/// The places are the host (0) and the devices, in each of so many contexts: 1, 2, ...
class MachineFile {
public:
    MachineFile(const std::string &path, uint32_t contexts);

    uint32_t places() const { return static_cast<uint32_t>(1 + contexts_ * devices_.size()); }
    std::string name(uint32_t place) const;
    bool unified(uint32_t from, uint32_t to) const;
    /// Of a copy, a read or a write; nothing where memory of one is nothing to the other.
    std::optional<Figures> link(uint32_t from, uint32_t to) const;
    /// Of a map and unmap that cost no copy; nothing where there are none.
    std::optional<Figures> map(uint32_t place) const;

    /// Seconds of the best of: one transfer, a mapped end, every chain of links without a place
    /// twice in pieces of every size. `copies`: a link's transfer, as the file has it.
    double cheapest(uint32_t from, uint32_t to, uint64_t bytes) const;
    /// Of this chain of links in pieces of at most `chunk` bytes, as docs/runtime-authors.md has
    /// it.
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
        std::optional<Figures> figures; // nothing: over the host, both ways one after the other
    };
    struct Search; // of one size of piece

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
