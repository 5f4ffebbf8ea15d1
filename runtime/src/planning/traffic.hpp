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

/// What each piece of a transfer asks of a link.
struct Crossing {
    Hop link;
    double pause = 0;   ///< seconds between what comes before it and its begin
    double seconds = 0; ///< for which it has the link to itself
};

/// A transfer as its links see it: pieces, which cross one after the other.
struct Load {
    std::vector<Crossing> crossings; ///< each of another link
    uint64_t pieces = 1;
};

/// Of so many bytes by a possible candidate; nothing if that has no finite cost. The copy of a bounce with a mapped end crosses the other end's link; all
/// links between places in host memory are one, its bus, from the host to itself.
Load load_of(const CostTable &costs, const Candidate &candidate, uint64_t bytes);

/// What each link takes of the machine: a channel of its own, in one direction, and those that its plugin tells
/// (PI_CONNECTION_MAX_CHANNELS), which other links may take, too. The places of one device share its links.
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

/// The transfers under way, channel by channel. What they have moved already nobody knows, so each counts as if it
/// began now. Thread-safe; calls nobody.
class Traffic {
    /// Of one transfer on one channel of a link.
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

    /// A transfer that is under way until it leaves, as it does when this is destroyed. The Traffic lives longer.
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
    /// What `entry` was before leaves. After an exception (bad_alloc) it is no transfer.
    void enter(const Load &load, Entry &entry);

    /// Seconds by which a transfer that begins now ends later than it would on idle links: pieces take turns, so
    /// of each other transfer go before it at most as many as it has itself. A piece goes when all channels of its link
    /// are free. An estimate where a transfer has thousands of pieces or a channel hundreds of transfers, and of others
    /// that wait themselves for what they do not share with it.
    double delay(const Load &load) const;

private:
    bool is_idle(const Load &load) const;

    const LinkChannels link_channels_;
    mutable std::mutex mutex_;
    std::vector<Channel> channels_;
};

} // namespace pi::runtime
