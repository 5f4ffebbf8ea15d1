// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernels.cl, compiled as native functions and called directly, against the reference.
#include "kernels.hpp"
#include "made_png.hpp"
#include "reference.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <random>

using namespace image_pipeline;

namespace {

pi_native_kernel find(const std::string &name) {
    const pi_native_program &program = native_kernels();
    for (uint32_t i = 0; i < program.kernel_count; ++i) {
        if (name == program.kernels[i].name) {
            return program.kernels[i];
        }
    }
    FAIL("there is no kernel " + name);
    return {};
}

/// Runs a kernel over columns x rows work-items in groups of 8 x 4, the last ones smaller.
void launch(const char *name, std::vector<void *> arguments, uint64_t columns, uint64_t rows) {
    const pi_native_kernel kernel = find(name);
    REQUIRE(kernel.argument_count == arguments.size());
    for (uint64_t y = 0; y < rows; y += 4) {
        for (uint64_t x = 0; x < columns; x += 8) {
            pi_native_group group{};
            group.struct_size = sizeof group;
            group.dimensions = 2;
            group.begin[0] = x;
            group.begin[1] = y;
            group.end[0] = std::min(columns, x + 8);
            group.end[1] = std::min(rows, y + 4);
            group.end[2] = 1;
            kernel.function(&group, arguments.data());
        }
    }
}

Results by_kernels(const Picture &picture) {
    int width = picture.width;
    int height = picture.height;
    int chart_columns = chart_width;
    int chart_rows = chart_height;
    const auto w = static_cast<uint64_t>(width);
    const auto h = static_cast<uint64_t>(height);
    uint8_t *source = picture.memory.data();
    Results r;
    r.blurred.resize(4 * w * h);
    r.edges.resize(w * h);
    r.histogram.resize(bin_count);
    r.overlay.resize(4 * w * h);
    r.chart.resize(4 * chart_width * chart_height);
    launch("blur", {source, r.blurred.data(), &width, &height}, w, h);
    launch("edges", {r.blurred.data(), r.edges.data(), &width, &height}, w, h);
    launch("histogram", {r.blurred.data(), r.edges.data(), r.histogram.data(), &width}, w, h);
    launch("overlay", {source, r.blurred.data(), r.edges.data(), r.overlay.data(), &width}, w, h);
    launch("chart", {r.histogram.data(), r.chart.data(), &chart_columns, &chart_rows}, chart_width,
           chart_height);
    return r;
}

} // namespace

TEST_CASE("the kernels and the reference agree bit for bit on pictures of odd sizes") {
    const auto [width, height] = GENERATE(table<int, int>(
        {{1, 1}, {1, 9}, {9, 1}, {2, 2}, {3, 5}, {7, 7}, {37, 23}, {64, 48}, {131, 67}}));
    const uint32_t seed = Catch::rngSeed();
    CAPTURE(width, height, seed);
    const Picture picture = pi_test::random_picture(width, height, seed);
    CHECK(first_difference(by_kernels(picture), reference(picture)).empty());
}

TEST_CASE("the kernels and the reference agree on the extremes") {
    const uint8_t value = GENERATE(uint8_t{0}, uint8_t{1}, uint8_t{254}, uint8_t{255});
    Picture picture = pi_test::random_picture(20, 20, 1);
    std::memset(picture.memory.data(), value, picture.memory.size());
    const Results plain = by_kernels(picture);
    CHECK(first_difference(plain, reference(picture)).empty());
    // A plain picture stays as it is and has no edges.
    CHECK(plain.blurred == std::vector<uint8_t>(1600, value));
    CHECK(plain.edges == std::vector<uint8_t>(400, 0));

    // Black and white halves: the steepest edge that there is.
    for (uint64_t i = 0; i < picture.memory.size(); ++i) {
        picture.memory.data()[i] = i % 80 < 40 ? 0 : 255;
    }
    CHECK(first_difference(by_kernels(picture), reference(picture)).empty());
}

TEST_CASE("a histogram counts each pixel once in each half") {
    const Results results = reference(pi_test::random_picture(37, 23, 4));
    uint64_t brightness = 0;
    uint64_t steepness = 0;
    for (size_t bin = 0; bin < 256; ++bin) {
        brightness += results.histogram[bin];
        steepness += results.histogram[bin + 256];
    }
    CHECK(brightness == 37 * 23);
    CHECK(steepness == 37 * 23);
}

TEST_CASE("a single wrong byte in any result is found and named") {
    const Results expected = reference(pi_test::random_picture(9, 7, 5));
    CHECK(first_difference(expected, expected).empty());
    Results wrong = expected;
    wrong.blurred[17] ^= 1;
    CHECK_THAT(first_difference(wrong, expected), Catch::Matchers::StartsWith("blurred[17] is "));
    wrong = expected;
    wrong.edges.back() ^= 1;
    CHECK_THAT(first_difference(wrong, expected), Catch::Matchers::StartsWith("edges[62] is "));
    wrong = expected;
    ++wrong.histogram[511];
    CHECK_THAT(first_difference(wrong, expected), Catch::Matchers::StartsWith("histogram[511]"));
    wrong = expected;
    wrong.overlay.pop_back();
    CHECK(first_difference(wrong, expected) == "overlay has 251 elements, expected 252");
    wrong = expected;
    wrong.chart[0] ^= 1;
    CHECK_THAT(first_difference(wrong, expected), Catch::Matchers::StartsWith("chart[0] is "));
}

TEST_CASE("the OpenCL source has every kernel of the native table") {
    const pi_native_program &program = native_kernels();
    CHECK(program.struct_size == sizeof program);
    CHECK(program.kernel_count == 5);
    for (uint32_t i = 0; i < program.kernel_count; ++i) {
        const std::string head = std::string("KERNEL(") + program.kernels[i].name + ")(WORK_ITEM ";
        CHECK(opencl_kernels().find(head) != std::string_view::npos);
    }
}
