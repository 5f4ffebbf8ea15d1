// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machines of random programs, read from their files by the model itself, independent of plugin
// and runtime.
#pragma once

#include "draw.hpp"

#include <nlohmann/json.hpp>
#include <pi/runtime/cost.hpp>
#include <pi/runtime/route.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace random_programs {

using pi::runtime::host_place;
using pi::runtime::PlaceIndex;

/// The cost of one byte's way from one memory to another.
struct Way {
    uint64_t commands = 0;         ///< number of reads, writes and copies that carry it
    uint64_t crossings = 0;        ///< number of the simulated machine's links that it crosses
    bool may_stay = false;         ///< a bounce may leave it at the host: both ends have own memory
    bool from_host_memory = false; ///< its bounce starts in the host's memory
    /// Orders by cost: bytes that stay cost nothing.
    friend auto operator<=>(const Way &a, const Way &b) {
        return std::tie(a.commands, a.crossings) <=> std::tie(b.commands, b.crossings);
    }
};

enum class Trouble { none, pressure, faults, pressure_and_faults };

constexpr bool has_pressure(Trouble trouble) {
    return trouble == Trouble::pressure || trouble == Trouble::pressure_and_faults;
}
constexpr bool has_faults(Trouble trouble) {
    return trouble == Trouble::faults || trouble == Trouble::pressure_and_faults;
}

/// The places of a simulated machine, with or without the host plugin's devices, or of real
/// devices: device by device in each context.
class MachineFile {
public:
    /// A machine of PI or a made-up one. Its devices have plenty of memory for plugins, but under
    /// memory pressure only `capacity` bytes each. No fault hits the queues of `actors` actors.
    static MachineFile draw(Draw &draw, Trouble trouble, uint64_t capacity, uint64_t actors);
    /// Real devices without a file: the model cannot predict the bytes that move between them.
    static MachineFile unknown(uint32_t devices, uint32_t contexts);
    bool is_known() const { return simulated_ != 0; }

    std::string text() const { return json_.dump(); }
    const std::string &words() const { return words_; } ///< for people
    bool has_host_plugin() const { return is_known() && others_ != 0; }
    uint32_t contexts() const { return contexts_; }
    uint32_t places() const {
        return 1 + contexts_ * per_context(); // with the host
    }

    std::string name(PlaceIndex place) const;
    /// Whether a command at `to` may name memory of `from`. `imported`: imported host memory.
    bool unified(PlaceIndex from, PlaceIndex to, bool imported) const;
    /// Whether the place can use the host's memory in place.
    bool imports(PlaceIndex place) const;
    /// Whether its memory is physically the host's.
    bool shares_host_memory(PlaceIndex place) const;
    /// By place: a bit for each place that may use the same memory.
    const std::vector<uint32_t> &may_share() const { return may_share_; }
    /// A bit for each place that is never lost and never found lost.
    uint32_t safe_places() const;
    /// `from` and `to` have different memory.
    Way way(PlaceIndex from, PlaceIndex to, pi::runtime::RouteMask routes) const;
    /// Whether the place's memory belongs to the simulated machine. No link counts bytes of other
    /// memory.
    bool simulated(PlaceIndex place) const;
    /// The file's costs as the runtime expects them.
    pi::runtime::CostTable costs() const;

private:
    struct Link {
        std::string connection = "none";
        std::string imported = "none";
        double latency = 0;   ///< in seconds
        double bandwidth = 0; ///< 0: over the host
    };
    MachineFile() = default;
    void read_links();
    void find_sharing();
    uint32_t find_may_share(PlaceIndex place) const;
    /// Whether the device may be lost or found lost.
    bool may_be_lost(PlaceIndex place) const;
    bool faults_may_convict() const;
    void add_faults(Draw &draw, uint64_t actors);
    uint32_t device(PlaceIndex place) const { return (place - 1) % per_context(); }
    uint32_t context(PlaceIndex place) const { return (place - 1) / per_context(); }
    uint32_t per_context() const { return simulated_ + others_; }
    const nlohmann::json &described(PlaceIndex place) const {
        return json_["devices"][device(place)];
    }
    std::string connection(PlaceIndex from, PlaceIndex to, bool imported) const;
    const Link &link(uint32_t from, uint32_t to) const {
        return links_[from * (simulated_ + 1) + to];
    }
    Link &link(uint32_t from, uint32_t to) { return links_[from * (simulated_ + 1) + to]; }
    Link speed(PlaceIndex from, PlaceIndex to) const;
    /// Whether a copy costs less than the way over the host, at every transfer size of the
    /// programs, by link cost.
    bool is_copy_cheaper(PlaceIndex from, PlaceIndex to) const;

    nlohmann::json json_;
    std::string words_;
    uint32_t simulated_ = 0;
    uint32_t others_ = 0; // devices of the host plugin, or real ones
    uint32_t contexts_ = 1;
    std::vector<Link> links_;         // by device, the host last
    std::vector<uint32_t> may_share_; // by place
};

} // namespace random_programs
