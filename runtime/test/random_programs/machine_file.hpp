// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machines of random programs, read from their files: the model's own reading, independent of
// plugin and runtime.
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

/// What one byte's way from a memory to another costs.
struct Way {
    uint64_t commands = 0;  ///< reads, writes and copies that carry it
    uint64_t crossings = 0; ///< of the simulated machine's links
    bool may_stay = false;  ///< at the host, on its way between devices that have their own memory
    bool from_host_memory = false; ///< of a bounce: its source lies in the host's memory
    /// By what it costs: that bytes stay costs nothing.
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

/// A simulated machine, alone or beside the host plugin, or real devices, and its places: device by
/// device in each context.
class MachineFile {
public:
    /// One that comes with PI, or one that is made up. Any has the plugin's own memory plenty, but
    /// under pressure: then no more than `capacity` bytes at each device. No fault hits the queues
    /// of so many actors.
    static MachineFile draw(Draw &draw, Trouble trouble, uint64_t capacity, uint64_t actors);
    /// Real devices, of which there is no file: what must move between them is not known.
    static MachineFile unknown(uint32_t devices, uint32_t contexts);
    bool is_known() const { return simulated_ != 0; }

    std::string text() const { return json_.dump(); }
    const std::string &words() const { return words_; } ///< for people
    bool has_host_plugin() const { return is_known() && others_ != 0; }
    uint32_t contexts() const { return contexts_; }
    uint32_t places() const {
        return 1 + contexts_ * per_context(); // the host's, too
    }

    std::string name(PlaceIndex place) const;
    /// May a command at `to` name memory that `from` has? `imported`: of the host's.
    bool unified(PlaceIndex from, PlaceIndex to, bool imported) const;
    /// Can it use the host's memory in place?
    bool imports(PlaceIndex place) const;
    /// Is its memory the host's, physically?
    bool shares_host_memory(PlaceIndex place) const;
    /// By place: a bit for each that may use the same memory.
    const std::vector<uint32_t> &may_share() const { return may_share_; }
    /// A bit for each whose memory is lost at no time, and never taken for it.
    uint32_t safe_places() const;
    /// Never the same memory twice.
    Way way(PlaceIndex from, PlaceIndex to, pi::runtime::RouteMask routes) const;
    /// Its memory counts on no link.
    bool simulated(PlaceIndex place) const;
    /// What the file says, in the runtime's form.
    pi::runtime::CostTable costs() const;

private:
    struct Link {
        std::string connection = "none";
        std::string imported = "none";
        double latency = 0;   ///< seconds
        double bandwidth = 0; ///< 0: over the host
    };
    MachineFile() = default;
    void read_links();
    void find_sharing();
    uint32_t find_may_share(PlaceIndex place) const;
    /// Lost at some time, or taken for it.
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
    /// Than the way over the host, for transfers of every size that programs make; by what the
    /// links cost.
    bool is_copy_cheaper(PlaceIndex from, PlaceIndex to) const;

    nlohmann::json json_;
    std::string words_;
    uint32_t simulated_ = 0;
    uint32_t others_ = 0; // the host plugin's, or real ones
    uint32_t contexts_ = 1;
    std::vector<Link> links_;         // by device, the host last
    std::vector<uint32_t> may_share_; // by place
};

} // namespace random_programs
