// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frame.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace tensor_io {
namespace {

template <class T>
std::string difference(const char *name, const std::vector<T> &got,
                       const std::vector<T> &expected) {
    if (got.size() != expected.size()) {
        return std::string(name) + " has " + std::to_string(got.size()) + " elements, expected " +
               std::to_string(expected.size());
    }
    const auto [a, b] = std::mismatch(got.begin(), got.end(), expected.begin());
    return a == got.end() ? ""
                          : std::string(name) + "[" + std::to_string(a - got.begin()) + "] is " +
                                std::to_string(*a) + ", expected " + std::to_string(*b);
}

} // namespace

void take_picture(const Shape &shape, uint32_t frame, uint8_t *out_pixels) {
    uint32_t noise = 2463534242U + frame;
    for (int y = 0; y < shape.height; ++y) {
        for (int x = 0; x < shape.width; ++x) {
            noise ^= noise << 13;
            noise ^= noise >> 17;
            noise ^= noise << 5;
            const auto moved = static_cast<uint32_t>(x) + 5 * frame;
            const uint32_t stripe = (moved / 16 + static_cast<uint32_t>(y) / 24) % 3;
            *out_pixels++ = static_cast<uint8_t>(40 + 70 * stripe + noise % 32);
        }
    }
}

Results reference(const Shape &shape, std::span<const uint8_t> pixels) {
    // The filters in sixteenths. A common factor does not change which response is the largest.
    using Filter = std::array<std::array<int, 3>, 3>;
    constexpr std::array<Filter, filter_count> filters{{
        {{{-4, 0, 4}, {-8, 0, 8}, {-4, 0, 4}}},
        {{{-4, -8, -4}, {0, 0, 0}, {4, 8, 4}}},
        {{{-2, -2, -2}, {-2, 16, -2}, {-2, -2, -2}}},
        {{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}}},
    }};
    const int width = shape.width;
    const int height = shape.height;
    if (pixels.size() != shape.pixels()) {
        throw std::invalid_argument("reference: " + std::to_string(pixels.size()) + " pixels of " +
                                    std::to_string(shape.pixels()));
    }
    Results results;
    results.labels.reserve(pixels.size());
    results.histogram.resize(label_count);
    for (int y = 0; y < height; ++y) {
        const std::array<int, 3> rows{std::max(y - 1, 0), y, std::min(y + 1, height - 1)};
        for (int x = 0; x < width; ++x) {
            const std::array<int, 3> columns{std::max(x - 1, 0), x, std::min(x + 1, width - 1)};
            int most = 0;
            uint8_t label = 0;
            for (size_t filter = 0; filter < filters.size(); ++filter) {
                int sum = 0;
                for (size_t i = 0; i < 9; ++i) {
                    const auto at = static_cast<size_t>(rows[i / 3]) * static_cast<size_t>(width) +
                                    static_cast<size_t>(columns[i % 3]);
                    sum += filters[filter][i / 3][i % 3] * (pixels[at] - 128);
                }
                if (sum > most) {
                    most = sum;
                    label = static_cast<uint8_t>(filter + 1);
                }
            }
            results.labels.push_back(label);
            ++results.histogram[label];
        }
    }
    return results;
}

std::string first_difference(const Results &got, const Results &expected) {
    std::string text = difference("labels", got.labels, expected.labels);
    return text.empty() ? difference("histogram", got.histogram, expected.histogram) : text;
}

} // namespace tensor_io
