// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/runtime/range_set.hpp>

#include <algorithm>

namespace pi::runtime {
namespace {

/// The first range that ends behind `position`: the first that can contain or follow it.
auto first_ending_after(const std::vector<Range> &ranges, uint64_t position) {
    return std::upper_bound(ranges.begin(), ranges.end(), position,
                            [](uint64_t value, const Range &range) { return value < range.end; });
}

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

void RangeSet::add(const Range &range) {
    if (range.empty()) {
        return;
    }
    // Ranges that touch are merged too: from the first that ends at or behind our begin, to the first
    // that begins behind our end.
    auto first =
        std::lower_bound(ranges_.begin(), ranges_.end(), range.begin,
                         [](const Range &element, uint64_t value) { return element.end < value; });
    auto last =
        std::upper_bound(first, ranges_.end(), range.end, [](uint64_t value, const Range &element) {
            return value < element.begin;
        });
    if (first == last) {
        ranges_.insert(first, range);
        return;
    }
    first->begin = std::min(first->begin, range.begin);
    first->end = std::max((last - 1)->end, range.end);
    ranges_.erase(first + 1, last);
}

void RangeSet::remove(const Range &range) {
    if (range.empty()) {
        return;
    }
    auto first = ranges_.begin() + (first_ending_after(ranges_, range.begin) - ranges_.cbegin());
    auto last = first;
    Range left;
    Range right;
    for (; last != ranges_.end() && last->begin < range.end; ++last) {
        if (last->begin < range.begin) {
            left = {last->begin, range.begin};
        }
        if (last->end > range.end) {
            right = {range.end, last->end};
        }
    }
    auto position = ranges_.erase(first, last);
    if (!right.empty()) {
        position = ranges_.insert(position, right);
    }
    if (!left.empty()) {
        ranges_.insert(position, left);
    }
}

void RangeSet::add(const RangeSet &other) {
    if (&other == this) {
        return;
    }
    for (const Range &range : other.ranges_) {
        add(range);
    }
}

void RangeSet::remove(const RangeSet &other) {
    if (&other == this) {
        clear();
        return;
    }
    for (const Range &range : other.ranges_) {
        remove(range);
    }
}

bool RangeSet::contains(const Range &range) const noexcept {
    if (range.empty()) {
        return true;
    }
    auto found = first_ending_after(ranges_, range.begin);
    return found != ranges_.end() && found->contains(range);
}

bool RangeSet::contains(const RangeSet &other) const noexcept {
    return std::all_of(other.ranges_.begin(), other.ranges_.end(),
                       [this](const Range &range) { return contains(range); });
}

bool RangeSet::overlaps(const Range &range) const noexcept {
    if (range.empty()) {
        return false;
    }
    auto found = first_ending_after(ranges_, range.begin);
    return found != ranges_.end() && found->begin < range.end;
}

bool RangeSet::overlaps(const RangeSet &other) const noexcept {
    return std::any_of(other.ranges_.begin(), other.ranges_.end(),
                       [this](const Range &range) { return overlaps(range); });
}

uint64_t RangeSet::bytes() const noexcept {
    uint64_t sum = 0;
    for (const Range &range : ranges_) {
        sum += range.size();
    }
    return sum;
}

Range RangeSet::hull() const noexcept {
    return ranges_.empty() ? Range{} : Range{ranges_.front().begin, ranges_.back().end};
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
