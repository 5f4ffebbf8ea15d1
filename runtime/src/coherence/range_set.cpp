// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/runtime/range_set.hpp>

#include <algorithm>

namespace pi::runtime {
namespace {

/// The first range that ends behind `position`: the first that can contain or follow it.
std::span<const Range>::iterator first_ending_after(std::span<const Range> ranges,
                                                    uint64_t position) {
    return std::upper_bound(ranges.begin(), ranges.end(), position,
                            [](uint64_t value, const Range &range) { return value < range.end; });
}

bool before(const Range &a, const Range &b) {
    return a.begin < b.begin;
}

/// So few ranges are added or removed one by one, in the set's own memory; more are merged into a
/// new set.
constexpr size_t few = 4;

} // namespace

std::string to_string(const Range &range) {
    std::string text = "[";
    text += std::to_string(range.begin);
    text += ", ";
    text += std::to_string(range.end);
    text += ")";
    return text;
}

RangeSet::RangeSet(std::initializer_list<Range> ranges) {
    for (const Range &range : ranges) {
        add(range);
    }
}

/// Puts a single range where it belongs.
void RangeSet::settle() noexcept {
    if (several_.size() == 1) {
        one_ = several_.front();
        several_.clear();
    }
}

/// Reserves memory to add or remove the ranges of another set one by one, so that no step fails
/// half-way.
void RangeSet::reserve_for(const RangeSet &other) {
    if (other.ranges().size() > 1) {
        several_.reserve(ranges().size() + other.ranges().size() + 1);
    }
}

/// Adds a range that does not begin before the last one.
void RangeSet::append(const Range &range) {
    if (several_.empty() || range.empty()) {
        add(range);
    } else if (range.begin <= several_.back().end) {
        several_.back().end = std::max(several_.back().end, range.end);
    } else {
        several_.push_back(range);
    }
}

void RangeSet::add(const Range &range) {
    if (range.empty()) {
        return;
    }
    if (several_.empty()) {
        if (one_.empty()) {
            one_ = range;
        } else if (range.begin <= one_.end && one_.begin <= range.end) {
            one_ = {std::min(one_.begin, range.begin), std::max(one_.end, range.end)};
        } else {
            several_ = {std::min(one_, range, before), std::max(one_, range, before)};
            one_ = {};
        }
        return;
    }
    // Ranges that touch are merged too: from the first that ends at or behind our begin, to the
    // first that begins behind our end.
    auto first =
        std::lower_bound(several_.begin(), several_.end(), range.begin,
                         [](const Range &element, uint64_t value) { return element.end < value; });
    auto last = std::upper_bound(
        first, several_.end(), range.end,
        [](uint64_t value, const Range &element) { return value < element.begin; });
    if (first == last) {
        several_.insert(first, range);
        return;
    }
    first->begin = std::min(first->begin, range.begin);
    first->end = std::max((last - 1)->end, range.end);
    several_.erase(first + 1, last);
    settle();
}

void RangeSet::remove(const Range &range) {
    if (!overlaps(range)) {
        return;
    }
    if (several_.empty()) {
        const Range left{one_.begin, range.begin};
        const Range right{range.end, one_.end};
        if (!left.empty() && !right.empty()) {
            several_ = {left, right};
            one_ = {};
        } else {
            one_ = !left.empty() ? left : !right.empty() ? right : Range{};
        }
        return;
    }
    auto first = several_.begin() + (first_ending_after(several_, range.begin) - ranges().begin());
    auto last = first;
    Range left;
    Range right;
    for (; last != several_.end() && last->begin < range.end; ++last) {
        if (last->begin < range.begin) {
            left = {last->begin, range.begin};
        }
        if (last->end > range.end) {
            right = {range.end, last->end};
        }
    }
    if (last - first == 1 && !left.empty() && !right.empty()) {
        first = several_.insert(first, left); // the only step that needs memory
        (first + 1)->begin = range.end;
        return;
    }
    auto position = several_.erase(first, last);
    if (!right.empty()) {
        position = several_.insert(position, right);
    }
    if (!left.empty()) {
        several_.insert(position, left);
    }
    settle();
}

void RangeSet::add(const RangeSet &other) {
    if (&other == this) {
        return;
    }
    if (other.ranges().size() <= few) {
        reserve_for(other);
        for (const Range &range : other.ranges()) {
            add(range);
        }
        return;
    }
    RangeSet both;
    both.several_.reserve(ranges().size() + other.ranges().size());
    for (std::span mine = ranges(), theirs = other.ranges(); !mine.empty() || !theirs.empty();) {
        const bool is_mine =
            theirs.empty() || (!mine.empty() && before(mine.front(), theirs.front()));
        std::span<const Range> &next = is_mine ? mine : theirs;
        both.append(next.front());
        next = next.subspan(1);
    }
    *this = std::move(both);
}

void RangeSet::remove(const RangeSet &other) {
    if (&other == this) {
        clear();
        return;
    }
    if (other.ranges().size() <= few) {
        reserve_for(other);
        for (const Range &range : other.ranges()) {
            remove(range);
        }
        return;
    }
    RangeSet rest;
    auto gone = other.ranges().begin();
    const auto end = other.ranges().end();
    for (Range left : ranges()) {
        while (gone != end && gone->end <= left.begin) {
            ++gone;
        }
        for (auto each = gone; each != end && each->begin < left.end; ++each) {
            rest.append({left.begin, each->begin});
            left.begin = each->end;
        }
        rest.append(left);
    }
    *this = std::move(rest);
}

bool RangeSet::contains(const Range &range) const noexcept {
    if (several_.empty() || range.empty()) {
        return one_.contains(range);
    }
    const auto ranges = this->ranges();
    const auto found = first_ending_after(ranges, range.begin);
    return found != ranges.end() && found->contains(range);
}

bool RangeSet::contains(const RangeSet &other) const noexcept {
    return std::all_of(other.ranges().begin(), other.ranges().end(),
                       [this](const Range &range) { return contains(range); });
}

bool RangeSet::overlaps(const Range &range) const noexcept {
    if (several_.empty() || range.empty()) {
        return one_.overlaps(range);
    }
    const auto ranges = this->ranges();
    const auto found = first_ending_after(ranges, range.begin);
    return found != ranges.end() && found->begin < range.end;
}

bool RangeSet::overlaps(const RangeSet &other) const noexcept {
    return std::any_of(other.ranges().begin(), other.ranges().end(),
                       [this](const Range &range) { return overlaps(range); });
}

uint64_t RangeSet::bytes() const noexcept {
    uint64_t sum = 0;
    for (const Range &range : ranges()) {
        sum += range.size();
    }
    return sum;
}

Range RangeSet::hull() const noexcept {
    return empty() ? Range{} : Range{ranges().front().begin, ranges().back().end};
}

RangeSet intersect(const RangeSet &a, const RangeSet &b) {
    RangeSet result;
    auto left = a.ranges().begin();
    auto right = b.ranges().begin();
    while (left != a.ranges().end() && right != b.ranges().end()) {
        result.add(Range{std::max(left->begin, right->begin), std::min(left->end, right->end)});
        if (left->end < right->end) {
            ++left;
        } else {
            ++right;
        }
    }
    return result;
}

RangeSet subtract(RangeSet a, const RangeSet &b) {
    a.remove(b);
    return a;
}

RangeSet whole_units(const RangeSet &set, uint64_t bytes) {
    RangeSet result;
    for (const Range &range : set.ranges()) {
        result.add(Range{range.begin / bytes * bytes, (range.end + bytes - 1) / bytes * bytes});
    }
    return result;
}

std::string to_string(const RangeSet &set) {
    if (set.empty()) {
        return "nothing";
    }
    std::string text;
    for (const Range &range : set.ranges()) {
        if (!text.empty()) {
            text += " ";
        }
        text += to_string(range);
    }
    return text;
}

} // namespace pi::runtime
