// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the bytes of a storage must be, where they may be, and how many must have moved: the model,
// which knows the machine's file and the program, and of the runtime nothing. How many is told by
// two bounds, which always hold. They are one number where the program leaves the runtime no
// choice: in a program with a hundred steps that move bytes and are waited for, in at least three
// in ten of these (StepCheck).
#pragma once

#include "machine_file.hpp"

#include <pi/runtime/range_set.hpp>

#include <mutex>
#include <vector>

namespace random_programs {

using pi::runtime::Range;

/// No fewer and no more.
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

/// Bytes that had to move, and what that takes.
struct Demand {
    Bounds bytes{};
    /// Over the cheapest ways, where each step is waited for; else from any memory that has the
    /// bytes, however dear: a cheap source may be busy.
    Bounds command_bytes{};
    Bounds link_bytes{};
    Demand &operator+=(const Demand &other) {
        bytes += other.bytes;
        command_bytes += other.command_bytes;
        link_bytes += other.link_bytes;
        return *this;
    }
};

/// Do the bytes that a bounce brings through the host stay there?
enum class Stay { never, perhaps, always };

/// Places that use one memory, by the rule: of a place that lets you use its memory, the first;
/// else import the host's; else have your own. Thread-safe: the order of the first uses decides.
class Memories {
public:
    Memories(const MachineFile &machine, pi::runtime::RouteMask routes);
    /// The place that has the memory which this one uses.
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

/// Which memory has which bytes valid, when all is done as it was begun, in the order of the
/// program.
class Validity {
public:
    /// How the source of bytes is chosen, of those that have them.
    enum class Choice { cheapest, any };

    Validity(const MachineFile &machine, pi::runtime::RouteMask routes, uint64_t size,
             bool valid_at_host, Stay stay);
    /// What a use at that memory needs to be moved there.
    Demand acquired(PlaceIndex home, const Range &range, bool fetches, bool writes, Choice choice);
    /// A write that was acquired and did not take place.
    void abandoned(PlaceIndex home, const Range &range);

private:
    /// Places whose memory has a byte, a bit for each: for certain; or perhaps, those included. At
    /// least one has it.
    struct Holders {
        uint32_t certain = 0;
        uint32_t perhaps = 0;
        friend bool operator==(const Holders &, const Holders &) = default;
    };
    struct Fetched {
        Demand demand;
        Holders holders; ///< then
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
