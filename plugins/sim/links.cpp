// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "links.hpp"

#include <cmath>

namespace pi::sim {

uint64_t duration_of(const Speed &speed, uint64_t bytes) {
    const double moving =
        speed.bandwidth ? static_cast<double>(bytes) * 1e9 / static_cast<double>(speed.bandwidth)
                        : 0;
    return whole_time(speed.latency + moving);
}

uint64_t Link::duration(uint64_t bytes) const {
    return duration_of(spec_.speed, bytes);
}

void Link::count(uint64_t bytes) {
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    transfers_.fetch_add(1, std::memory_order_relaxed);
    busy_.fetch_add(duration(bytes), std::memory_order_relaxed);
}

void Link::reset() {
    bytes_ = 0;
    transfers_ = 0;
    busy_ = 0;
}

Links::Links(const Machine &machine) : machine_(machine) {
    for (Site site = 0; site <= machine.devices.size(); ++site) {
        // The file's names do not begin with a line feed.
        memories_.push_back(channel(sdk::text("\nmemory ", site)));
        processors_.push_back(channel(sdk::text("\nprocessors ", site)));
    }
    for (const LinkSpec &spec : machine.links)
        add(spec);
    for (size_t device = 0; device < machine.devices.size(); ++device) {
        const Site site = site_of(device);
        for (const auto &[from, to] : {std::pair(host_site, site), std::pair(site, host_site)}) {
            if (find(from, to))
                continue;
            LinkSpec spec;
            spec.from = from;
            spec.to = to;
            spec.speed = machine.host_memory;
            spec.kind =
                machine.devices[device].integrated ? PI_LINK_SYSTEM_MEMORY : PI_LINK_UNKNOWN;
            spec.channels = {sdk::text("\nlink ", from, ' ', to)};
            add(spec);
        }
    }
}

Channel *Links::channel(const std::string &name) {
    return &channels_.try_emplace(name, channels_.size() + 1).first->second;
}

void Links::add(const LinkSpec &spec) {
    std::vector<Channel *> channels;
    channels.reserve(spec.channels.size());
    for (const std::string &name : spec.channels)
        channels.push_back(channel(name));
    Link &link = links_.emplace_back(spec, std::move(channels));
    by_ends_[{spec.from, spec.to}] = &link;
}

Link *Links::find(Site from, Site to) const {
    const auto found = by_ends_.find({from, to});
    return found == by_ends_.end() ? nullptr : found->second;
}

const Speed &Links::speed_within(Site site) const {
    return site == host_site ? machine_.host_memory : machine_.devices[site - 1].memory;
}

/// The links that a transfer between two sites crosses at once.
std::vector<Link *> Links::way(Site from, Site to) const {
    Link *const direct = find(from, to);
    const bool known =
        direct && (from == host_site || to == host_site || direct->spec().speed.bandwidth);
    if (known)
        return {direct};
    return {find(from, host_site), find(host_site, to)};
}

bool Links::loses_pages(Site from, Site to, LossyCommands commands) const {
    const Link *link = from == to ? nullptr : find(from, to);
    return link && link->spec().loses_pages & commands;
}

/// Links with the host lose no pages.
bool Links::copy_loses_pages(Site from, Site by, Site to) const {
    const bool between_devices = from != host_site && to != host_site && from != to;
    return between_devices
               ? loses_pages(from, to, LOSSY_COPIES)
               : loses_pages(from, by, LOSSY_COPIES) || loses_pages(by, to, LOSSY_COPIES);
}

bool Links::kernel_loses_pages(Site owner, Site by) const {
    return loses_pages(owner, by, LOSSY_KERNELS);
}

Transfer Links::transfer(Site from, Site to, uint64_t bytes) const {
    Transfer transfer;
    transfer.bytes = bytes;
    if (from == to) {
        transfer.task.duration = duration_of(speed_within(from), bytes);
        transfer.task.channels = {memories_[from]};
        return transfer;
    }
    transfer.links = way(from, to);
    for (const Link *link : transfer.links) {
        transfer.task.duration = later(transfer.task.duration, link->duration(bytes));
        transfer.task.channels.insert(transfer.task.channels.end(), link->channels().begin(),
                                      link->channels().end());
    }
    return transfer;
}

Speed Links::speed(Site from, Site to) const {
    std::vector<Speed> parts;
    if (from == to)
        parts.push_back(speed_within(from));
    else
        for (const Link *link : way(from, to))
            parts.push_back(link->spec().speed);
    Speed sum;
    double seconds_a_byte = 0;
    for (const Speed &part : parts) {
        sum.latency += part.latency;
        seconds_a_byte += part.bandwidth ? 1 / static_cast<double>(part.bandwidth) : 0;
    }
    sum.bandwidth =
        seconds_a_byte > 0 ? static_cast<uint64_t>(std::round(1 / seconds_a_byte)) : UINT64_MAX;
    return sum;
}

std::vector<uint64_t> Links::channels(Site from, Site to) const {
    std::vector<uint64_t> numbers;
    for (const Channel *channel : transfer(from, to, 0).task.channels)
        numbers.push_back(channel->number());
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

} // namespace pi::sim
