// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model: it predicts the bytes of a storage, their places, and how many bytes move. It knows
// the machine's file and the program, not the runtime. It gives two bounds for the bytes that move.
// The bounds are equal where the program leaves the runtime no choice: in at least three of ten
// steps that move bytes, in a program with a hundred such steps that are waited for (StepCheck).
#pragma once

#include "machine_file.hpp"

#include <pi/runtime/range_set.hpp>

#include <mutex>
#include <vector>

namespace random_programs {

using pi::runtime::Range;

/// Both limits are included.
struct Bounds {
    uint64_t least = 0;
    uint64_t most = 0;
    bool is_exact() const { return least == most; }
    Bounds &operator+=(const Bounds &other) {
        least += other.least;
        most += other.most;
        return *this;
    }
};

/// Bytes that had to move, and the commands and links that they need.
struct Demand {
    Bounds bytes{};
    /// Over the cheapest ways, if each step is waited for; otherwise from any memory that has the
    /// bytes, at any cost: a cheap source may be busy.
    Bounds command_bytes{};
    Bounds link_bytes{};
    Demand &operator+=(const Demand &other) {
        bytes += other.bytes;
        command_bytes += other.command_bytes;
        link_bytes += other.link_bytes;
        return *this;
    }
};

/// Whether the bytes of a bounce stay at the host.
enum class Stay { never, perhaps, always };

/// Which places use one memory. The rule: use the memory of the first place that permits it;
/// otherwise import the host's; otherwise use own memory. Thread-safe: the order of the first uses
/// decides.
class Memories {
public:
    Memories(const MachineFile &machine, pi::runtime::RouteMask routes);
    /// The place whose memory this place uses.
    PlaceIndex of(PlaceIndex place);

private:
    enum class Kind { none, own, direct, imported };
    struct Use {
        Kind kind = Kind::none;
        PlaceIndex home = host_place;
    };
    Use find(PlaceIndex place) const;
    bool allowed(pi::runtime::RouteKind kind) const;

    const MachineFile &machine_;
    const pi::runtime::RouteMask routes_;
    std::mutex mutex_;
    std::vector<Use> uses_;
};

/// Which memory has which valid bytes, once all steps are complete, in program order.
class Validity {
public:
    /// How the source is selected among the memories that have the bytes.
    enum class Choice { cheapest, any };

    Validity(const MachineFile &machine, pi::runtime::RouteMask routes, uint64_t size,
             bool valid_at_host, Stay stay);
    /// The bytes that must move to that memory for a use.
    Demand acquired(PlaceIndex home, const Range &range, bool fetches, bool writes, Choice choice);
    /// A write that was acquired but not executed.
    void abandoned(PlaceIndex home, const Range &range);

private:
    /// A bit for each place whose memory has a byte: for certain, or perhaps (which includes the
    /// certain ones). At least one has it.
    struct Holders {
        uint32_t certain = 0;
        uint32_t perhaps = 0;
        friend bool operator==(const Holders &, const Holders &) = default;
    };
    struct Fetched {
        Demand demand;
        Holders holders; ///< after the fetch
    };
    Fetched fetch(const Holders &holders, PlaceIndex to, Choice choice) const;
    std::vector<Way> ways(const Holders &holders, PlaceIndex to, Choice choice) const;
    std::vector<Way> with_chains(std::vector<Way> found) const;

    const MachineFile &machine_;
    const pi::runtime::RouteMask routes_;
    const Stay stay_;
    std::vector<Holders> holders_;
};

} // namespace random_programs
