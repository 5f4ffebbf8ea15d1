// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/export.hpp>
#include <pi/runtime/topology.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace pi::runtime {

/// Assumptions of predictions, for costs that neither a plugin reports nor a measurement gives. The
/// values are those of an ordinary server.
struct CostModel {
    double host_bandwidth = 8e9;    ///< bytes per second of memcpy in host memory
    double link_bandwidth = 12e9;   ///< bytes per second of a link of unknown kind (PCIe 3 x16)
    double command_latency = 10e-6; ///< seconds of a command with its event
    /// Seconds from an event to the next command of another plugin.
    double callback_latency = 15e-6;
    /// Larger pieces of a pipeline in host memory leave the cache between write and read, and then
    /// move at cache_factor of the bandwidth (measured: 64 KiB to 256 KiB near memcpy's rate, 1 MiB
    /// and more at 0.65 of it).
    uint64_t cache_bytes = 256 << 10;
    double cache_factor = 0.65;
    uint64_t smallest_chunk = 64 << 10; ///< bytes of a pipeline's piece, a power of two
    uint64_t largest_chunk = 16 << 20;  ///< likewise
};

/// The cost of one crossing of a link: latency + bytes / bandwidth.
struct LinkCost {
    double latency = 0;   ///< seconds
    double bandwidth = 0; ///< bytes per second; 0 = no such link

    double seconds(uint64_t bytes) const {
        return latency + static_cast<double>(bytes) / bandwidth;
    }
    /// Bytes per second of a crossing of 64 MiB, including its latency: the rate of a large
    /// transfer, even on a link whose time hardly depends on the size.
    double large_bandwidth() const {
        constexpr uint64_t large = uint64_t{64} << 20;
        return static_cast<double>(large) / seconds(large);
    }
    friend bool operator==(const LinkCost &, const LinkCost &) = default;
};

/// Links behave differently for transfers of different sizes, so costs are kept by size class. A
/// class contains the sizes up to its limit.
inline constexpr std::array<uint64_t, 3> size_class_limits{64 << 10, 4 << 20, UINT64_MAX};
constexpr uint32_t size_class_of(uint64_t bytes) {
    uint32_t index = 0;
    while (bytes > size_class_limits[index]) {
        ++index;
    }
    return index;
}

/// The cost of moving bytes from each place to each other over one link: a plugin's copy between
/// devices, or a read or write if one end is the host. Directed, and by size class.
class PI_RUNTIME_EXPORT CostTable {
public:
    using Link = std::array<LinkCost, size_class_limits.size()>;

    CostTable() = default;
    /// A table without links.
    explicit CostTable(uint32_t places, const CostModel &model = {});
    /// From what the plugins report about connections and host transfers, otherwise from the model.
    /// Places whose connection is NONE have no link. Each place has a link to the host and one
    /// back.
    static CostTable estimate(const TopologyDescription &topology, const CostModel &model = {});

    uint32_t places() const noexcept { return places_; }
    const CostModel &model() const noexcept { return model_; }
    bool linked(PlaceIndex from, PlaceIndex to) const { return link(from, to)[0].bandwidth > 0; }
    const Link &link(PlaceIndex from, PlaceIndex to) const;
    /// Unknown places throw std::out_of_range.
    void set_classes(PlaceIndex from, PlaceIndex to, const Link &link);
    /// The same cost for all sizes.
    void set(PlaceIndex from, PlaceIndex to, const LinkCost &cost);

    /// Seconds of one copy. Infinite without a link.
    double seconds(PlaceIndex from, PlaceIndex to, uint64_t bytes) const;
    /// Whether both places are in host memory and no plugin reports the speed of their transfers.
    /// The processor makes the copies between such places over a single bus, so that the copies of
    /// a pipeline take turns (measured: 64 MiB through staging between two CPU devices take 1.3 to
    /// 1.4 of a memcpy, where overlapping stages would take 0.7).
    bool in_host_memory(PlaceIndex from, PlaceIndex to) const;
    void set_in_host_memory(PlaceIndex place, bool is);
    /// Seconds of one piece of a pipeline: its copy, plus the cost of starting the next one.
    double stage_seconds(PlaceIndex from, PlaceIndex to, uint64_t bytes) const;

    /// Seconds of a map plus its unmap, in place; also of a flush or an invalidate, which do the
    /// same.
    double map_seconds(PlaceIndex place, uint64_t bytes) const;
    void set_map(PlaceIndex place, const LinkCost &cost);
    /// Seconds from the end of a command of this place's plugin to the beginning of what follows.
    double callback_seconds(PlaceIndex place) const;
    void set_callback_seconds(PlaceIndex place, double seconds);

private:
    struct PlaceCost {
        LinkCost map;
        double callback = 0;
        bool in_host_memory = false; // its caches speed up small pieces
    };

    const PlaceCost &at(PlaceIndex place) const;
    uint64_t index(PlaceIndex from, PlaceIndex to) const;

    CostModel model_;
    uint32_t places_ = 0;
    std::vector<Link> links_; // [from * places + to]
    std::vector<PlaceCost> place_costs_;
};

} // namespace pi::runtime
