// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the bytes of a storage must be, where they may be, and how many must have moved: the law's side, which
// knows the machine's file and the program, and of the runtime nothing.
#pragma once

#include "machine_file.hpp"

#include <pi/runtime/range_set.hpp>

#include <mutex>
#include <vector>

namespace law_test {

using pi::runtime::Range;

/// No fewer and no more.
struct Bounds {
    uint64_t least = 0;
    uint64_t most = 0;
};

/// Bytes that had to move, and what that takes on the cheapest ways.
struct Demand {
    uint64_t bytes = 0;
    uint64_t command_bytes = 0;
    uint64_t link_bytes = 0;
    /// Some bytes had two ways that are one command each, one of them over no link.
    bool any_link = false;
    /// The same from any memory that has the bytes, however dear: a cheap source may be busy.
    Bounds any_command_bytes{};
    Bounds any_link_bytes{};
    Demand &operator+=(const Demand &other) {
        bytes += other.bytes;
        command_bytes += other.command_bytes;
        link_bytes += other.link_bytes;
        any_link = any_link || other.any_link;
        for (const auto bounds : {&Demand::any_command_bytes, &Demand::any_link_bytes}) {
            (this->*bounds).least += (other.*bounds).least;
            (this->*bounds).most += (other.*bounds).most;
        }
        return *this;
    }
};

/// Places that use one memory, by the rule: of a place that lets you use its memory, the first; else import the
/// host's; else have your own. Thread-safe: the order of the first uses decides.
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

/// Which memory has which bytes valid, when all is done as it was begun, in the order of the program.
class Validity {
public:
    Validity(const MachineFile &machine, pi::runtime::RouteMask routes, uint64_t size,
             bool valid_at_host);
    /// What a use at that memory needs to be moved there.
    Demand acquired(PlaceIndex home, const Range &range, bool fetches, bool writes);
    /// A write that was acquired and did not take place.
    void abandoned(PlaceIndex home, const Range &range);

private:
    Demand of_one_byte(uint32_t holders, PlaceIndex to) const;

    const MachineFile &machine_;
    const pi::runtime::RouteMask routes_;
    std::vector<uint32_t> holders_; // a bit for each place that has a memory
};

/// The bytes as they are once uses have ended, and places that have them for certain. When things fail, places that
/// may share a memory perhaps do and perhaps do not.
class Contents {
public:
    Contents(const MachineFile &machine, uint64_t size);
    void write(PlaceIndex place, const Range &range, const std::vector<uint8_t> &last_bytes);
    /// The use failed: what is nowhere else may be anything, if the application's command has run.
    void fail_write(PlaceIndex place, const Range &range, bool has_run);
    void read(PlaceIndex place, const Range &range);
    /// "" or what is wrong with bytes that were seen.
    std::string compare(const Range &range, const std::vector<uint8_t> &seen) const;
    /// "" or why these cannot have been lost with the devices that may be.
    std::string check_lost(const pi::runtime::RangeSet &lost) const;

private:
    const MachineFile *machine_;
    std::vector<uint8_t> bytes_;
    std::vector<uint8_t> known_;
    std::vector<uint32_t> certain_; // a bit for each place
};

} // namespace law_test
