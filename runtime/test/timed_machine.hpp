// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A simulated machine with the runtime on it, and how long transfers really take on its clock.
#pragma once

#include "simulated.hpp"

#include <functional>
#include <optional>

namespace runtime_test {

/// Everything by copies: nothing is used in place.
inline constexpr RouteMask copies = mask_of(RouteKind::migrate) | mask_of(RouteKind::host_bounce);

inline constexpr uint64_t KiB = 1 << 10, MiB = 1 << 20;

/// What it took, of what was predicted.
void check_within_5_percent(double seconds, double predicted);

class TimedMachine {
public:
    /// Bounces are one transfer, unless they may stay at the host.
    explicit TimedMachine(const std::string &path, uint32_t contexts = 1,
                          const std::optional<CostTable> &costs = {}, uint64_t bounce_limit = 0);

    const TopologyDescription &topology() const { return machine_.topology()->description(); }
    PlaceIndex places() const { return machine_.topology()->size(); }
    const Runtime &runtime() const { return runtime_; }

    /// Of so many bytes, all of them valid at `source` only.
    Storage storage(uint64_t size, PlaceIndex source, RouteMask routes = copies,
                    StyleMask styles = all_styles) const;
    /// Which goes staged over the host.
    Storage staged(uint64_t size, PlaceIndex source) const;
    /// The best way to `destination`; it must be possible.
    static Candidate chosen(const Storage &storage, PlaceIndex destination);

    /// Virtual seconds of reading all of it at `destination`.
    double read_seconds(const Storage &storage, PlaceIndex destination) const;
    struct Transfer {
        Storage storage;
        PlaceIndex destination;
    };
    struct Ended {
        Candidate predicted; ///< by explain, when the ones before were under way
        double seconds;      ///< virtual ones
    };
    /// Of several whose first commands begin at one time, in this order. What is read at the host
    /// has no value in the end.
    std::vector<Ended> read_together(const std::vector<Transfer> &transfers) const;
    /// Bytes that went over a link during the last of these, whatever contexts its ends are in.
    uint64_t link_bytes(PlaceIndex from, PlaceIndex to) const;

private:
    double seconds_of(const std::function<void()> &work) const;

    class Gated;

    Simulated machine_;
    std::shared_ptr<Gated> gated_;
    Runtime runtime_;
};

} // namespace runtime_test
