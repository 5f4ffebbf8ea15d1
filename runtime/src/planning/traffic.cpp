// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "planning/traffic.hpp"

#include "planning/path.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace pi::runtime {
namespace {

constexpr Hop host_bus{host_place, host_place};
/// More pieces count as so many longer ones: a prediction must not take as long as its transfer.
constexpr uint64_t most_pieces = 4096;
/// More transfers on a channel count as so many longer ones.
constexpr size_t most_transfers = 256;

/// Other transfers' pieces on one channel before each piece of a transfer.
class Ahead {
public:
    explicit Ahead(uint64_t pieces) : steps_(pieces + 1) {}

    /// One of their pieces goes before each of `count` pieces, from `first` on.
    void add(uint64_t first, uint64_t count, double arrival, double seconds) {
        const uint64_t pieces = steps_.size() - 1;
        count = std::min(count, pieces - std::min(first, pieces));
        if (count == 0) {
            return;
        }
        steps_[first] += seconds;
        steps_[first + count] -= seconds;
        if (first == 0) {
            first_turns_.emplace_back(arrival, seconds);
        }
    }
    /// When the channel is free for a piece; call it for each in turn. `before`: the end of the
    /// piece before.
    double free(uint64_t piece, double before) {
        seconds_ += steps_[piece];
        if (piece != 0) {
            return before + seconds_;
        }
        std::sort(first_turns_.begin(), first_turns_.end());
        double end = 0;
        for (const auto &[arrival, seconds] : first_turns_) {
            end = std::max(end, arrival) + seconds;
        }
        return end;
    }

private:
    std::vector<double> steps_; // by piece: the change of seconds_
    double seconds_ = 0;
    std::vector<std::pair<double, double>> first_turns_; // arrival, seconds
};

/// On each channel of each link of a transfer.
using AheadOnAll = std::vector<std::vector<Ahead>>;

/// When all channels of a link are free for a piece.
double free_of(std::vector<Ahead> &channels, uint64_t piece, double before) {
    double free = 0;
    for (Ahead &ahead : channels) {
        free = std::max(free, ahead.free(piece, before));
    }
    return free;
}

/// When the last piece has crossed the last link.
double end_of(const Load &load, AheadOnAll ahead) {
    const size_t count = load.crossings.size();
    // End times by piece and link for the newest pieces. A piece reuses the slot of an earlier one.
    std::array<std::vector<double>, slots_a_place + 1> ends;
    ends.fill(std::vector<double>(count + 1));
    for (uint64_t piece = 0; piece < load.pieces; ++piece) {
        std::vector<double> &now = ends[piece % ends.size()];
        const std::vector<double> &before = ends[(piece + slots_a_place) % ends.size()];
        const std::vector<double> &leaving = ends[(piece + 1) % ends.size()];
        double arrived = 0;
        for (size_t link = 0; link < count; ++link) {
            const Crossing &crossing = load.crossings[link];
            const bool last = link + 1 == count;
            const double ready = std::max({arrived, before[link], last ? 0 : leaving[link + 1]});
            arrived = std::max(ready + crossing.pause, free_of(ahead[link], piece, before[link])) +
                      crossing.seconds;
            now[link] = arrived;
        }
    }
    return ends[(load.pieces - 1) % ends.size()][count - 1];
}

} // namespace

Load load_of(const CostTable &costs, const Candidate &candidate, uint64_t bytes) {
    const Route &route = candidate.route;
    Load load;
    if (!std::isfinite(candidate.seconds)) {
        return load; // its cost is not known
    }
    const auto add = [&](Hop hop, double pause, double seconds) {
        if (costs.in_host_memory(hop.from, hop.to)) {
            hop = host_bus;
        }
        for (Crossing &crossing : load.crossings) {
            if (crossing.link == hop) {
                crossing.seconds += pause + seconds;
                return;
            }
        }
        load.crossings.push_back({hop, pause, seconds});
    };
    if (route.style == BounceStyle::map_source || route.style == BounceStyle::map_destination) {
        const bool from_host = route.style == BounceStyle::map_source;
        const Hop hop =
            from_host ? Hop{host_place, route.destination} : Hop{route.source, host_place};
        const double seconds = costs.seconds(hop.from, hop.to, bytes);
        add(hop, from_host ? candidate.seconds - seconds : 0, seconds);
    } else if (route.hops.size() == 1) {
        add(route.hops.front(), 0, candidate.seconds);
    } else if (!route.hops.empty()) {
        const uint64_t chunk = route.chunk == 0 ? std::max<uint64_t>(1, bytes) : route.chunk;
        const uint64_t pieces = std::max<uint64_t>(1, (bytes + chunk - 1) / chunk);
        load.pieces = std::min(pieces, most_pieces);
        const double in_one = static_cast<double>(pieces) / static_cast<double>(load.pieces);
        for (const Hop &hop : route.hops) {
            const double pause = costs.callback_seconds(hop.to == host_place ? hop.from : hop.to);
            const double stage =
                costs.stage_seconds(hop.from, hop.to, even_piece(bytes, chunk)) - pause;
            add(hop, in_one * pause, in_one * stage);
        }
    }
    return load;
}

