// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "case_text.hpp"

#include "statement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace random_programs {
namespace {

template <typename Kind>
std::string names_of(uint32_t mask, uint32_t count) {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < count; ++i) {
        std::string word = to_string(static_cast<Kind>(i));
        std::replace(word.begin(), word.end(), ' ', '_');
        if ((mask >> i & 1) != 0 && !word.empty()) {
            names.push_back(word);
        }
    }
    return fmt::format("{}", fmt::join(names, ","));
}

std::string name_of(PlaceIndex place) {
    return place == host_place ? "host" : fmt::format("p{}", place);
}

/// The bytes of a storage; empty: never written.
using Bytes = std::vector<std::optional<uint8_t>>;

/// Empty if one of them was never written.
std::vector<uint8_t> seen_bytes(const Bytes &bytes, const Range &range) {
    std::vector<uint8_t> seen;
    for (uint64_t byte = range.begin; byte < range.end; ++byte) {
        if (!bytes[byte]) {
            return {};
        }
        seen.push_back(*bytes[byte]);
    }
    return seen;
}

} // namespace

void CaseText::add(const Area &area) {
    storages_[&area] = ++count_;
    steps_.push_back({.kind = Kind::add,
                      .storage = count_,
                      .range = area.range,
                      .routes = area.routes,
                      .styles = area.styles,
                      .host_memory = area.host_memory != nullptr});
}

void CaseText::remove(const Area &area) {
    steps_.push_back({.kind = Kind::remove, .storage = storage(area)});
}

void CaseText::use(const Area &area, PlaceIndex place, const Range &range, Access access,
                   uint64_t fresh, std::size_t step) {
    steps_.push_back({Kind::use, storage(area), {place}, range, access, fresh, step});
}

void CaseText::abandon(const Area &area, PlaceIndex place, const Range &range, Access access) {
    steps_.push_back({Kind::abandon, storage(area), {place}, range, access});
}

void CaseText::prefetch(const Area &area, PlaceIndex place, const Range &range) {
    steps_.push_back({Kind::prefetch, storage(area), {place}, range});
}

void CaseText::broadcast(const Area &area, const std::vector<PlaceIndex> &places,
                         const Range &range) {
    steps_.push_back({Kind::broadcast, storage(area), places, range});
}

std::string CaseText::head() const {
    std::string text = "machine " + setting_.file.text() + "\n";
    std::map<std::string, int> counts;
    for (PlaceIndex index = 1; index < setting_.file.places(); ++index) {
        const std::string plugin = setting_.file.simulated(index) ? "sim" : "host";
        text += fmt::format("place {} {}:0:{}\n", name_of(index), plugin, counts[plugin]++);
    }
    return text + fmt::format("runtime bounce_limit={} staging_limit={}{}\n",
                              setting_.limits.bounce, setting_.limits.staging,
                              setting_.trouble == Trouble::none ? " copy_after_repeated_use=false"
                                                                : " pool_limit=0");
}

std::string CaseText::text() const {
    if (!setting_.file.is_known() || setting_.file.contexts() != 1 || !setting_.may_hold ||
        has_faults(setting_.trouble)) {
        return "";
    }
    std::string text = head();
    std::map<std::size_t, Bytes> contents;
    for (const Step &step : steps_) {
        Bytes &bytes = contents[step.storage];
        std::vector<std::string> places;
        for (const PlaceIndex place : step.places) {
            places.push_back(name_of(place));
        }
        const std::string at = fmt::format(" s{} at {}", step.storage, fmt::join(places, ","));
        const std::string range =
            fmt::format(" offset={} size={}\n", step.range.begin, step.range.size());
        switch (step.kind) {
        case Kind::add: {
            bytes.assign(step.range.size(), std::nullopt);
            const std::vector<uint8_t> first = fresh_bytes(step.range.size(), 0);
            if (step.host_memory) {
                std::copy(first.begin(), first.end(), bytes.begin());
            }
            text += fmt::format("s{} = storage {} routes={} styles={}\n", step.storage,
                                step.host_memory ? pi_run::text_of_bytes(first)
                                                 : fmt::format("size={}", step.range.size()),
                                names_of<RouteKind>(step.routes, route_kind_count),
                                names_of<BounceStyle>(step.styles, bounce_style_count));
            break;
        }
        case Kind::remove:
            text += fmt::format("release s{}\n", step.storage);
            break;
        case Kind::abandon:
            text += fmt::format("acquire{} {} abandoned=true{}", at, to_string(step.access), range);
            break;
        case Kind::prefetch:
            text += "prefetch" + at + range;
            break;
        case Kind::broadcast:
            text += "broadcast" + at + range;
            break;
        case Kind::use: {
            const std::vector<uint8_t> fresh = fresh_bytes(step.fresh, step.number);
            const std::vector<uint8_t> seen =
                is_fetching(step.access) ? seen_bytes(bytes, step.range) : std::vector<uint8_t>();
            const uint64_t from = step.range.end - step.fresh;
            text += fmt::format("acquire{} {}", at, to_string(step.access));
            if (is_writing(step.access)) {
                text += fmt::format(" {} from={}", pi_run::text_of_bytes(fresh), from);
            }
            if (!seen.empty()) {
                text += (is_writing(step.access) ? " reads=" : " ") + pi_run::text_of_bytes(seen);
            }
            text += range;
            std::copy(fresh.begin(), fresh.end(), bytes.begin() + static_cast<ptrdiff_t>(from));
            break;
        }
        }
    }
    return text;
}

} // namespace random_programs
