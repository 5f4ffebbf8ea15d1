// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "session.hpp"

#include <array>
#include <cmath>
#include <exception>

namespace pi_bench {
namespace {

using namespace std::chrono_literals;

struct UnitRow {
    const char *name;
    double nanoseconds;
};
constexpr std::array units{UnitRow{"ns", 1}, UnitRow{"us", 1e3}, UnitRow{"ms", 1e6}};

} // namespace

Session::Session(const Options &options)
    : device_(options.device), costs_file_(options.costs), quick_(options.quick) {
    if (!options.filter.empty()) {
        filter_.emplace(options.filter);
    }
}

bool Session::wants(const std::string &name) const {
    return !filter_ || std::regex_search(name, *filter_);
}

Effort Session::effort() const {
    return quick_ ? Effort{100us, 15, 5, 200ms} : Effort{500us, 301, 21, 5s};
}

Effort Session::process_effort() const {
    return quick_ ? Effort{0ns, 3, 3, 10s} : Effort{0ns, 61, 15, 30s};
}

void Session::compare(const std::string &name, const std::string &limit_name, Unit unit,
                      const Batch &ours, const Batch &limit, const std::optional<Effort> &effort) {
    if (!wants(name)) {
        return;
    }
    show_progress(name);
    const Times times = interleave(ours, limit, effort.value_or(this->effort()));
    const UnitRow &row = units.at(static_cast<size_t>(unit));
    add({name, median(times.ours) / row.nanoseconds, median(times.limit) / row.nanoseconds,
         limit_name, median(ratios(times.ours, times.limit)), row.name});
}

void Session::compare_with(const std::string &name, const std::string &limit_name, Unit unit,
                           const Batch &ours, double limit) {
    if (!wants(name)) {
        return;
    }
    show_progress(name);
    const double time = median(interleave(ours, ours, effort()).ours);
    const double nanoseconds = units.at(static_cast<size_t>(unit)).nanoseconds;
    add({name, time / nanoseconds, limit / nanoseconds, limit_name, time / limit,
         units.at(static_cast<size_t>(unit)).name});
}

void Session::attempt(const std::string &name, const std::function<void()> &part) {
    try {
        part();
    } catch (const std::exception &error) {
        skip(name, error.what());
    }
}

void Session::skip(const std::string &name, const std::string &reason) {
    not_measured_.push_back({name, reason});
}

} // namespace pi_bench