LinkChannels::LinkChannels(const TopologyDescription &topology,
                           const std::vector<PlaceIndex> &devices)
    : places_(devices.size()), count_(places_ * places_), links_(count_) {
    std::map<std::pair<uint32_t, uint64_t>, size_t> shared; // by plugin instance and its number
    const auto add = [&](Hop link, uint32_t instance, const std::vector<uint64_t> &reported) {
        std::vector<size_t> &channels = links_[index(link)];
        channels.push_back(index({devices[link.from], devices[link.to]}));
        for (const uint64_t number : reported) {
            const auto [known, is_new] = shared.try_emplace({instance, number}, count_);
            count_ += is_new ? 1 : 0;
            channels.push_back(known->second);
        }
    };
    for (PlaceIndex from = 0; from < places_; ++from) {
        const PlaceInfo &source = topology.place(from);
        for (PlaceIndex to = 0; to < places_; ++to) {
            const PlaceInfo &destination = topology.place(to);
            if (from == host_place) {
                add({from, to}, destination.instance, destination.host_write_channels);
            } else if (to == host_place) {
                add({from, to}, source.instance, source.host_read_channels);
            } else {
                add({from, to}, source.instance, topology.buffer(from, to).channels);
            }
        }
    }
}

Traffic::Traffic(LinkChannels channels)
    : link_channels_(std::move(channels)), channels_(link_channels_.count()) {}

void Traffic::Entry::leave() noexcept {
    if (places_.empty()) {
        return;
    }
    Channel over; // freed without the lock
    const std::lock_guard lock(traffic_->mutex_);
    for (const Place &place : places_) {
        over.splice(over.end(), *place.channel, place.turns);
    }
    places_.clear();
}

void Traffic::enter(const Load &load, Entry &entry) {
    entry.leave();
    Channel made;
    std::vector<Entry::Place> places;
    double arrival = 0;
    for (size_t hop = 0; hop < load.crossings.size(); ++hop) {
        const Crossing &crossing = load.crossings[hop];
        arrival += crossing.pause;
        for (const size_t channel : link_channels_.of(crossing.link)) {
            made.push_back({hop, load.pieces, arrival, crossing.seconds});
            places.push_back({&channels_[channel], std::prev(made.end())});
        }
        arrival += crossing.seconds;
    }
    const std::lock_guard lock(mutex_);
    for (const Entry::Place &place : places) {
        place.channel->splice(place.channel->end(), made, place.turns);
    }
    entry.traffic_ = this;
    entry.places_ = std::move(places);
}

bool Traffic::is_idle(const Load &load) const {
    const std::lock_guard lock(mutex_);
    return std::all_of(
        load.crossings.begin(), load.crossings.end(), [this](const Crossing &crossing) {
            const std::vector<size_t> &taken = link_channels_.of(crossing.link);
            return std::all_of(taken.begin(), taken.end(),
                               [this](size_t channel) { return channels_[channel].empty(); });
        });
}

double Traffic::delay(const Load &load) const {
    if (is_idle(load)) {
        return 0;
    }
    AheadOnAll idle;
    for (const Crossing &crossing : load.crossings) {
        idle.emplace_back(link_channels_.of(crossing.link).size(), Ahead(load.pieces));
    }
    AheadOnAll ahead = idle;
    {
        const std::lock_guard lock(mutex_);
        for (size_t hop = 0; hop < load.crossings.size(); ++hop) {
            const std::vector<size_t> &taken = link_channels_.of(load.crossings[hop].link);
            for (size_t index = 0; index < taken.size(); ++index) {
                const Channel &channel = channels_[taken[index]];
                const size_t seen = std::min(channel.size(), most_transfers);
                const double for_all =
                    static_cast<double>(channel.size()) / static_cast<double>(seen);
                size_t left = seen;
                for (auto turns = channel.begin(); left > 0; ++turns, --left) {
                    // A transfer that crosses more links before this one comes behind the first
                    // piece.
                    ahead[hop][index].add(turns->hop <= hop ? 0 : 1, turns->count, turns->arrival,
                                          for_all * turns->seconds);
                }
            }
        }
    }
    return std::max(0.0, end_of(load, std::move(ahead)) - end_of(load, std::move(idle)));
}

} // namespace pi::runtime
