// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "verification_check.hpp"

#include "error.hpp"

#include <bit>
#include <cstring>

namespace pi::loader {
namespace {

constexpr uint64_t deep_size = 256 << 20;

} // namespace

void Layout::add(uint64_t bytes, uint64_t src_shift, uint64_t dst_shift) {
    const uint64_t begin = (size + 4095) / 4096 * 4096;
    sections.push_back({begin + src_shift, begin + dst_shift, bytes});
    size = begin + std::max(src_shift, dst_shift) + bytes;
}

Layout sampled(uint64_t largest) {
    constexpr struct {
        uint64_t size, src_shift, dst_shift;
    } rows[] = {{4095, 0, 1},  {4096, 0, 0},  {4097, 5, 2},          {65535, 3, 1},
                {65536, 0, 0}, {65537, 7, 9}, {largest_sample, 0, 0}};
    Layout layout;
    for (const auto &row : rows) {
        if (row.size <= largest)
            layout.add(row.size, row.src_shift, row.dst_shift);
    }
    layout.size = std::bit_ceil(layout.size);
    return layout;
}

Layout whole(uint64_t size) {
    Layout layout;
    layout.add(size, 0, 0);
    return layout;
}

std::vector<Layout> layouts(bool deep, uint64_t largest_copy) {
    std::vector<Layout> all;
    for (uint64_t size = deep_size; deep && size >= smallest_deep_size; size /= 2)
        all.push_back(whole(size));
    for (const uint64_t largest : {largest_sample, uint64_t{65537}, uint64_t{4097}}) {
        if (largest <= largest_copy)
            all.push_back(sampled(largest));
    }
    return all;
}

Check::Check(const pi_dispatch &plugin_table, const VerificationRequest &what, Layout how)
    : plugin(plugin_table), request(what), layout(std::move(how)), src(plugin, "src", what.src),
      dst(plugin, "dst", what.dst) {}

uint64_t Check::next_round(Memory &memory) {
    memory.hold({++round_, 0});
    return round_;
}

void Check::fill(const End &by, Memory &memory) {
    const uint64_t round = next_round(memory);
    for_pieces([&](uint64_t begin) {
        fill_pattern(piece_, round, begin);
        by.lane.write(memory, begin, piece_);
    });
}

void Check::copy(const End &by, const Memory &from, Memory &to) {
    std::vector<Pending> pending;
    pending.reserve(layout.sections.size());
    for (const Section &section : layout.sections)
        pending.push_back(by.lane.copy(from, to, section));
    for (const Pending &event : pending)
        event.wait();
    to.hold({to.now.round, from.now.round});
}

std::string Check::compare(const End &by, const Memory &memory, std::string_view what) {
    std::string seen;
    for_pieces([&](uint64_t begin) {
        if (!seen.empty())
            return;
        // Bytes that a read omits must not be right by chance.
        render_before(memory, begin, piece_);
        by.lane.read(memory, begin, piece_);
        seen = difference(piece_, begin, memory, what);
    });
    return seen;
}

template <typename Body>
void Check::for_sections(uint64_t begin, std::size_t size, Body &&body) const {
    for (const Section &section : layout.sections) {
        const uint64_t first = std::max(begin, section.dst_offset);
        const uint64_t last = std::min(begin + size, section.dst_offset + section.size);
        if (first < last)
            body(section, first - begin, last - first);
    }
}

void Check::render(const Contents &contents, uint64_t begin, Bytes out) const {
    fill_pattern(out, contents.round, begin);
    if (contents.copied_round == 0)
        return;
    for_sections(begin, out.size(), [&](const Section &section, uint64_t at, uint64_t size) {
        fill_pattern(out.subspan(at, size), contents.copied_round,
                     section.src_offset + (begin + at - section.dst_offset));
    });
}

void Check::render_before(const Memory &memory, uint64_t begin, Bytes out) const {
    render(memory.before, begin, out);
}

std::string Check::difference(ConstBytes actual, uint64_t begin, const Memory &memory,
                              std::string_view what) {
    expected_.resize(actual.size());
    render(memory.now, begin, expected_);
    if (std::memcmp(actual.data(), expected_.data(), actual.size()) == 0)
        return "";
    old_.resize(actual.size());
    render(memory.before, begin, old_);
    std::string seen;
    const auto describe = [&](uint64_t at, uint64_t size) {
        const std::string text =
            describe_difference(ConstBytes(expected_).subspan(at, size), actual.subspan(at, size),
                                ConstBytes(old_).subspan(at, size), memory.base + begin + at);
        if (!text.empty())
            seen = fmt::format("of {} {}: {}", size_text(size), text, what);
    };
    // The largest size says most, and is the last.
    if (memory.now.copied_round != 0)
        for_sections(begin, actual.size(),
                     [&](const Section &, uint64_t at, uint64_t size) { describe(at, size); });
    if (seen.empty())
        describe(0, actual.size());
    return seen;
}

} // namespace pi::loader
