// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/export.hpp>
#include <pi/runtime/topology.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace pi::runtime {

/// What a prediction stands on where neither a plugin nor a measurement says anything. Figures of an
/// ordinary server.
struct CostModel {
    double host_bandwidth = 8e9;    ///< bytes a second of memcpy in host memory
    double link_bandwidth = 12e9;   ///< of a link of unknown kind (PCIe 3 x16)
    double command_latency = 10e-6; ///< seconds, of a command with its event
    double callback_latency =
        15e-6; ///< seconds, from an event to the next command of another plugin
    /// Pieces of a pipeline in host memory that are larger than this leave the cache between being
    /// written and being read, and then move at cache_factor of the bandwidth (measured: 64 KiB to
    /// 256 KiB near memcpy's rate, 1 MiB and more at 0.65 of it).
    uint64_t cache_bytes = 256 << 10;
    double cache_factor = 0.65;
    uint64_t smallest_chunk = 64 << 10; ///< bytes of a pipeline's pieces, a power of two
    uint64_t largest_chunk = 16 << 20;  ///< likewise
};

/// One crossing of a link costs latency + bytes / bandwidth.
struct LinkCost {
    double latency = 0;   ///< seconds
    double bandwidth = 0; ///< bytes a second; 0 = there is no such link

    double seconds(uint64_t bytes) const {
        return latency + static_cast<double>(bytes) / bandwidth;
    }
    /// Bytes a second of a crossing of 64 MiB, its latency included: what a large transfer gets, also where its time hardly
    /// depends on its size.
    double large_bandwidth() const {
        constexpr uint64_t large = uint64_t{64} << 20;
        return static_cast<double>(large) / seconds(large);
    }
    friend bool operator==(const LinkCost &, const LinkCost &) = default;
};

/// Transfers of different sizes behave differently: the figures are kept by class of size. A class
/// holds sizes up to its limit.
inline constexpr std::array<uint64_t, 3> size_class_limits{64 << 10, 4 << 20, UINT64_MAX};
constexpr uint32_t size_class_of(uint64_t bytes) {
    uint32_t index = 0;
    while (bytes > size_class_limits[index]) {
        ++index;
    }
    return index;
}

/// What it costs to move bytes from each place to each other over one link: a plugin's copy between
/// devices, a read or a write where one end is the host. Directed, by class of size.
class PI_RUNTIME_EXPORT CostTable {
public:
    using Link = std::array<LinkCost, size_class_limits.size()>;

    CostTable() = default;
    /// No links at all.
    explicit CostTable(uint32_t places, const CostModel &model = {});
    /// From what the plugins say of their connections and of the ways to the host and, where they say
    /// nothing, the model. Places whose connection is NONE have no link; each place has one to the host,
    /// and one back.
    static CostTable estimate(const TopologyDescription &topology, const CostModel &model = {});

    uint32_t places() const noexcept { return places_; }
    const CostModel &model() const noexcept { return model_; }
    bool linked(PlaceIndex from, PlaceIndex to) const { return link(from, to)[0].bandwidth > 0; }
    const Link &link(PlaceIndex from, PlaceIndex to) const;
    /// Unknown places are std::out_of_range.
    void set_classes(PlaceIndex from, PlaceIndex to, const Link &link);
    /// The same for all sizes.
    void set(PlaceIndex from, PlaceIndex to, const LinkCost &cost);

    /// Of one copy of so many bytes. Without a link: infinite.
    double seconds(PlaceIndex from, PlaceIndex to, uint64_t bytes) const;
    /// Whether both places lie in host memory and no plugin says how fast its ways are. Copies between such places are the
    /// processor's, over one bus: those of a pipeline take turns (measured: 64 MiB through staging between two
    /// CPU devices take 1.3 to 1.4 of a memcpy, where stages that overlap would take 0.7).
    bool in_host_memory(PlaceIndex from, PlaceIndex to) const;
    void set_in_host_memory(PlaceIndex place, bool is);
    /// Of one piece in a pipeline: a copy, and what it costs to begin the next one.
    double stage_seconds(PlaceIndex from, PlaceIndex to, uint64_t bytes) const;

    /// Of a map and its unmap together, in place; and of a flush or an invalidate, which do the same.
    double map_seconds(PlaceIndex place, uint64_t bytes) const;
    void set_map(PlaceIndex place, const LinkCost &cost);
    /// From the end of a command of this place's plugin to the beginning of what follows it.
    double callback_seconds(PlaceIndex place) const;
    void set_callback_seconds(PlaceIndex place, double seconds);

private:
    struct PlaceCost {
        LinkCost map;
        double callback = 0;
        bool in_host_memory = false; // whose caches make small pieces faster
    };

    const PlaceCost &at(PlaceIndex place) const;
    uint64_t index(PlaceIndex from, PlaceIndex to) const;

    CostModel model_;
    uint32_t places_ = 0;
    std::vector<Link> links_; // [from * places + to]
    std::vector<PlaceCost> place_costs_;
};

} // namespace pi::runtime
