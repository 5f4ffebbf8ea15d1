// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace pi::loader {
namespace {

constexpr std::size_t page = 4096;

// Multiples of two odd numbers: distinct for all indices of the few rounds of a verification.
uint64_t word_of(uint64_t round, uint64_t index) noexcept {
    const uint64_t word =
        round * UINT64_C(0xbf58476d1ce4e5b9) + index * UINT64_C(0x9e3779b97f4a7c15);
    return word ^ (word >> 32);
}

bool equal(ConstBytes a, ConstBytes b) noexcept {
    return std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// Which pages are stale, if every page is either stale as a whole or correct; the first page ends
// `first` bytes after the begin.
std::optional<std::vector<bool>> stale_pages(ConstBytes expected, ConstBytes actual, ConstBytes old,
                                             std::size_t first) {
    std::vector<bool> stale;
    for (std::size_t begin = 0; begin < actual.size();) {
        const std::size_t size = std::min(begin == 0 ? first : page, actual.size() - begin);
        const ConstBytes here = actual.subspan(begin, size);
        stale.push_back(!equal(here, expected.subspan(begin, size)));
        if (stale.back() && !equal(here, old.subspan(begin, size)))
            return std::nullopt;
        begin += size;
    }
    return stale;
}

std::string ordinal(std::size_t number) {
    constexpr const char *words[] = {"second", "third", "fourth"};
    return number <= 4 ? words[number - 2] : fmt::format("{}th", number);
}

std::string describe_pages(const std::vector<bool> &stale) {
    std::vector<std::size_t> pages;
    for (std::size_t i = 0; i < stale.size(); ++i) {
        if (stale[i])
            pages.push_back(i);
    }
    if (pages.size() == stale.size())
        return "all bytes are stale";
    const std::size_t step = pages.size() > 1 ? pages[1] - pages[0] : 0;
    bool regular = step > 0;
    for (std::size_t i = 1; regular && i < pages.size(); ++i)
        regular = pages[i] - pages[i - 1] == step;
    if (regular && step > 1 && pages.size() > 2 && pages.front() < step &&
        pages.back() + step >= stale.size())
        return fmt::format("every {} page is stale", ordinal(step));
    if (step == 1 && regular && pages.back() + 1 == stale.size())
        return fmt::format("the last {} pages are stale", pages.size());
    if (step == 1 && regular && pages.front() == 0)
        return fmt::format("the first {} pages are stale", pages.size());
    return fmt::format("{} of {} pages are stale, the first is page {}", pages.size(), stale.size(),
                       pages.front());
}

} // namespace

void fill_pattern(Bytes bytes, uint64_t round, uint64_t offset) noexcept {
    constexpr std::size_t width = sizeof(uint64_t);
    const auto part = [&](std::size_t at, std::size_t size) {
        const uint64_t word = word_of(round, (offset + at) / width);
        std::memcpy(bytes.data() + at,
                    reinterpret_cast<const unsigned char *>(&word) + (offset + at) % width, size);
    };
    std::size_t at = std::min<std::size_t>((width - offset % width) % width, bytes.size());
    if (at != 0)
        part(0, at);
    for (uint64_t index = (offset + at) / width; bytes.size() - at >= width; ++index) {
        const uint64_t word = word_of(round, index);
        std::memcpy(bytes.data() + at, &word, width);
        at += width;
    }
    if (at != bytes.size())
        part(at, bytes.size() - at);
}

std::string describe_difference(ConstBytes expected, ConstBytes actual, ConstBytes old,
                                uint64_t offset) {
    if (equal(expected, actual))
        return "";
    for (const std::size_t first : {page - static_cast<std::size_t>(offset % page), page}) {
        if (const auto stale = stale_pages(expected, actual, old, first))
            return describe_pages(*stale);
    }
    std::size_t wrong = 0, stale = 0, first = actual.size();
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (actual[i] == expected[i])
            continue;
        first = std::min(first, i);
        ++wrong;
        stale += actual[i] == old[i] ? 1U : 0U;
    }
    if (stale == wrong)
        return fmt::format("{} bytes are stale, the first is byte {}", wrong, first);
    const auto sample = actual.subspan(first, std::min<std::size_t>(16, actual.size() - first));
    const auto found = std::search(expected.begin(), expected.end(), sample.begin(), sample.end());
    if (sample.size() == 16 && found != expected.end())
        return fmt::format("{} bytes are wrong: byte {} on has the bytes of byte {} on", wrong,
                           first, found - expected.begin());
    return fmt::format("{} bytes are wrong, the first is byte {}", wrong, first);
}

std::string size_text(uint64_t size) {
    if (size != 0 && size % (1 << 20) == 0)
        return fmt::format("{} MiB", size >> 20);
    if (size != 0 && size % 1024 == 0)
        return fmt::format("{} KiB", size >> 10);
    return fmt::format("{} bytes", size);
}

} // namespace pi::loader
