// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/cost.hpp>
#include <pi/runtime/route.hpp>
#include <pi/runtime/topology.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <vector>

namespace pi::runtime {

/// One piece of a transfer on a link.
struct Crossing {
    Hop link;
    double pause = 0;   ///< seconds from the end of the step before it to its begin
    double seconds = 0; ///< for which it has the link to itself
};

/// A transfer as its links see it: pieces, which cross one after the other.
struct Load {
    std::vector<Crossing> crossings; ///< each of another link
    uint64_t pieces = 1;
};

/// The load of so many bytes by a possible candidate; empty if that has no finite cost. The copy of
/// a bounce with a mapped end crosses the other end's link. All links between places in host memory
/// are one: its bus, from the host to itself.
Load load_of(const CostTable &costs, const Candidate &candidate, uint64_t bytes);

/// The channels that each link occupies: one of its own, in one direction, and those that its
/// plugin reports (PI_CONNECTION_MAX_CHANNELS), which other links may occupy, too. The places of
/// one device share its links.
class LinkChannels {
public:
    /// `devices`: for each place the first one of the same device.
    LinkChannels(const TopologyDescription &topology, const std::vector<PlaceIndex> &devices);

    /// Numbers below count().
    const std::vector<size_t> &of(Hop link) const { return links_[index(link)]; }
    size_t count() const noexcept { return count_; }

private:
    size_t index(Hop link) const { return link.from * places_ + link.to; }

    size_t places_;
    size_t count_;
    std::vector<std::vector<size_t>> links_;
};

/// The transfers under way, by channel. How far they have come is not known, so each counts as if
/// it began now. Thread-safe.
class Traffic {
    /// The pieces of one transfer on one channel of a link.
    struct Turns {
        size_t hop;     ///< how many links its pieces cross before
        uint64_t count; ///< its pieces
        double arrival; ///< seconds until the first one can come here
        double seconds; ///< that each takes
    };
    using Channel = std::list<Turns>;

public:
    explicit Traffic(LinkChannels channels);
    Traffic(const Traffic &) = delete;

    /// A transfer that is under way until it leaves; the destructor leaves. The Traffic must
    /// outlive it.
    class Entry {
    public:
        Entry() noexcept = default;
        ~Entry() { leave(); }
        Entry(const Entry &) = delete;
        void leave() noexcept;

    private:
        friend class Traffic;
        struct Place {
            Channel *channel;
            Channel::iterator turns;
        };
        Traffic *traffic_ = nullptr;
        std::vector<Place> places_;
    };
    /// Leaves the entry's former transfer. After an exception (bad_alloc) the entry has no
    /// transfer.
    void enter(const Load &load, Entry &entry);

    /// Seconds by which a transfer that begins now ends later than it would on idle links. Pieces
    /// take turns, so of each other transfer at most as many pieces as it has itself go before it.
    /// A piece goes when all channels of its link are free. This is an estimate where a transfer
    /// has thousands of pieces, where a channel has hundreds of transfers, and where others wait
    /// for channels that it does not use.
    double delay(const Load &load) const;

private:
    bool is_idle(const Load &load) const;

    const LinkChannels link_channels_;
    mutable std::mutex mutex_;
    std::vector<Channel> channels_;
};

} // namespace pi::runtime
