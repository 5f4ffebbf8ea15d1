// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A simulated machine with a runtime, and the duration of transfers on the machine's clock.
#pragma once

#include "simulated.hpp"

#include <functional>
#include <optional>

namespace runtime_test {

/// Only copies: no place uses another place's memory in place.
inline constexpr RouteMask copies = mask_of(RouteKind::migrate) | mask_of(RouteKind::host_bounce);

inline constexpr uint64_t KiB = 1 << 10, MiB = 1 << 20;

/// Compares the measured duration with the predicted one.
void check_within_5_percent(double seconds, double predicted);

class TimedMachine {
public:
    /// A bounce is one transfer, unless its bytes may stay at the host.
    explicit TimedMachine(const std::string &path, uint32_t contexts = 1,
                          const std::optional<CostTable> &costs = {}, uint64_t bounce_limit = 0);

    const TopologyDescription &topology() const { return machine_.topology()->description(); }
    PlaceIndex places() const { return machine_.topology()->size(); }
    const Runtime &runtime() const { return runtime_; }

    /// A storage of `size` bytes, all of them valid at `source` only.
    Storage storage(uint64_t size, PlaceIndex source, RouteMask routes = copies,
                    StyleMask styles = all_styles) const;
    /// The same, with transfers staged over the host.
    Storage staged(uint64_t size, PlaceIndex source) const;
    /// The best route to `destination`; there must be one.
    static Candidate chosen(const Storage &storage, PlaceIndex destination);

    /// Virtual seconds that a read of all bytes at `destination` takes.
    double read_seconds(const Storage &storage, PlaceIndex destination) const;
    struct Transfer {
        Storage storage;
        PlaceIndex destination;
    };
    struct Ended {
        Candidate predicted; ///< by explain, with the earlier transfers in flight
        double seconds;      ///< virtual seconds
    };
    /// Starts the first commands of several transfers at one time, in this order. Bytes read at the
    /// host have no value afterwards.
    std::vector<Ended> read_together(const std::vector<Transfer> &transfers) const;
    /// Bytes over a link during the last call of read_together(), in all contexts of its ends.
    uint64_t link_bytes(PlaceIndex from, PlaceIndex to) const;

private:
    double seconds_of(const std::function<void()> &work) const;

    class Gated;

    Simulated machine_;
    std::shared_ptr<Gated> gated_;
    Runtime runtime_;
};

} // namespace runtime_test
