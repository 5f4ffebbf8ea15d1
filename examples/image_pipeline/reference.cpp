// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference.hpp"

#include <algorithm>
#include <cmath>

namespace image_pipeline {
namespace {

/// The floor of a square root: exact, as all values are far below 1 << 53.
int root(uint32_t value) {
    return static_cast<int>(std::sqrt(static_cast<double>(value)));
}

int brightness(const uint8_t *rgba) {
    return (77 * rgba[0] + 150 * rgba[1] + 29 * rgba[2]) / 256;
}

/// Weighs seven neighbours along one axis; pixels outside count as the nearest inside. Weights sum
/// up to 64, so the first pass fits 16 bits; finish(sum) makes an element of the result.
template <class Out, class In, class Finish>
std::vector<Out> blur_axis(const In &in, int width, int height, int step_x, int step_y,
                           Finish finish) {
    constexpr std::array weights{1, 6, 15, 20, 15, 6, 1};
    std::vector<Out> out;
    out.reserve(in.size());
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            std::array<int, 4> sums{};
            for (size_t i = 0; i < weights.size(); ++i) {
                const int tap = static_cast<int>(i) - 3;
                const auto from_x = static_cast<size_t>(std::clamp(x + tap * step_x, 0, width - 1));
                const auto from_y =
                    static_cast<size_t>(std::clamp(y + tap * step_y, 0, height - 1));
                const size_t from = 4 * (from_y * static_cast<size_t>(width) + from_x);
                for (size_t channel = 0; channel < 4; ++channel) {
                    sums[channel] += weights[i] * in[from + channel];
                }
            }
            for (const int sum : sums) {
                out.push_back(static_cast<Out>(finish(sum)));
            }
        }
    }
    return out;
}

std::vector<uint8_t> blur(const Picture &picture) {
    const std::vector<uint16_t> rows = blur_axis<uint16_t>(
        picture.memory.bytes(), picture.width, picture.height, 1, 0, [](int sum) { return sum; });
    return blur_axis<uint8_t>(rows, picture.width, picture.height, 0, 1,
                              [](int sum) { return (sum + 2048) / 4096; });
}

std::vector<uint8_t> find_edges(const std::vector<uint8_t> &rgba, int width, int height) {
    const auto light = [&](int x, int y) {
        x = std::clamp(x, 0, width - 1);
        y = std::clamp(y, 0, height - 1);
        return brightness(&rgba[4 * (static_cast<size_t>(y) * width + x)]);
    };
    std::vector<uint8_t> out;
    out.reserve(rgba.size() / 4);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const int right = light(x + 1, y - 1) + 2 * light(x + 1, y) + light(x + 1, y + 1) -
                              light(x - 1, y - 1) - 2 * light(x - 1, y) - light(x - 1, y + 1);
            const int down = light(x - 1, y + 1) + 2 * light(x, y + 1) + light(x + 1, y + 1) -
                             light(x - 1, y - 1) - 2 * light(x, y - 1) - light(x + 1, y - 1);
            const auto square = static_cast<uint32_t>(right * right + down * down);
            out.push_back(static_cast<uint8_t>(std::min(root(square), 255)));
        }
    }
    return out;
}

std::vector<uint32_t> count(const Results &results) {
    std::vector<uint32_t> bins(bin_count);
    for (size_t i = 0; i < results.edges.size(); ++i) {
        ++bins[static_cast<size_t>(brightness(&results.blurred[4 * i]))];
        ++bins[256U + results.edges[i]];
    }
    return bins;
}

std::vector<uint8_t> overlay(const Picture &picture, const Results &results) {
    const std::span<const uint8_t> original = picture.memory.bytes();
    std::vector<uint8_t> out(original.begin(), original.end()); // alpha stays
    for (size_t i = 0; i < results.edges.size(); ++i) {
        const int glow = std::min(2 * results.edges[i], 255);
        for (size_t channel = 4 * i; channel < 4 * i + 3; ++channel) {
            const int sum = results.blurred[channel] * 72 + (original[channel] + 64) * glow;
            out[channel] = static_cast<uint8_t>(std::min(sum / 256, 255));
        }
    }
    return out;
}

/// Heights of 256 columns.
std::vector<int> heights(std::span<const uint32_t> bins) {
    const uint32_t most = std::max(1U, *std::max_element(bins.begin(), bins.end()));
    int shift = 0;
    while ((most >> shift) >= (1U << 22)) {
        ++shift;
    }
    std::vector<int> out;
    for (const uint32_t bin : bins) {
        out.push_back(root(bin >> shift) * (chart_height - 8) / root(most >> shift));
    }
    return out;
}

std::vector<uint8_t> draw(const std::vector<uint32_t> &bins) {
    const std::vector<int> area = heights(std::span(bins).first(256));
    const std::vector<int> line = heights(std::span(bins).last(256));
    std::vector<uint8_t> out;
    for (int y = 0; y < chart_height; ++y) {
        for (int x = 0; x < chart_width; ++x) {
            const int bin = x / (chart_width / 256);
            const auto column = static_cast<size_t>(bin);
            const int above = chart_height - 1 - y;
            std::array<int, 3> colour{24, 27, 38};
            if (above < area[column]) {
                colour = {60 + bin * 150 / 255, 84 + bin * 140 / 255, 120 + bin * 110 / 255};
            }
            const auto [low, high] =
                std::minmax(line[column], line[std::min(column + 1, size_t{255})]);
            if (low <= above && above <= high + 1) {
                colour = {255, 176, 59};
            }
            for (const int channel : colour) {
                out.push_back(static_cast<uint8_t>(channel));
            }
            out.push_back(255);
        }
    }
    return out;
}

template <class T>
std::string difference(const char *name, const std::vector<T> &got,
                       const std::vector<T> &expected) {
    if (got.size() != expected.size()) {
        return std::string(name) + " has " + std::to_string(got.size()) + " elements, expected " +
               std::to_string(expected.size());
    }
    const auto [g, e] = std::mismatch(got.begin(), got.end(), expected.begin());
    if (g == got.end()) {
        return {};
    }
    return std::string(name) + "[" + std::to_string(g - got.begin()) + "] is " +
           std::to_string(*g) + ", expected " + std::to_string(*e);
}

} // namespace

Results reference(const Picture &picture) {
    Results results;
    results.blurred = blur(picture);
    results.edges = find_edges(results.blurred, picture.width, picture.height);
    results.histogram = count(results);
    results.overlay = overlay(picture, results);
    results.chart = draw(results.histogram);
    return results;
}

std::string first_difference(const Results &got, const Results &expected) {
    for (const std::string &text : {difference("blurred", got.blurred, expected.blurred),
                                    difference("edges", got.edges, expected.edges),
                                    difference("histogram", got.histogram, expected.histogram),
                                    difference("overlay", got.overlay, expected.overlay),
                                    difference("chart", got.chart, expected.chart)}) {
        if (!text.empty()) {
            return text;
        }
    }
    return {};
}

} // namespace image_pipeline
