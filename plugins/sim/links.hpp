// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The links of a machine at work: what a transfer takes, and what has gone over each.
#pragma once

#include "timeline.hpp"

#include <atomic>
#include <deque>

namespace pi::sim {

/// Nanoseconds that this many bytes take.
uint64_t duration_of(const Speed &speed, uint64_t bytes);

inline constexpr uint64_t lost_page_size = 4096;
/// Whether a link that loses pages loses this byte of the memory: of each two pages the second one.
constexpr bool is_in_lost_page(uint64_t offset) {
    return offset / lost_page_size % 2 != 0;
}

/// A link and its counters.
class Link {
public:
    Link(const LinkSpec &spec, std::vector<Channel *> channels)
        : spec_(spec), channels_(std::move(channels)) {}

    const LinkSpec &spec() const { return spec_; }
    const std::vector<Channel *> &channels() const { return channels_; }
    /// Nanoseconds that this many bytes take.
    uint64_t duration(uint64_t bytes) const;

    void count(uint64_t bytes);
    void reset();
    uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    uint64_t transfers() const { return transfers_.load(std::memory_order_relaxed); }
    uint64_t busy() const { return busy_.load(std::memory_order_relaxed); }

private:
    const LinkSpec spec_;
    const std::vector<Channel *> channels_;
    std::atomic<uint64_t> bytes_{0}, transfers_{0}, busy_{0};
};

/// What a command moves.
struct Transfer {
    Task task;
    std::vector<Link *> links; ///< that count it; none within one memory
    uint64_t bytes = 0;
    bool whole = false; ///< done wholly or not at all, when a fault cuts it short
};

class Links {
public:
    explicit Links(const Machine &machine);

    /// NULL if there is none between two devices. With the host, every device has both.
    Link *find(Site from, Site to) const;
    std::deque<Link> &all() { return links_; }

    /// Bytes from one site to another: over their link, or over the host where they have none or it does not know
    /// how fast it is; within one memory at its own speed.
    Transfer transfer(Site from, Site to, uint64_t bytes) const;
    /// What such a transfer takes, for being told: bandwidth UINT64_MAX where the bytes take no time.
    Speed speed(Site from, Site to) const;
    /// The numbers of the channels that such a transfer takes, each once.
    std::vector<uint64_t> channels(Site from, Site to) const;
    /// Whether a command of a queue of `by` that carries bytes from one site to another loses pages.
    bool copy_loses_pages(Site from, Site by, Site to) const;
    /// Likewise a kernel of `by` that uses memory of another site.
    bool kernel_loses_pages(Site owner, Site by) const;
    /// What kernels of a device run on.
    Channel *processors(Site device) const { return processors_.at(device); }

private:
    Channel *channel(const std::string &name);
    void add(LinkSpec spec);
    const Speed &speed_within(Site site) const;
    std::vector<Link *> way(Site from, Site to) const;
    bool loses_pages(Site from, Site to, LossyCommands commands) const;

    const Machine &machine_;
    std::map<std::string, Channel> channels_; ///< a map, so that they stay where they are
    std::deque<Link> links_;
    std::map<std::pair<Site, Site>, Link *> by_ends_;
    std::vector<Channel *> memories_, processors_; ///< by site
};

} // namespace pi::sim
