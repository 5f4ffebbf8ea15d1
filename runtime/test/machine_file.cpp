// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace runtime_test {
namespace {

using Json = nlohmann::json;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Parses "22 GB/s", "1.5 us" or a number in the smallest unit.
double figure(const Json &json, const std::map<std::string, double> &units) {
    if (json.is_number()) {
        return json.get<double>();
    }
    std::istringstream text(json.get<std::string>());
    double value = 0;
    std::string unit;
    text >> value >> unit;
    return value * units.at(unit);
}

Figures figures_of(const Json &json) {
    Figures figures;
    if (json.contains("latency")) {
        figures.latency = figure(json["latency"], {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}}) * 1e-9;
    }
    if (json.contains("bandwidth")) {
        figures.seconds_a_byte =
            1 / figure(json["bandwidth"], {{"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}});
    }
    return figures;
}

int connection_of(const std::string &name) {
    return name == "unified" ? 2 : name == "migratable" ? 1 : 0;
}

} // namespace

MachineFile::MachineFile(const std::string &path, uint32_t contexts) : contexts_(contexts) {
    std::ifstream stream(path);
    const Json json = Json::parse(stream);
    host_ = figures_of(json.value("host", Json::object()));
    for (const Json &each : json.at("devices")) {
        Device device;
        device.name = each.at("name");
        device.memory = figures_of(each);
        device.other_context = connection_of(each.value("other_context", "unified"));
        const Json &scope = each.at("scopes").at(0);
        const Json flags = scope.value("flags", Json::array());
        const auto has = [&](const char *flag) {
            return std::find(flags.begin(), flags.end(), flag) != flags.end();
        };
        if (has("maps_in_place")) {
            device.map = has("coherent")                 ? Figures{}
                         : scope.contains("maintenance") ? figures_of(scope["maintenance"])
                                                         : host_;
        }
        devices_.push_back(std::move(device));
    }
    for (const Json &each : json.value("links", Json::array())) {
        add_links(each);
    }
}

void MachineFile::add_links(const Json &json) {
    Link link;
    link.connection = connection_of(json.value("connection", "unified"));
    if (json.contains("bandwidth")) {
        link.figures = figures_of(json);
    }
    if (!json.contains("between")) {
        links_[{json.at("from"), json.at("to")}] = link;
        return;
    }
    for (const Json &from : json["between"]) {
        for (const Json &to : json["between"]) {
            if (from != to) {
                links_[{from, to}] = link;
            }
        }
    }
}

std::string MachineFile::name(uint32_t place) const {
    return place == 0 ? "host" : device(place).name;
}

std::optional<MachineFile::Link> MachineFile::find(uint32_t from, uint32_t to) const {
    const auto found = links_.find({name(from), name(to)});
    return found == links_.end() ? std::nullopt : std::optional(found->second);
}

int MachineFile::connection(uint32_t from, uint32_t to) const {
    int connection = 2;
    if (name(from) != name(to)) {
        const auto link = find(from, to);
        connection = link ? link->connection : 0;
    }
    return context(from) == context(to) ? connection
                                        : std::min(connection, device(from).other_context);
}

bool MachineFile::unified(uint32_t from, uint32_t to) const {
    return from == to || (from != 0 && to != 0 && connection(from, to) == 2);
}

std::optional<Figures> MachineFile::link(uint32_t from, uint32_t to) const {
    if (from == to) {
        return std::nullopt;
    }
    const auto found = find(from, to);
    if (from == 0 || to == 0) {
        return found && found->figures ? *found->figures : host_;
    }
    if (connection(from, to) == 0) {
        return std::nullopt;
    }
    if (name(from) == name(to)) {
        return device(from).memory;
    }
    if (found->figures) {
        return found->figures;
    }
    const Figures up = *link(from, 0), down = *link(0, to);
    return Figures{up.latency + down.latency, up.seconds_a_byte + down.seconds_a_byte};
}

std::optional<Figures> MachineFile::map(uint32_t place) const {
    return place == 0 ? std::nullopt : device(place).map;
}

double MachineFile::pipeline(const std::vector<uint32_t> &places, uint64_t bytes,
                             uint64_t chunk) const {
    const uint64_t pieces = (bytes + chunk - 1) / chunk;
    const uint64_t piece = (bytes + pieces - 1) / pieces;
    double sum = 0, slowest = 0;
    for (size_t hop = 0; hop + 1 < places.size(); ++hop) {
        const double seconds = link(places[hop], places[hop + 1])->seconds(piece);
        sum += seconds;
        slowest = std::max(slowest, seconds);
    }
    return sum + static_cast<double>(pieces - 1) * slowest;
}

/// Tries every chain; prunes those that already cost more than the best one found.
struct MachineFile::Search {
    std::vector<std::vector<double>> seconds; // of one piece, by the two places
    double further;                           // number of pieces after the first
    uint32_t to;
    double best;
    std::vector<bool> seen;

    void go_on(uint32_t at, double sum, double slowest) {
        if (sum + further * slowest >= best) {
            return;
        }
        if (at == to) {
            best = sum + further * slowest;
            return;
        }
        seen[at] = true;
        for (uint32_t next = 0; next < seen.size(); ++next) {
            if (!seen[next] && seconds[at][next] < infinity) {
                go_on(next, sum + seconds[at][next], std::max(slowest, seconds[at][next]));
            }
        }
        seen[at] = false;
    }
};

double MachineFile::cheapest_chain(uint32_t from, uint32_t to, uint64_t bytes) const {
    Search search{{}, 0, to, infinity, std::vector<bool>(places())};
    for (uint64_t chunk = 64 << 10; chunk <= 16 << 20; chunk *= 2) {
        const uint64_t pieces = (bytes + chunk - 1) / chunk;
        const uint64_t piece = (bytes + pieces - 1) / pieces;
        search.further = static_cast<double>(pieces - 1);
        search.seconds.assign(places(), std::vector<double>(places(), infinity));
        for (uint32_t source = 0; source < places(); ++source) {
            for (uint32_t end = 0; end < places(); ++end) {
                if (const auto figures = link(source, end)) {
                    search.seconds[source][end] = figures->seconds(piece);
                }
            }
        }
        search.go_on(from, 0, 0);
    }
    return search.best;
}

double MachineFile::cheapest(uint32_t from, uint32_t to, uint64_t bytes) const {
    double best = cheapest_chain(from, to, bytes);
    if (const auto direct = link(from, to)) {
        best = std::min(best, direct->seconds(bytes));
    }
    if (const auto source = map(from); source && to != 0) {
        best = std::min(best, source->seconds(bytes) + link(0, to)->seconds(bytes));
    }
    if (const auto destination = map(to); destination && from != 0) {
        best = std::min(best, destination->seconds(bytes) + link(from, 0)->seconds(bytes));
    }
    return best;
}

} // namespace runtime_test
