// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine's links at run time: the duration of transfers, and counters.
#pragma once

#include "timeline.hpp"

#include <atomic>
#include <deque>

namespace pi::sim {

/// Nanoseconds for this many bytes.
uint64_t duration_of(const Speed &speed, uint64_t bytes);

inline constexpr uint64_t lost_page_size = 4096;
/// Whether a link that loses pages loses this byte of the memory: it loses every second page.
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
    /// Nanoseconds for this many bytes.
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

/// The bytes that a command moves.
struct Transfer {
    Task task;
    std::vector<Link *> links; ///< that count the bytes; none within one memory
    uint64_t bytes = 0;
    bool whole = false; ///< a fault that cuts it short leaves it undone
};

class Links {
public:
    explicit Links(const Machine &machine);

    /// NULL if there is none between two devices. Every device has links to and from the host.
    Link *find(Site from, Site to) const;
    std::deque<Link> &all() { return links_; }

    /// A transfer of bytes from one site to another: over their link, or over the host if they have
    /// none or its bandwidth is not known; within one memory at that memory's speed.
    Transfer transfer(Site from, Site to, uint64_t bytes) const;
    /// The speed of such a transfer, for queries; bandwidth UINT64_MAX if the bytes take no time.
    Speed speed(Site from, Site to) const;
    /// The numbers of the channels that such a transfer uses, each once.
    std::vector<uint64_t> channels(Site from, Site to) const;
    /// Whether a command in a queue of `by` that moves bytes from one site to another loses pages.
    bool copy_loses_pages(Site from, Site by, Site to) const;
    /// Whether a kernel on `by` that uses memory of another site loses pages.
    bool kernel_loses_pages(Site owner, Site by) const;
    /// The channel of a device's kernels.
    Channel *processors(Site device) const { return processors_.at(device); }

private:
    Channel *channel(const std::string &name);
    void add(const LinkSpec &spec);
    const Speed &speed_within(Site site) const;
    std::vector<Link *> way(Site from, Site to) const;
    bool loses_pages(Site from, Site to, LossyCommands commands) const;

    const Machine &machine_;
    std::map<std::string, Channel> channels_; ///< a map: its elements do not move
    std::deque<Link> links_;
    std::map<std::pair<Site, Site>, Link *> by_ends_;
    std::vector<Channel *> memories_, processors_; ///< by site
};

} // namespace pi::sim
