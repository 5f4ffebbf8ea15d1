// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/export.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace pi::runtime {

/// The bytes [begin, end).
struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;

    uint64_t size() const noexcept { return end > begin ? end - begin : 0; }
    bool empty() const noexcept { return end <= begin; }
    bool contains(const Range &other) const noexcept {
        return other.empty() || (begin <= other.begin && other.end <= end);
    }
    bool overlaps(const Range &other) const noexcept {
        return begin < other.end && other.begin < end && !empty() && !other.empty();
    }
    friend bool operator==(const Range &, const Range &) = default;
};

/// "[16, 64)"
PI_RUNTIME_EXPORT std::string to_string(const Range &range);

/// A set of bytes, stored as ascending ranges that neither overlap nor touch, so that sets of the
/// same bytes compare equal. Every operation is linear in the number of ranges, or better. If
/// memory runs out, it throws std::bad_alloc and changes nothing. Not synchronised.
class PI_RUNTIME_EXPORT RangeSet {
public:
    RangeSet() = default;
    RangeSet(const Range &range) : one_(range.empty() ? Range{} : range) {}
    RangeSet(std::initializer_list<Range> ranges);

    void add(const Range &range);
    void remove(const Range &range);
    void add(const RangeSet &other);
    void remove(const RangeSet &other);
    void clear() noexcept { *this = {}; }

    bool empty() const noexcept { return one_.empty() && several_.empty(); }
    bool contains(const Range &range) const noexcept; ///< true for an empty range
    bool contains(const RangeSet &other) const noexcept;
    bool overlaps(const Range &range) const noexcept; ///< false for an empty range
    bool overlaps(const RangeSet &other) const noexcept;
    uint64_t bytes() const noexcept;
    /// From the first byte to the end of the last; [0, 0) for an empty set.
    Range hull() const noexcept;

    /// Valid until the set changes.
    std::span<const Range> ranges() const noexcept {
        return several_.empty() ? std::span(&one_, one_.empty() ? 0 : 1) : std::span(several_);
    }

    friend bool operator==(const RangeSet &, const RangeSet &) = default;

private:
    void reserve_for(const RangeSet &other);
    void append(const Range &range);
    void settle() noexcept;

    // Most sets are a single range, which needs no allocation.
    Range one_;                  // empty unless the set is one range
    std::vector<Range> several_; // empty, or at least two
};

PI_RUNTIME_EXPORT RangeSet intersect(const RangeSet &a, const RangeSet &b);
PI_RUNTIME_EXPORT RangeSet subtract(RangeSet a, const RangeSet &b);
/// The set extended to whole units of `bytes`, counted from byte 0; 1 leaves it unchanged.
PI_RUNTIME_EXPORT RangeSet whole_units(const RangeSet &set, uint64_t bytes);
/// "[0, 16) [32, 64)"; "nothing" for an empty set.
PI_RUNTIME_EXPORT std::string to_string(const RangeSet &set);

} // namespace pi::runtime
