// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns that two places write, move and compare; and their sizes.
#pragma once

#include "verification_memory.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace pi::loader {

// Host memory that a deep verification needs at a time.
inline constexpr uint64_t piece_size = 4 << 20;
inline constexpr uint64_t largest_sample = 256 << 10;
inline constexpr uint64_t smallest_deep_size = 1 << 20;

/// Sections of one source and destination, and the size that both need.
struct Layout {
    std::vector<Section> sections;
    uint64_t size = 0;

    /// Appends a section: `shift` bytes off a page's begin at either end.
    void add(uint64_t bytes, uint64_t src_shift, uint64_t dst_shift);
};

/// The sizes around which drivers change their way of copying, on and off page boundaries.
Layout sampled(uint64_t largest);
Layout whole(uint64_t size);

/// Samples that copy at most `largest_copy` at once, for a deep verification after whole memories:
/// largest first.
std::vector<Layout> layouts(bool deep, uint64_t largest_copy);

/// Calls run(layout) with the first one, and with the next if memory is short.
template <typename Run>
std::string with_room(const std::vector<Layout> &layouts, Run &&run) {
    for (std::size_t i = 0;; ++i) {
        try {
            return run(layouts[i]);
        } catch (const NoRoom &) {
            if (i + 1 == layouts.size())
                throw;
        }
    }
}

/// The memory operations of a verification, and comparisons of their results.
class Check {
public:
    Check(const pi_dispatch &plugin_table, const VerificationRequest &what, Layout how);

    /// The kind of memory that dst allocates for itself.
    pi_memory_kind own_kind() const noexcept {
        return request.how.kind != PI_MEMORY_KIND_IMPORTED ? request.how.kind
                                                           : pi_memory_kind{PI_MEMORY_KIND_BUFFER};
    }

    void fill(const End &by, Memory &memory);
    void copy(const End &by, const Memory &from, Memory &to);
    /// "" if the memory holds what it should, as read at one end.
    std::string compare(const End &by, const Memory &memory, std::string_view what);

    /// The round that is written into all of this memory next.
    uint64_t next_round(Memory &memory);
    /// The previous contents of these bytes.
    void render_before(const Memory &memory, uint64_t begin, Bytes out) const;
    std::string difference(ConstBytes actual, uint64_t begin, const Memory &memory,
                           std::string_view what);

    const pi_dispatch &plugin;
    const VerificationRequest &request;
    const Layout layout;
    const End src;
    const End dst;

private:
    template <typename Body>
    void for_pieces(Body &&body) {
        for (uint64_t begin = 0; begin < layout.size; begin += piece_size) {
            piece_.resize(std::min(piece_size, layout.size - begin));
            body(begin);
        }
    }
    // Calls body(section, its begin in the piece, its bytes there).
    template <typename Body>
    void for_sections(uint64_t begin, std::size_t size, Body &&body) const;
    void render(const Contents &contents, uint64_t begin, Bytes out) const;

    uint64_t round_ = 0;
    std::vector<unsigned char> piece_;
    std::vector<unsigned char> expected_;
    std::vector<unsigned char> old_;
};

} // namespace pi::loader
